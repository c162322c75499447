"""Set: the words that an agent has, after drawing and discarding.

From Minerva (Table 1, stateful processing). One item of four steps:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/set_state", params={"size": "5", "steps": "4"}).text.splitlines():
...     print(fill(line, 110))
Context:
The agent draws: uprose, space, motherwort, mourningly, ditertiary
The agent discards: mourningly
The agent draws: motherwort, bigotry
The agent discards: motherwort
<BLANKLINE>
Instruction:
The context lists, in order, the words that an agent draws and discards. Drawing a word that the agent already
has, or discarding one that it does not have, changes nothing. Which words does the agent have at the end? End
your reply with a line such as: FINAL ANSWER: word1, word2, word3

The steps are the facts. Most words of a hand stay for long, the others come and go. Some words are drawn that the agent
has already, and some are discarded that it does not have, which changes nothing. Without these, the answer would be the
words that are mentioned an odd number of times, whatever their order (`paper=true`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from itertools import count, product

from carrara.answers import FinalSet, Words
from carrara.generators.round_robin import in_turn
from carrara.rng import Key
from carrara.task import Instance, Rng
from carrara.tasks.minerva._state import Script, Step, Table, hands_after, read_hands
from carrara.tasks.minerva._task import MOST_ITEMS, WORDS, Minerva, check_number
from carrara.types import UNSIZED, LengthBudget, UndecidableError

KEPT = 0.75
"""The share of a hand that stays for long."""
IDLE = 0.4
"""The probability that a word that is passing is drawn once more, and that one that is gone is discarded."""
AGAIN = 1.0
"""How often, on average, a word that stays is drawn again while as many words are drawn as were before."""
FORGOTTEN = 64
"""The number of words that are gone and may be discarded once more."""


class SetState(Minerva):
    version, title, capability = 5, "Set", "tracking a set"
    category, paper_task = "stateful processing", "set_state"
    answer = FinalSet()
    evidence_decides = False
    ask = {
        "ask": (
            "The context lists, in order, the words that an agent draws and discards. Which words does the agent have "
            "at the end?",
            "Follow the actions of the agent in the context from the first to the last, and list the words it ends up "
            "with.",
        ),
        "steady": (
            "The context lists, in order, the words that an agent draws and discards. Drawing a word that the agent "
            "already has, or discarding one that it does not have, changes nothing. Which words does the agent have at "
            "the end?",
            "Follow the actions of the agent in the context from the first to the last: it never has a word twice, and "
            "discarding one that it does not have has no effect. List the words it ends up with.",
        ),
    }
    separator = "\n"
    known_shortcuts = {
        "part": "A tenth of the context tells of a tenth of the words, and its end of those that come and go.",
        "typography": "A line with more words is likelier to have one that stays in the set.",
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    size: tuple[int, ...] = (5, 10, 15, 20)
    """The most words that the agent has at a time, taken in turn."""
    steps: tuple[int, ...] = field(default=(100,), metadata=UNSIZED)
    """Steps where no length is asked for, taken in turn: even numbers, for the last one discards."""
    paper: bool = False
    """Whether nothing is drawn twice and all that is discarded was there, as in the paper: then the words that are
    named an odd number of times are the answer, and most of them were drawn just before the end."""

    def check(self) -> None:
        for size in self.size:
            check_number("size", size, 2)
        for steps in self.steps:
            check_number("steps", steps, 2, MOST_ITEMS)
        if any(steps % 2 for steps in self.steps):
            raise ValueError("steps is an even number: draws and discards alternate")

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        size, number = in_turn(rng.key, "size", list(product(self.size, self.steps)))
        story = _script(self.words, size, self.paper, rng.key).fit(number, budget, lambda n: n % 2 == 0)
        [hand] = hands_after(story.steps, 1)
        return Instance(
            facts=story.lines,
            gold=Words(tuple(story.words[n] for n in hand), {"every word": story.mentioned}, ordered=False),
            evidence=_evidence(story.steps),
            ask="ask" if self.paper else "steady",
            labels={"size": str(size), **({"steps": str(number)} if len(self.steps) > 1 else {})},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> Words:
        hands = read_hands(context, lenient=True)
        if not hands:
            raise UndecidableError("nobody does anything")
        [words] = hands.values()
        return Words(tuple(words))


@lru_cache(maxsize=1)
def _script(words: str, size: int, paper: bool, key: Key) -> Script:
    steps = (_paper_steps if paper else _steady_steps)(size, key.rng("steps"))
    return Script(steps, _line, words, key)


def _line(step: Step, words: Sequence[str]) -> str:
    return f"The agent {step.verb}: {', '.join([words[n] for n in step.words])}"


def _evidence(steps: Sequence[Step]) -> list[int]:
    """Return the steps that are the last to mention some word, and change whether the agent has it."""
    last: dict[int, int] = {}
    has: dict[int, bool] = {}
    for n, step in enumerate(steps):
        drawn = step.verb == "draws"
        for word in step.words:
            last[word] = n if has.get(word, False) != drawn else -1
            has[word] = drawn
    return sorted({*last.values()} - {-1})


def _paper_steps(size: int, rng: Rng) -> Iterator[Step]:
    """Draw and discard in turn: first as many words as a hand may hold, later up to as many, and never discard all."""
    table = Table(1)
    yield table.draw(0, size, rng)
    while True:
        yield table.discard(0, rng.between(1, len(table.hands[0]) // 2), rng)
        yield table.draw(0, rng.between(1, size - len(table.hands[0])), rng)


def _steady_steps(size: int, rng: Rng) -> Iterator[Step]:
    """Draw and discard in turn, while most words of the hand stay, each as likely drawn early as late (a reservoir).

    Some words are drawn that the agent has, and some are discarded that are gone or never were there. So neither the
    number of times that a word is mentioned nor the end of the context gives the answer away.
    """
    keep = min(size - 1, round(KEPT * size))
    kept, passing, gone = list[int](), list[int](), list[int]()
    new, drawn = count(), 0
    while True:
        words = [next(new) for _ in range(rng.between(1, size - keep - len(passing)) if drawn else size)]
        again = [word for word in kept if rng.random() * drawn < AGAIN * len(words)]
        for word in words:
            drawn += 1
            if len(kept) < keep:
                kept.append(word)
            elif rng.random() * drawn < keep:
                place = rng.below(keep)
                passing.append(kept[place])
                kept[place] = word
            else:
                passing.append(word)
        again += [word for word in passing if word not in words and rng.chance(IDLE)]
        yield Step(0, "draws", tuple(rng.shuffled([*words, *again])))
        left = rng.below(size - keep)
        rng.shuffle(passing)
        away, passing = passing[left:], passing[:left]
        never = [next(new) for _ in range(rng.between(0 if away else 1, 2))]
        before = [word for word in rng.sample(gone, min(2, len(gone))) if rng.chance(IDLE)]
        yield Step(0, "discards", tuple(rng.shuffled([*away, *never, *before])))
        gone = (gone + away)[-FORGOTTEN:]
