"""Functional updates: the whole context, with every number changed in the same way.

From Minerva (Table 1). One item of ten numbers:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/functional", params={"items": "10"}).text.splitlines():
...     print(fill(line, 110))
Context:
31, 738, 998, 621, 503, 191, 384, 319, 850, 766
<BLANKLINE>
Instruction:
Add 7 to every number in the context, and write out all the results in order. Reply with one line and nothing
else, in this form: FINAL ANSWER: <the result in the same form, separated by commas>

Every number is a fact. The output budget has room for all digits of the answer, which may be longer than the context.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from carrara.answers import Copy, Words
from carrara.generators.round_robin import in_turn
from carrara.task import Instance, Rng, Sweep
from carrara.task.sweeps import sweep_values
from carrara.tasks.minerva._edit import ITEMS, draw_numbers, edit_answer
from carrara.tasks.minerva._task import MOST_ITEMS, Minerva, check_number, split_items
from carrara.types import UNSIZED, LengthBudget

OPERANDS = range(2, 10)
"""The operands that are not named, in turn."""
_CHANGE = re.compile(r"(?:add|subtract|multiply)(?: [1-9][0-9]{0,3})?")


class Functional(Minerva):
    version, title, capability = 5, "Functional updates", "changing every number"
    category, answer = "recall and edit", Copy()
    paper_task = "functional_updates"
    ask = {
        "add": (
            "Add {by} to every number in the context, and write out all the results in order.",
            "Rewrite the numbers in the context, adding {by} to each of them.",
        ),
        "subtract": (
            "Subtract {by} from every number in the context, and write out all the results in order.",
            "Rewrite the numbers in the context, subtracting {by} from each of them.",
        ),
        "multiply": (
            "Multiply every number in the context by {by}, and write out all the results in order.",
            "Rewrite the numbers in the context, multiplying each of them by {by}.",
        ),
    }
    known_shortcuts = {
        "part": "A tenth of the context tells a tenth of the answer.",
        "all numbers, changed by the number of the question": "There are three operations: one of them is right for a "
        "third of the questions.",
    }
    change: Sweep[str] = Sweep("add", "subtract", "multiply")
    """The operation on each number, taken in turn: add, subtract or multiply, and perhaps the operand, such as `add 3`.
    Without one, it is 2 to 9 in turn. The paper has `add 3,subtract 1,multiply 2`."""
    items: int = field(default=ITEMS, metadata=UNSIZED)
    """The number of numbers at length 0."""

    def check(self) -> None:
        if not _CHANGE.fullmatch(self.change) or self.change == "multiply 1":
            raise ValueError("change is a list of such as: add, multiply, add 3, subtract 1, multiply 2")
        check_number("items", self.items, 2, MOST_ITEMS)

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        items = draw_numbers(budget, rng.stream("numbers"), self.items)
        verb, _, by = self.change.partition(" ")
        by = by or str(in_turn(rng.key, "operand", OPERANDS, len(sweep_values(self, "change"))))
        return Instance(
            facts=items,
            gold=edit_answer(items, _change(items, verb, int(by))),
            ask=verb,
            names={"by": by},
            labels={"change": self.change},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> Words:
        verb = names["ask"].split()[0]
        return Words(tuple(_change(split_items(context), verb, int(names["by"]))))


def _change(items: Sequence[str], verb: str, by: int) -> list[str]:
    factor, addend = (by, 0) if verb == "multiply" else (1, by if verb == "add" else -by)
    changed = {item: str(int(item) * factor + addend) for item in set(items)}
    return [changed[item] for item in items]
