"""A 95 % interval for the length at which a score falls below a share of its base score, by inverted tests.

The interval assumes only that the score never rises with length. Two rows of tests, each at 2.5 %, give its ends:

1. From the shortest length on: "here the score is below the share". The lower end is the last length before the first
   one at which this is not rejected. A score that is below the share at a length is below it at all longer ones, so
   the test uses the means over this length and any number of the next ones.
2. From the longest length on, backwards: "here the score still has the share". The upper end is the last length at
   which this is rejected. The test uses the means over this length and any number of the ones before.

The first wrong rejection of a row decides whether its end is wrong, so no correction for the number of lengths is
needed. A test takes the largest statistic of its means, with Pocock's constants for the number of means. Each
statistic is the score test for the ratio of two proportions (Miettinen and Nurminen, 1985): the base score is
uncertain, too. Both ends are lengths that were run, because nothing is known of the score between them.

Scores at different lengths are taken to be independent. Instances are shared by all lengths, which makes the interval
wider than necessary, because an instance that is hard at one length is hard at others.

>>> fall_interval([(0, 1.0, 40), (4096, 1.0, 40), (8192, 0.0, 40)], 0.85)
(4096.0, 8191.999999999999)
>>> fall_interval([(0, 0.95, 20), (4096, 0.75, 20), (8192, 0.8, 20)], 0.85)  # nothing is clear
(0.0, inf)
"""

import math
from collections.abc import Sequence
from itertools import accumulate

Points = Sequence[tuple[int, float, float]]
"""Length, mean, and the equivalent number of independent scores, the shortest length first."""

CRITICAL = (
    1.960, 2.178, 2.289, 2.361, 2.413, 2.453, 2.485, 2.512, 2.535, 2.555,
    2.572, 2.588, 2.602, 2.614, 2.626, 2.637, 2.647, 2.656, 2.664, 2.672,
)  # fmt: skip
"""Pocock's constants: the largest of n standardized means, over one to n equal groups, exceeds the n-th with a
probability of 2.5 %."""


def fall_interval(points: Points, share: float) -> tuple[float, float]:
    """Return the ends of the interval.

    The lower end is the first length if no longer one is known to have the share. The upper end is just below a length;
    it is infinite if no length is known to lack the share. Both are infinite if the longest is known to have it.
    """
    (first, mean, n_effective), *longer = points
    base = mean * n_effective, n_effective
    low, high = float(first), math.inf
    for n, (length, _, _) in enumerate(longer):
        if not _exceeds(longer[n:], base, share, 1):
            break
        low = math.inf if n == len(longer) - 1 else float(length)
    for n in range(len(longer) - 1, -1, -1):
        if not _exceeds(longer[n::-1], base, share, -1):
            break
        high = math.nextafter(longer[n][0], 0.0)
    return min(low, high), high


def _exceeds(points: Points, base: tuple[float, float], share: float, sign: int) -> bool:
    """Return whether a mean over the first of these points is clearly above the threshold, or below it (sign -1)."""
    pooled = points[: len(CRITICAL)]
    totals = accumulate(mean * n_effective for _, mean, n_effective in pooled)
    sizes = accumulate(n_effective for _, _, n_effective in pooled)
    statistics = [sign * ratio_z(total, n, *base, share) for total, n in zip(totals, sizes, strict=True)]
    return max(statistics) > CRITICAL[len(pooled) - 1]


def ratio_z(total: float, n: float, base_total: float, base_n: float, ratio: float) -> float:
    """Return the score statistic of a mean against `ratio` times a base mean.

    The variance is that of the two proportions that are likeliest among those with this ratio.

    >>> round(ratio_z(90, 100, 50, 50, 0.85), 2), ratio_z(17, 20, 20, 20, 0.85)
    (1.4, 0.0)
    """
    # The likeliest base proportion solves a quadratic equation.
    square = (n + base_n) * ratio
    linear = n * ratio + total + base_n + base_total * ratio
    root = math.sqrt(max(0.0, linear * linear - 4 * square * (total + base_total)))
    base = min(1.0, (linear - root) / (2 * square))
    mean = ratio * base
    variance = mean * (1 - mean) / n + ratio**2 * base * (1 - base) / base_n
    difference = total / n - ratio * base_total / base_n
    if abs(difference) < 1e-12:
        return 0.0
    return difference / math.sqrt(variance) if variance > 1e-12 else math.copysign(math.inf, difference)
