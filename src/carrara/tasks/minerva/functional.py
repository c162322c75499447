"""Functional updates: the whole context, with every number changed in the same way.

From Minerva (Table 1). One item of ten numbers:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/functional", params={"items": "10"}).text.splitlines():
...     print(fill(line, 110))
Context:
866, 121, 845, 498, 993, 482, 173, 352, 650, 411
<BLANKLINE>
Instruction:
Multiply every number in the context by 2, and write out all the results in order. Reply with one line and
nothing else: FINAL ANSWER: followed by the result in the same form, separated by commas.

Every number is an update. The reply is asked for with room for all its digits: doubled numbers are longer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from carrara.answers.listing import Copy, Words
from carrara.core.keys import Key
from carrara.core.types import UNSIZED, Room, Undecidable, World
from carrara.parts.asking import PHRASING, check_phrasing, wording
from carrara.parts.layout import items_of
from carrara.tasks.minerva._items import ITEMS, Edit, Source, numbers
from carrara.tasks.minerva._params import MOST_ITEMS, check_numbers
from carrara.text.turns import in_turn

_GIVEN = re.compile(r"(?:add|subtract|multiply) [1-9][0-9]{0,3}")
_CHANGE = re.compile(r"\b(add|subtract|multiply)\b.*?([0-9]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Params:
    change: tuple[str, ...] = ("add 3", "subtract 1", "multiply 2")
    """What is done to each number, taken in turn: add, subtract or multiply, and by how much."""
    items: int = field(default=ITEMS, metadata=UNSIZED)
    """How many numbers there are where no length is asked for."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        if not all(_GIVEN.fullmatch(change) for change in self.change) or "multiply 1" in self.change:
            raise ValueError("change is a list of such as: add 3, subtract 1, multiply 2")
        check_numbers("items", (self.items,), 2, MOST_ITEMS)
        check_phrasing(2, self.phrasing)


class Functional(Edit[Params]):
    version = 3
    title = "Functional updates"
    capability = "changing every number"
    category = "recall and edit"
    parameters = Params
    published_as = "functional_updates"
    inherent = {
        "part": "A tenth of the context tells a tenth of the answer.",
    }
    wording = wording(
        Copy(),
        add=(
            "Add {by} to every number in the context, and write out all the results in order.",
            "Write the numbers of the context again, and add {by} to each of them.",
        ),
        subtract=(
            "Subtract {by} from every number in the context, and write out all the results in order.",
            "Write the numbers of the context again, and subtract {by} from each of them.",
        ),
        multiply=(
            "Multiply every number in the context by {by}, and write out all the results in order.",
            "Write the numbers of the context again, and multiply each of them by {by}.",
        ),
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Source]:
        change = in_turn(key, "change", params.change)
        items = numbers(room, key.dice("numbers"), params.items)
        verb, by = change.split()
        return self.shown(Source(items, _changed(items, verb, int(by)), {"by": by}, {"change": change}, verb))

    def answer(self, context: str, asked: str) -> Words:
        found = _CHANGE.search(asked)
        if not found:
            raise Undecidable("no change was found")
        return Words(_changed(items_of(context), found[1].lower(), int(found[2])))


def _changed(items: Sequence[str], verb: str, by: int) -> tuple[str, ...]:
    factor, more = (by, 0) if verb == "multiply" else (1, by if verb == "add" else -by)
    return tuple(str(int(item) * factor + more) for item in items)


task = Functional()
