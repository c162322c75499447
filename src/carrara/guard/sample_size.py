"""The number of items that a guard needs.

A sequential test ends as fine only after enough right replies, and each item is asked `ROUNDS` times at most. So a
guard with too few items can never find that a server is fine, even if every reply is right.
"""

import random
from collections import Counter

from carrara.guard.guard_file import LEAST_RATE, Guard
from carrara.guard.schedule import ROUNDS, Schedule
from carrara.guard.sequential import ALL, RatioTests
from carrara.util.errors import UsageError
from carrara.util.quantities import count

SIMULATIONS = 200
"""The number of simulated checks of an unbroken server."""
LEAST_FINE_SHARE = 0.8
"""The share of them that should end as fine. Otherwise the guard should have more items."""
_BATCH = 8


def missing_items(guard: Guard) -> dict[str, int]:
    """Return the number of items that each test needs, for those tests that have too few."""
    have = Counter({ALL: len(guard.items)})
    for item in guard.items:
        have.update(item.strata)
    needed = {name: _count_needed(RatioTests(guard.rate, guard.strata), name) for name in (ALL, *guard.strata)}
    return {name: items for name, items in needed.items() if items > have[name]}


def needed_items(rate: float) -> int:
    """Return the number of items that a guard needs in all, if they are right at this rate."""
    return _count_needed(RatioTests(rate, []), ALL)


def _count_needed(tests: RatioTests, name: str) -> int:
    test = tests.by_name[name]
    while test.verdict == "open":
        test.add(True)
    return -(-test.asked // ROUNDS)


FEWEST = needed_items(LEAST_RATE)
"""The number of items that every guard needs. A guard with a higher rate needs more."""


def check_size(guard: Guard) -> None:
    """Raise `UsageError` for a guard whose checks could never end as fine.

    Raises:
        UsageError: It has too few items.
    """
    missing = missing_items(guard)
    if ALL in missing:
        raise UsageError(
            f"{count(len(guard.items), 'item')} cannot tell that a server is fine, even if it is always right: it "
            f"takes {missing[ALL]} at their rate of {guard.rate:.1%}; name more capabilities or lengths, or ask more "
            "of them (`n`)"
        )
    if missing:
        have = Counter(name for item in guard.items for name in item.strata)
        strata = ", ".join(f"{name} ({have[name]} of {items})" for name, items in missing.items())
        raise UsageError(
            "the guard has too few items to tell that a server is fine in each length, region and capability: "
            f"{strata}; name other capabilities or lengths, or ask more of them (`n`)"
        )


def fine_share(guard: Guard) -> float:
    """Return the share of checks that end as fine, on a server whose replies are right at the guard's rate."""
    rng = random.Random(0)
    return sum(_simulate(guard, rng) for _ in range(SIMULATIONS)) / SIMULATIONS


def _simulate(guard: Guard, rng: random.Random) -> bool:
    schedule = Schedule(guard)
    while batch := schedule.next_batch(_BATCH):
        for item in batch:
            schedule.add(item, rng.random() < guard.rate)
    return schedule.verdict == "fine"
