"""Set: the words that an agent has, after drawing and discarding.

From Minerva (Table 1, stateful processing). One item of four steps:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/set_state", params={"size": "5", "steps": "4"}).text.splitlines():
...     print(fill(line, 110))
Context:
The agent draws: coffee, aviatorial, unsort, shadflower, hemimorph
The agent discards: coffee
The agent draws: almsfolk
The agent discards: almsfolk, hemimorph
<BLANKLINE>
Instruction:
The context tells, in order, which words an agent draws and discards. Which words does the agent have in the
end? End your reply with a line such as: FINAL ANSWER: word1, word2, word3

The steps are the updates. A word that was discarded may be drawn again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from carrara.answers.listing import FinalSet, Words
from carrara.core.keys import Dice, Key
from carrara.core.types import UNSIZED, Room, Undecidable, World
from carrara.parts import state
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import Told
from carrara.parts.state import Step, Table
from carrara.suites.minerva._minerva import Minerva
from carrara.suites.minerva._params import MOST_ITEMS, check_numbers, labelled
from carrara.text import vocabulary
from carrara.text.turns import in_turn


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    size: tuple[int, ...] = (5, 10, 15, 20)
    """The most words that the agent has at a time, taken in turn."""
    steps: tuple[int, ...] = field(default=(100,), metadata=UNSIZED)
    """Steps where no length is asked for, taken in turn: even numbers, for the last one discards."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("size", self.size, 2)
        check_numbers("steps", self.steps, 2, MOST_ITEMS)
        if any(steps % 2 for steps in self.steps):
            raise ValueError("steps is an even number: draws and discards alternate")
        check_phrasing(2, self.phrasing)


@dataclass(frozen=True)
class Drawn:
    lines: tuple[str, ...]
    final: tuple[str, ...]
    every: tuple[str, ...]
    labels: Mapping[str, str]


class SetState(Minerva[Params, Drawn, Words]):
    version = 3
    title = "Set"
    capability = "keeping track of a set"
    category = "stateful processing"
    parameters = Params
    sized = True
    answers = FinalSet()
    joint = "\n"
    published_as = "set_state"
    wording = wording(
        answers,
        "The context tells, in order, which words an agent draws and discards. Which words does the agent have in the "
        "end?",
        "Follow the actions of the agent in the context from the first to the last, and list the words that are left.",
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Drawn]:
        size, number = in_turn(key, "size", list(product(params.size, params.steps)))
        draw = vocabulary.supply(params.words, key.dice("words"))
        steps, words = state.told(_steps(size, key.dice("steps")), draw, _say, number, room, lambda n: n % 2 == 0)
        [held] = state.hands(steps, 1)
        every = dict.fromkeys(words[n] for step in steps for n in step.mentioned)
        lines = tuple(_say(step, words) for step in steps)
        final = tuple(words[n] for n in held)
        labels = {"size": str(size), **labelled("steps", number, params.steps)}
        return World(Drawn(lines, final, tuple(every), labels), Told(lines))

    def fields(self, hidden: Drawn) -> Mapping[str, str]:
        return {}

    def gold(self, hidden: Drawn) -> Words:
        return Words(hidden.final, {"every word": hidden.every}, ordered=False)

    def needs(self, world: World[Drawn]) -> Sequence[int]:
        return range(len(world.updates))

    def answer(self, context: str, asked: str) -> Words:
        held = state.read(context)
        if not held:
            raise Undecidable("nobody does anything")
        [words] = held.values()
        return Words(tuple(words))


def _steps(size: int, dice: Dice) -> Iterator[Step]:
    """Draws and discards in turn: at first as many words as may be held, then up to as many, and never all away."""
    table = Table(1)
    yield table.draw(0, size, dice)
    while True:
        yield table.discard(0, dice.between(1, len(table.hands[0]) // 2), dice)
        yield table.draw(0, dice.between(1, size - len(table.hands[0])), dice)


def _say(step: Step, words: Sequence[str]) -> str:
    return f"The agent {step.verb}: {', '.join(words[n] for n in step.words)}"


task = SetState()
