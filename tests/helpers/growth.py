"""Whether work takes time in proportion to its size, on a machine of any speed."""

from collections.abc import Callable
from time import process_time

STEP = 8
"""How much larger the second size is."""
FACTOR = 4 * STEP
"""Work that takes time in proportion takes about `STEP` times as long, work that is quadratic `STEP * STEP` times."""
SHORTEST = 0.02
"""CPU seconds below which a measurement of the smaller size is not trusted."""


def grows_in_proportion(work: Callable[[int], object], size: int, tries: int = 4) -> bool:
    """Return whether work of a size takes no more than a few times its share of the time of `STEP` times that size.

    Other work on the machine may slow one measurement, so the best of several tries counts.
    """
    return any(_seconds(work, size) < FACTOR * max(SHORTEST, _seconds(work, size // STEP)) for _ in range(tries))


def _seconds(work: Callable[[int], object], size: int) -> float:
    start = process_time()
    work(size)
    return process_time() - start
