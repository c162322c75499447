"""How many items a guard needs, by the boundaries of its own sequential tests.

A test ends as fine only after enough right replies, and each item is asked `ROUNDS` times at most. So a guard with too
few items can never say that a server is fine, even if every reply is right.
"""

import random
from collections import Counter

from carrara.guard.guard_file import LEAST, Guard
from carrara.guard.schedule import ROUNDS, Course
from carrara.guard.sequential import ALL, Ratios

SIMULATED = 200
"""Checks of an unbroken server that are simulated."""
OFTEN = 0.8
"""The share of them that should end as fine, or the guard needs more items."""
_BATCH = 8


def needed(guard: Guard) -> dict[str, int]:
    """Return the items that each test needs and does not have, by the test's name; nothing where all have enough."""
    have = Counter({ALL: len(guard.items)})
    for one in guard.items:
        have.update(one.strata)
    found = {name: _items(Ratios(guard.rate, guard.strata), name) for name in (ALL, *guard.strata)}
    return {name: items for name, items in found.items() if items > have[name]}


def needed_items(rate: float) -> int:
    """Return the items that a guard needs in all, if its items are right at this rate."""
    return _items(Ratios(rate, []), ALL)


def _items(tests: Ratios, name: str) -> int:
    """Return the items with which a test ends as fine if each of them is right each time."""
    test = tests.of[name]
    while test.verdict == "open":
        test.add(True)
    return -(-test.asked // ROUNDS)


FEWEST = needed_items(LEAST)
"""The items that any guard needs: the lower the rate of its items, the fewer of them do."""


def fine_share(guard: Guard) -> float:
    """Return the share of checks that end as fine, on a server whose replies are right at the guard's rate."""
    rng = random.Random(0)
    return sum(_simulated(guard, rng) for _ in range(SIMULATED)) / SIMULATED


def _simulated(guard: Guard, rng: random.Random) -> bool:
    course = Course(guard)
    while batch := course.batch(_BATCH):
        for one in batch:
            course.add(one, rng.random() < guard.rate)
    return course.verdict == "fine"
