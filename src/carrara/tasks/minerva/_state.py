"""States that a context changes step by step: agents draw, discard and swap words.

The steps are drawn over numbers, and each number gets a word afterwards. So words can be chosen by their token counts,
and a context comes out at an exact length.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, count, islice
from threading import Lock
from typing import Literal, NamedTuple

from carrara.generators import vocabulary
from carrara.generators.fitting import CHUNK, Stock
from carrara.rng import Key, Rng
from carrara.types import LengthBudget, UndecidableError
from carrara.util.errors import LengthError

AGAIN = 0.15
"""The probability that a word is drawn again that was discarded before, if there is any."""
MOST_STEPS = 1_000_000

KEPT = 0.75
"""The share of a hand that stays for long."""
RETURN = 0.8
"""The probability that a drawn word was discarded before."""
STAYING = 2
"""How often a word was discarded before it stays for long, at least."""
PASSING = 0.8
"""The probability that a passing word outlasts a discard, if there is room for it."""
IDLE = 0.8
"""The probability that a passing word is drawn once more when its agent draws."""
LISTED = 6
"""The number of words that are gone of which about half are discarded once more."""
FORGOTTEN = 64
"""The number of words that are gone and may be drawn or discarded once more."""

LINE = re.compile(
    r"^(?P<agent>(?:The agent|Agent [A-Z]+)) (?P<verb>starts with|draws|discards|swaps): (?P<words>[^:\n]+?)"
    r"(?: with (?P<partner>Agent [A-Z]+) for: (?P<gets>[^:\n]+))?$",
    re.MULTILINE,
)
"""A step as a line of the context."""


class Step(NamedTuple):
    """An operation of an agent on words, which are given by their numbers."""

    agent: int
    verb: Literal["starts with", "draws", "discards", "swaps"]
    words: tuple[int, ...]
    partner: int = 0
    """The agent with whom this one swaps."""
    gets: tuple[int, ...] = ()
    """The words that this agent gets in a swap."""

    @property
    def mentioned(self) -> tuple[int, ...]:
        return self.words + self.gets


class Table:
    """The words in each agent's hand, and the discarded ones, while steps are drawn."""

    def __init__(self, agents: int) -> None:
        self.hands: list[list[int]] = [[] for _ in range(agents)]
        self._discarded: list[int] = []
        self._new = 0
        """The number of the next word that was never drawn."""

    def start(self, agent: int, size: int) -> Step:
        words = [self._fresh() for _ in range(size)]
        self.hands[agent] += words
        return Step(agent, "starts with", tuple(words))

    def draw(self, agent: int, size: int, rng: Rng) -> Step:
        words, discarded = [], self._discarded
        for _ in range(size):
            is_again = discarded and rng.chance(AGAIN)
            words.append(discarded.pop(rng.below(len(discarded))) if is_again else self._fresh())
        self.hands[agent] += words
        return Step(agent, "draws", tuple(words))

    def discard(self, agent: int, size: int, rng: Rng) -> Step:
        words = self._take(agent, size, rng)
        self._discarded += words
        return Step(agent, "discards", tuple(words))

    def swap(self, agent: int, partner: int, size: int, rng: Rng) -> Step:
        gives, gets = self._take(agent, size, rng), self._take(partner, size, rng)
        self.hands[agent] += gets
        self.hands[partner] += gives
        return Step(agent, "swaps", tuple(gives), partner, tuple(gets))

    def _fresh(self) -> int:
        self._new += 1
        return self._new - 1

    def _take(self, agent: int, size: int, rng: Rng) -> list[int]:
        words = rng.sample(self.hands[agent], size)
        self.hands[agent] = [word for word in self.hands[agent] if word not in words]
        return words


class Pool:
    """The words that no agent has, for hands in which only the order of steps decides (`SteadyHand`)."""

    def __init__(self) -> None:
        self.times_discarded = Counter[int]()
        """How often each word was discarded, including discards by an agent that did not have it."""
        self._gone: list[int] = []
        self._new = count()

    def draw(self, rng: Rng) -> int:
        """Return a word that was discarded before, or a new one."""
        gone = self._gone
        return gone.pop(rng.below(len(gone))) if gone and rng.chance(RETURN) else next(self._new)

    def discard(self, words: Sequence[int], rng: Rng) -> list[int]:
        """Add words of an agent to the pool. Return them, with some words that nobody has."""
        new = [next(self._new) for _ in range(rng.between(0 if words else 1, 2))]
        repeated = [word for word in rng.sample(self._gone, min(LISTED, len(self._gone))) if rng.chance(0.5)]
        self._gone = [*self._gone, *words, *new][-FORGOTTEN:]
        return [*words, *new, *repeated]


