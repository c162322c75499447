"""The number of items that a guard needs.

A sequential test ends as fine only after enough right replies, and each item is asked `ROUNDS` times at most. So a
guard with too few items can never find that a server is fine, even if every reply is right.
"""

import random
from collections import Counter
from math import ceil, inf

from carrara.guard.guard_file import LEAST_RATE, Guard
from carrara.guard.items import BATCH, BATCHES
from carrara.guard.sequential import ALL, ROUNDS, RatioTests, Schedule
from carrara.util.errors import UsageError
from carrara.util.quantities import count

SIMULATIONS = 200
"""The number of simulated checks of an unbroken server."""
LEAST_FINE_SHARE = 0.8
"""The share of them that should end as fine. Otherwise the guard should have more items."""


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
            f"takes {missing[ALL]} at their rate of {guard.rate:.1%}; {more_items(guard)}"
        )
    if missing:
        have = Counter(name for item in guard.items for name in item.strata)
        times = max(items / have[name] for name, items in missing.items())
        strata = ", ".join(f"{name} ({have[name]} of {items})" for name, items in missing.items())
        raise UsageError(
            "the guard has too few items to tell that a server is fine in each length, region and capability: "
            f"{strata}; {more_items(guard, times)}"
        )


def sufficient_items(rate: float) -> int:
    """Return the number of items with which most checks of an unbroken server end as fine (`LEAST_FINE_SHARE`).

    It is simulated for the test of all items, which takes the most replies.
    """
    rng = random.Random(0)
    needed = sorted(_items_until_fine(rate, rng) for _ in range(SIMULATIONS))
    return int(needed[ceil(LEAST_FINE_SHARE * SIMULATIONS) - 1])


def _items_until_fine(rate: float, rng: random.Random) -> float:
    """Return how many items a check asks until it ends as fine. An item is asked again while it is right."""
    test, items = RatioTests(rate, []).by_name[ALL], 0
    while test.verdict == "open":
        items += 1
        for _ in range(ROUNDS):
            is_right = rng.random() < rate
            test.add(is_right)
            if not is_right or test.verdict != "open":
                break
    return items if test.verdict == "fine" else inf


def sufficient_if_right(cells: int) -> int:
    """Return how many items suffice if the server is right each time.

    The more items are asked, the closer to 1 their rate is known to be.

    Args:
        cells: The capabilities, times the lengths.
    """
    items = 0
    for batches in range(1, BATCHES + 1):
        asked = cells * batches * BATCH
        items = sufficient_items((asked + 1) / (asked + 2))
        if items <= asked / 2:
            break
    return items


def how_to_get(items: int, cells: int) -> str:
    """Return what to change so that a guard has so many items.

    >>> how_to_get(34, 3)
    'about 34 items would do, such as with `n=12`'
    >>> how_to_get(61, 1)
    'about 61 items would do; name more capabilities or lengths, as each of them gives 24 at most'
    """
    n, most = ceil(items / cells), BATCHES * BATCH
    if n <= most:
        return f"about {items} items would do, such as with `n={n}`"
    return f"about {items} items would do; name more capabilities or lengths, as each of them gives {most} at most"


def more_items(guard: Guard, times: float = 1) -> str:
    """Return what to change so that most checks of an unbroken server end as fine.

    Args:
        times: How many times as many items it needs at least, because of a length, region or capability.
    """
    cells = {(item.length, item.capability) for item in guard.items}
    return how_to_get(max(sufficient_items(guard.rate), ceil(times * len(guard.items))), len(cells))


def fine_share(guard: Guard) -> float:
    """Return the share of checks that end as fine, on a server whose replies are right at the guard's rate."""
    rng = random.Random(0)
    return sum(_simulate(guard, rng) for _ in range(SIMULATIONS)) / SIMULATIONS


def _simulate(guard: Guard, rng: random.Random) -> bool:
    schedule = Schedule(guard)
    while batch := schedule.next_batch(BATCH):
        for item in batch:
            schedule.add(item, rng.random() < guard.rate)
    return schedule.verdict == "fine"
