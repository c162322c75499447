"""Quantity: a number that is added to and subtracted from, step by step.

From Minerva (Table 1, stateful processing). One item of five steps:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/quantity", params={"steps": "5"}).text.splitlines():
...     print(fill(line, 110))
Context:
Begin with the number 15.
1. Subtract 82
2. Add 73
3. Add 95
4. Add 57
5. Subtract 81
<BLANKLINE>
Instruction:
The context gives a number and then operations on it, one after another. What is the number after all of them?
End your reply with a line such as: FINAL ANSWER: 42

The steps are the facts, and each of them counts.
"""

import re
from collections.abc import Mapping
from dataclasses import field

from carrara.answers import FinalNumber
from carrara.generators.fitting import CHUNK, pick
from carrara.generators.round_robin import in_turn
from carrara.task import Instance, Rng
from carrara.tasks.minerva._task import MOST_ITEMS, Minerva, check_number
from carrara.types import UNSIZED, LengthBudget, UndecidableError
from carrara.util.errors import LengthError

LARGEST = 100
"""The largest number that is added, subtracted, or comes first."""
LAST = 32
"""The number of steps at the end that may say `Then`, where a length is reached in no other way."""

_START = re.compile(r"\bBegin with the number (-?[0-9]+)\.")
_STEP = re.compile(r"^([0-9]+)\. (?:Then )?(add|subtract) ([0-9]+)$", re.MULTILINE | re.IGNORECASE)


class Quantity(Minerva):
    version, title, capability = 3, "Quantity", "tracking a number"
    category, paper_task = "stateful processing", "quantity_state"
    answer = FinalNumber()
    ask = (
        "The context gives a number and then operations on it, one after another. What is the number after all of "
        "them?",
        "Start with the number in the context, carry out every operation, and determine the final result.",
    )
    separator = "\n"
    steps: tuple[int, ...] = field(default=(200,), metadata=UNSIZED)
    """Operations where no length is asked for, taken in turn."""

    def check(self) -> None:
        for steps in self.steps:
            check_number("steps", steps, 1, MOST_ITEMS)

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        numbers, steps = rng.stream("steps"), in_turn(rng.key, "number", self.steps)
        start = numbers.between(1, LARGEST)
        if budget is None:
            changes = _draw_changes(numbers, steps)
            lines = [_line(n, change) for n, change in enumerate(changes, 1)]
        else:
            changes, lines = _fit(budget, numbers)
        return Instance(
            opening=f"Begin with the number {start}.",
            facts=lines,
            gold=start + sum(changes),
            labels={"steps": str(steps)} if len(self.steps) > 1 else {},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> int:
        start = _START.search(context)
        if not start:
            raise UndecidableError("there is no number to begin with")
        steps = _STEP.findall(context)
        return int(start[1]) + sum(int(by) if verb.lower() == "add" else -int(by) for _, verb, by in steps)


def _draw_changes(rng: Rng, number: int) -> list[int]:
    random = rng.random
    return [(1 + int(random() * LARGEST)) * (1 if random() < 0.5 else -1) for _ in range(number)]


def _line(n: int, change: int, then: bool = False) -> str:
    if then:
        return f"{n}. Then {'add' if change > 0 else 'subtract'} {abs(change)}"
    return f"{n}. Add {change}" if change > 0 else f"{n}. Subtract {-change}"


def _fit(budget: LengthBudget, rng: Rng) -> tuple[list[int], list[str]]:
    """Return as many steps as fill a length. `Then` before some of the last steps fills up the tokens that are left."""
    rest, changes, lines, costs = budget.budget, list[int](), list[str](), list[int]()
    while rest >= 0:
        new_changes = _draw_changes(rng, CHUNK)
        new_lines = [_line(n, change) for n, change in enumerate(new_changes, len(changes) + 1)]
        prices = budget.costs(new_lines, "\n")
        changes += new_changes
        lines += new_lines
        costs += prices
        rest -= sum(prices)
    while rest < 0 and costs:
        rest += costs.pop()
    for _ in range(LAST):
        last = range(max(0, len(costs) - LAST), len(costs))
        then = budget.costs([_line(n + 1, changes[n], then=True) for n in last], "\n")
        taken = pick([(0, max(0, cost - costs[n])) for n, cost in zip(last, then, strict=True)], rest)
        if taken is not None and costs:
            for n, says_then in zip(last, taken, strict=True):
                lines[n] = _line(n + 1, changes[n], then=bool(says_then))
            return changes[: len(costs)], lines[: len(costs)]
        if not costs:
            break
        rest += costs.pop()
    raise LengthError("no steps make up its length", part="there is no room for steps")