class SteadyHand:
    """The words of an agent. Neither the end of the context nor a count of mentions tells much about them.

    - The words that it has were discarded before by somebody, and so were most of those that it has no longer.
    - Most words stay. Each of them is as likely drawn early as late (a reservoir), and was discarded twice.
    - The other words pass. They are drawn once more while the agent has them, and words that are gone are discarded
      once more, which changes nothing. So a word that is gone was drawn about as often as one that stays.
    """

    def __init__(self, agent: int, size: int, pool: Pool) -> None:
        self.agent, self.pool, self._size = agent, pool, size
        self.kept, self.passing = list[int](), list[int]()
        self._keep = min(size - 1, round(KEPT * size))
        self._drawn = 0
        """The number of words that were drawn and could stay."""

    @property
    def words(self) -> list[int]:
        return self.kept + self.passing

    @property
    def room(self) -> int:
        """The number of words that the agent may draw."""
        return self._size - len(self.kept) - len(self.passing)

    def draw(self, number: int, rng: Rng, verb: Literal["draws", "starts with"] = "draws") -> Step:
        repeated = [word for word in self.passing if rng.chance(IDLE)]
        words = [self.pool.draw(rng) for _ in range(number)]
        for word in words:
            self._take(word, rng)
        return Step(self.agent, verb, tuple(rng.shuffled([*words, *repeated])))

    def _take(self, word: int, rng: Rng) -> None:
        if self.pool.times_discarded[word] < STAYING:
            self.passing.append(word)
            return
        self._drawn += 1
        if len(self.kept) < self._keep:
            self.kept.append(word)
        elif rng.random() * self._drawn < self._keep:
            place = rng.below(self._keep)
            self.passing.append(self.kept[place])
            self.kept[place] = word
        else:
            self.passing.append(word)

    def discard(self, others: Sequence[int], rng: Rng) -> Step:
        """Discard all passing words that were never discarded, and some others. At least one word stays.

        Args:
            others: Words of other agents that this one discards too, which changes nothing.
        """
        rng.shuffle(self.passing)
        lasting = [word for word in self.passing if self.pool.times_discarded[word] and rng.chance(PASSING)]
        remaining = lasting[: self._size - len(self.kept) - 1]
        removed = [word for word in self.passing if word not in remaining]
        self.passing = remaining if self.kept or remaining else [removed.pop()]
        words = rng.shuffled([*self.pool.discard(removed, rng), *others])
        self.pool.times_discarded.update(words)
        return Step(self.agent, "discards", tuple(words))


class FittedSteps(NamedTuple):
    """Steps, the word of each number, and the lines that the steps become."""

    steps: list[Step]
    words: list[str]
    lines: list[str]

    @property
    def mentioned(self) -> tuple[str, ...]:
        """All words that the lines mention, each of them once."""
        return tuple([self.words[n] for n in dict.fromkeys(_words_in(self.steps))])


class Script:
    """The steps of an instance and their lines, which are drawn only once however often a length is tried."""

    def __init__(
        self, steps: Iterator[Step], write: Callable[[Step, Sequence[str]], str], words: str, key: Key
    ) -> None:
        """Prepare the steps of an instance.

        Args:
            steps: The steps, without an end. New words have the next numbers.
            write: Returns a step as a line, given the word of each number.
            words: The source of the words: dictionary, common, gibberish, or a list.
        """
        self._source, self._write, self._kind, self._key = steps, write, words, key
        self._draw = vocabulary.draw_words(words, key)
        self._steps, self._words, self._lines = list[Step](), list[str](), list[str]()
        self._numbers = list[int]()
        """The number of words up to each step."""
        self._is_dry = False
        """Whether there are too few words for the next step."""
        self._lock = Lock()

    def fit(self, number: int, budget: LengthBudget | None, may_end: Callable[[int], bool]) -> FittedSteps:
        """Return as many steps as fill a length, with their words.

        Args:
            number: The number of steps of a context without a length.
            budget: The length; None for a context without one.
            may_end: Returns whether a context may have that many steps.

        Raises:
            ExhaustedError: There are too few words.
            LengthError: The length has no room for two steps, or no words complete it.
        """
        with self._lock:
            if budget is not None:
                return self._fit(budget, may_end)
            while not may_end(number):
                number += 1
            if self._grow(number) < number:
                self._draw()  # raises ExhaustedError
            return FittedSteps(self._steps[:number], self._words, self._lines[:number])

    def _fit(self, budget: LengthBudget, may_end: Callable[[int], bool]) -> FittedSteps:
        rest, end, fits = budget.budget, 0, [(0, budget.budget)]
        while rest >= 0 and end < MOST_STEPS:
            start, end = end, self._grow(end + CHUNK)
            for n, cost in enumerate(budget.costs(self._lines[start:end], "\n"), start + 1):
                rest -= cost
                if rest >= 0 and may_end(n):
                    fits.append((n, rest))
            if (all_words := end < start + CHUNK) and rest >= 0:
                self._draw()  # raises ExhaustedError
        n, rest = fits[-1 - min(budget.again, len(fits) - 1)]  # where no words complete the length, fewer steps may
        if n < 2:
            raise LengthError(f"it has room for {n} steps", part=f"there is room for {n} steps")
        steps, words, lines = self._steps[:n], self._words, self._lines[:n]
        if rest:
            draw = vocabulary.draw_words(self._kind, self._key)
            words = vocabulary.upto(draw, len(words) if all_words else self._numbers[end - 1])
            changed = _exchange_words(steps, words, rest, Stock(draw, budget.costs))
            for place, step in enumerate(steps):
                if not changed.isdisjoint(step.mentioned):
                    lines[place] = self._write(step, words)
        return FittedSteps(steps, words, lines)

    def _grow(self, number: int) -> int:
        """Draw steps until there are `number`, or no more words. Return how many of the `number` there are."""
        new = [] if self._is_dry else list(islice(self._source, max(0, number - len(self._steps))))
        words_before = self._numbers[-1] if self._numbers else 0
        numbers = list(accumulate((1 + max(step.mentioned) for step in new), max, initial=words_before))[1:]
        if numbers:
            self._words += vocabulary.upto(self._draw, numbers[-1] - len(self._words))
            count = bisect_right(numbers, len(self._words))
            self._is_dry = count < len(new)
            self._steps += new[:count]
            self._lines += [self._write(step, self._words) for step in new[:count]]
            self._numbers += numbers[:count]
        return min(number, len(self._steps))


