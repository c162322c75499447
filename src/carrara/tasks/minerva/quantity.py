"""Quantity: a number that is added to and subtracted from, step by step.

From Minerva (Table 1, stateful processing). One item of five steps:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/quantity", params={"steps": "5"}).text.splitlines():
...     print(fill(line, 110))
Context:
Begin with the number 98.
1. Subtract 12
2. Subtract 68
3. Subtract 96
4. Subtract 83
5. Subtract 36
<BLANKLINE>
Instruction:
The context has a number and operations on it, one after the other. What is the number after all of them? End
your reply with a line such as: FINAL ANSWER: 42

The steps are the updates, and each of them counts.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from carrara.answers.kinds import FinalNumber
from carrara.core.errors import Unreachable
from carrara.core.keys import Dice, Key
from carrara.core.types import UNSIZED, Piece, Room, Undecidable, World
from carrara.parts.asking import PHRASING, check_phrasing, wording
from carrara.parts.fitting import CHUNK, pick
from carrara.parts.layout import Told
from carrara.tasks.minerva._minerva import Minerva
from carrara.tasks.minerva._params import MOST_ITEMS, check_numbers, labelled
from carrara.text.turns import in_turn

LARGEST = 100
"""Of the numbers that are added and subtracted, and of the first one."""
LAST = 32
"""Steps at the end that may say `Then`, where a length can be had in no other way."""

_START = re.compile(r"\bBegin with the number (-?[0-9]+)\.")
_STEP = re.compile(r"^([0-9]+)\. (?:Then )?(add|subtract) ([0-9]+)$", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Params:
    steps: tuple[int, ...] = field(default=(200,), metadata=UNSIZED)
    """Operations where no length is asked for, taken in turn."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("steps", self.steps, 1, MOST_ITEMS)
        check_phrasing(2, self.phrasing)


@dataclass(frozen=True)
class Sum:
    start: int
    changes: tuple[int, ...]
    labels: Mapping[str, str]


class Quantity(Minerva[Params, Sum, int]):
    version = 2
    title = "Quantity"
    capability = "keeping track of a number"
    category = "stateful processing"
    parameters = Params
    sized = True
    answers = FinalNumber()
    joint = "\n"
    published_as = "quantity_state"
    wording = wording(
        answers,
        "The context has a number and operations on it, one after the other. What is the number after all of them?",
        "Start with the number in the context, carry out every operation, and determine the final result.",
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Sum]:
        dice = key.dice("steps")
        start, steps = dice.between(1, LARGEST), in_turn(key, "number", params.steps)
        if room is None:
            changes = [_change(dice) for _ in range(steps)]
            lines = [_line(n, change) for n, change in enumerate(changes, 1)]
        else:
            changes, lines = _filled(room, dice)
        hidden = Sum(start, tuple(changes), labelled("steps", steps, params.steps))
        return World(hidden, Told(lines), opening=(Piece(f"Begin with the number {start}."),))

    def fields(self, hidden: Sum) -> Mapping[str, str]:
        return {}

    def gold(self, hidden: Sum) -> int:
        return hidden.start + sum(hidden.changes)

    def needs(self, world: World[Sum]) -> Sequence[int]:
        return range(len(world.updates))

    def answer(self, context: str, asked: str) -> int:
        start = _START.search(context)
        if not start:
            raise Undecidable("there is no number to begin with")
        steps = _STEP.findall(context)
        return int(start[1]) + sum(int(by) if verb.lower() == "add" else -int(by) for _, verb, by in steps)


def _change(dice: Dice) -> int:
    return dice.between(1, LARGEST) * (1 if dice.chance(0.5) else -1)


def _line(n: int, change: int, then: bool = False) -> str:
    verb = "Add" if change > 0 else "Subtract"
    return f"{n}. {f'Then {verb.lower()}' if then else verb} {abs(change)}"


def _filled(room: Room, dice: Dice) -> tuple[list[int], list[str]]:
    """As many steps as a room has tokens for; `Then` before some of the last ones makes up the rest."""
    rest, changes, lines, costs = room.budget, list[int](), list[str](), list[int]()
    while rest >= 0:
        more = [_change(dice) for _ in range(CHUNK)]
        said = [_line(n, change) for n, change in enumerate(more, len(changes) + 1)]
        changes, lines = changes + more, lines + said
        costs += room.prices(said, "\n")
        rest = room.budget - sum(costs)
    while rest < 0 and costs:
        rest += costs.pop()
    for _ in range(LAST):
        last = range(max(0, len(costs) - LAST), len(costs))
        then = room.prices([_line(n + 1, changes[n], then=True) for n in last], "\n")
        taken = pick([(0, max(0, cost - costs[n])) for n, cost in zip(last, then, strict=True)], rest)
        if taken is not None and costs:
            for n, yes in zip(last, taken, strict=True):
                lines[n] = _line(n + 1, changes[n], then=bool(yes))
            return changes[: len(costs)], lines[: len(costs)]
        if not costs:
            break
        rest += costs.pop()
    raise Unreachable("no steps make up its length", part="there is no room for steps")


task = Quantity()
