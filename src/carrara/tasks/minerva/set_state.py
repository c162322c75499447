"""Set: the words that an agent has, after drawing and discarding.

From Minerva (Table 1, stateful processing). One item of six steps:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/set_state", params={"size": "5", "steps": "6"}).text.splitlines():
...     print(fill(line, 110))
Context:
The agent draws: expeditiously, unlustily, mahound, lunulate, factualness
The agent discards: lunulate, camlet, factualness, mahound, expeditiously, lipogram
The agent draws: mahound, unlustily, factualness
The agent discards: camlet, hypoiodous, lunulate, lipogram, unlustily
The agent draws: mahound, lunulate, factualness
The agent discards: expeditiously, lipogram, unlustily, silicious
<BLANKLINE>
Instruction:
The context lists, in order, the words that an agent draws and discards. Drawing a word that the agent already
has, or discarding one that it does not have, changes nothing. Which words does the agent have at the end? End
your reply with a line such as: FINAL ANSWER: word1, word2, word3

The steps are the facts. Most words of a hand stay for long, the others come and go. Words are drawn again after they
were discarded. Some are drawn that the agent has already, and some are discarded that it does not have, which changes
nothing. So the order of the steps decides: neither the words that were never discarded nor those that were drawn more
often than discarded are the answer. With `paper=true`, it is the words that are mentioned an odd number of times.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from itertools import product

from carrara.answers import FinalSet, Words
from carrara.generators.round_robin import in_turn
from carrara.rng import Key
from carrara.task import Instance, Rng
from carrara.tasks.minerva._state import Pool, Script, SteadyHand, Step, Table, hands_after, last_changes, read_hands
from carrara.tasks.minerva._task import MOST_ITEMS, WORDS, Minerva, check_number
from carrara.types import UNSIZED, LengthBudget, UndecidableError


class SetState(Minerva):
    version, title, capability = 6, "Set", "tracking a set"
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
    """Whether no word is drawn that is there, and none is discarded that is not, as in the paper: then the words that
    are named an odd number of times are the answer, and most of them were drawn just before the end."""

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
            evidence=last_changes(story.steps),
            ask="ask" if self.paper else "steady",
            labels={"size": str(size), **({"steps": str(number)} if len(self.steps) > 1 else {})},
        )

    def shortcuts(self) -> Mapping[str, str]:
        if not self.paper:
            return self.known_shortcuts
        reason = "In the paper's form the answer is what is drawn more often than discarded, and mostly drawn late."
        return {**self.known_shortcuts, "strings": reason, "learned": reason}

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


def _paper_steps(size: int, rng: Rng) -> Iterator[Step]:
    """Yield draws and discards in turn: first as many words as a hand may hold, then fewer or as many.

    At least one word stays in the hand.
    """
    table = Table(1)
    yield table.draw(0, size, rng)
    while True:
        yield table.discard(0, rng.between(1, len(table.hands[0]) // 2), rng)
        yield table.draw(0, rng.between(1, size - len(table.hands[0])), rng)


def _steady_steps(size: int, rng: Rng) -> Iterator[Step]:
    """Yield draws and discards in turn: first as many words as a hand may hold, then fewer or as many."""
    pool = Pool()
    hand = SteadyHand(0, size, pool)
    yield hand.draw(size, rng)
    while True:
        yield hand.discard((), rng)
        yield hand.draw(rng.between(1, hand.room), rng)