def _exchange_words(steps: Sequence[Step], words: list[str], rest: int, stock: Stock) -> set[int]:
    """Replace some of the latest words by words of another cost, so that all lines take `rest` tokens more.

    Return the numbers of the replaced words.
    """
    times = Counter(_words_in(steps))
    numbers = sorted(times)
    new_words = stock.exchange(
        [words[number] for number in numbers], [times[number] for number in numbers], rest, range(len(numbers))[-CHUNK:]
    )
    if new_words is None:
        raise LengthError(f"no other words make up {rest} tokens", part=f"no other words make up {rest} tokens")
    changed = {number for number, word in zip(numbers, new_words, strict=True) if words[number] != word}
    for number, word in zip(numbers, new_words, strict=True):
        words[number] = word
    return changed


def _words_in(steps: Iterable[Step]) -> Iterator[int]:
    return chain.from_iterable(step.words + step.gets for step in steps)


def hands_after(steps: Sequence[Step], agents: int) -> list[list[int]]:
    """Return the words that each agent has in the end."""
    hands: list[list[int]] = [[] for _ in range(agents)]
    for step in steps:
        mine = hands[step.agent]
        if step.verb in ("starts with", "draws"):
            mine += [word for word in step.words if word not in mine]
            continue
        mine[:] = [word for word in mine if word not in step.words] + list(step.gets)
        if step.verb == "swaps":
            theirs = hands[step.partner]
            theirs[:] = [word for word in theirs if word not in step.gets] + list(step.words)
    return hands


def last_changes(steps: Sequence[Step]) -> list[int]:
    """Return the numbers of the steps that are the last to mention some word and change who has it."""
    last: dict[int, int] = {}
    holder: dict[int, int] = {}
    for n, step in enumerate(steps):
        for word in step.mentioned:
            before = holder.get(word)
            match step.verb:
                case "starts with" | "draws":
                    holder[word] = step.agent
                case "discards" if before == step.agent:
                    del holder[word]
                case "swaps":
                    holder[word] = step.partner if word in step.words else step.agent
            last[word] = n if holder.get(word) != before else -1
    return sorted({*last.values()} - {-1})


def read_hands(context: str, lenient: bool = False) -> Mapping[str, Sequence[str]]:
    """Return the words that each agent has at the end of a context. Raises UndecidableError where lines contradict.

    Where it is lenient, an agent may draw a word that it has already, or discard one that it does not have.
    """
    hands = _Hands(lenient)
    for line in LINE.finditer(context):
        agent, words = line["agent"], line["words"].split(", ")
        if line["verb"] in ("starts with", "draws"):
            hands.take(agent, words)
            continue
        if line["verb"] == "discards":
            hands.discard(agent, words)
            continue
        gets = line["gets"].split(", ")
        hands.give(agent, words)
        hands.give(line["partner"], gets)
        hands.take(line["partner"], words)
        hands.take(agent, gets)
    return hands.by_agent


class _Hands:
    """The words that each agent has, updated by the steps of a context."""

    def __init__(self, lenient: bool) -> None:
        self._lenient = lenient
        self.by_agent: dict[str, list[str]] = {}
        self._holder: dict[str, str] = {}

    def take(self, agent: str, words: Sequence[str]) -> None:
        words = [word for word in words if not (self._lenient and self._holder.get(word) == agent)]
        for word in words:
            if word in self._holder:
                raise UndecidableError(f"{agent} takes {word}, which {self._holder[word]} has")
            self._holder[word] = agent
        self.by_agent.setdefault(agent, []).extend(words)

    def discard(self, agent: str, words: Sequence[str]) -> None:
        self.give(agent, [word for word in words if not self._lenient or self._holder.get(word) == agent])

    def give(self, agent: str, words: Sequence[str]) -> None:
        for word in words:
            if self._holder.pop(word, None) != agent:
                raise UndecidableError(f"{agent} gives {word} and does not have it")
            self.by_agent[agent].remove(word)
