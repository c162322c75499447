"""95 % intervals for means of scores in [0, 1]. For paired differences see paired_test.py.

>>> [round(bound, 3) for bound in wilson(0.0, 10)]  # ten wrong answers do not prove that all are wrong
[0.0, 0.278]
>>> round(student(9), 3)
2.262
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache

Z = 1.959963984540054
"""The normal distribution's 97.5 % point."""


def wilson(mean: float, n: float, z: float = Z) -> tuple[float, float]:
    """Return Wilson's score interval for a mean of n independent scores in [0, 1]; n need not be whole.

    `z` is the point of the normal distribution that sets the confidence, by default 95 %.

    It holds its coverage where the usual mean ± 1.96 standard errors fails: n = 10, or a mean of 0 or 1. It takes the
    variance of the scores to be mean x (1 - mean), which right-or-wrong scores have and which no scores in [0, 1]
    with that mean can exceed: for graded scores the interval is wider than it need be, never narrower.
    """
    if n <= 0:
        return 0.0, 1.0
    share = z * z / n
    centre = (mean + share / 2) / (1 + share)
    half = math.sqrt(share * mean * (1 - mean) + share * share / 4) / (1 + share)
    low = 0.0 if mean == 0 else max(0.0, centre - half)
    high = 1.0 if mean == 1 else min(1.0, centre + half)
    return low, high


def sufficient_n(mean: float, half: float) -> int:
    """Return how many independent scores with this mean have an interval of at most ± `half` (`wilson`).

    A mean of 0.5 takes the most.

    >>> sufficient_n(0.5, 0.05), sufficient_n(0.9, 0.05), sufficient_n(1.0, 0.05)
    (381, 141, 35)
    """

    def is_narrow(n: int) -> bool:
        low, high = wilson(mean, n)
        return high - low <= 2 * half

    return bisect_left(range(1, math.ceil((Z / (2 * half)) ** 2) + 1), True, key=is_narrow) + 1


def effective_n(clusters: Sequence[Sequence[float]]) -> float:
    """Return the number of independent scores with the same precision as these clusters: n if each has one score.

    n / design effect, where the design effect is the cluster-robust variance of the mean over the simple one, and at
    least 1: clusters never make an interval narrower. That ratio is itself uncertain where clusters are few, so that
    the degrees of freedom are corrected for as Korn and Graubard (1998) do: the mean of ten contexts of five questions
    is then covered 95 to 98 % of the time instead of 92 to 97 %. At worst the questions of a context all agree,
    and each context counts once (less, if one of them has most of the questions): no set of scores is worth less.
    """
    n, many = sum(map(len, clusters)), len(clusters)
    worst = n**2 / sum(len(cluster) ** 2 for cluster in clusters)
    mean = math.fsum(score for cluster in clusters for score in cluster) / n
    squares = math.fsum((score - mean) ** 2 for cluster in clusters for score in cluster)
    if many in (1, n) or squares < 1e-12:  # if all scores are equal, the correlation within clusters is unknown
        return worst
    simple = squares / (n * (n - 1))
    robust = math.fsum(math.fsum(score - mean for score in cluster) ** 2 for cluster in clusters)
    robust *= many / (many - 1) / n**2
    return max(worst, n / max(1.0, robust / simple) * (student(n - 1) / student(many - 1)) ** 2)


def quantile_ranks(n: int, p: float, level: float = 0.05) -> tuple[int, int] | None:
    """Return the ranks, from 1, of the two of n sorted values between which the quantile p lies.

    The exact interval by order statistics: the number of values up to the quantile is binomial. None: n is too small.

    >>> quantile_ranks(5, 0.5), quantile_ranks(6, 0.5), quantile_ranks(71, 0.95), quantile_ranks(72, 0.95)
    (None, (1, 6), None, (64, 72))
    """
    from scipy.special import bdtr

    ranks = range(1, n + 1)
    low = bisect_right(ranks, level / 2, key=lambda rank: float(bdtr(rank - 1, n, p)))
    high = bisect_left(ranks, 1 - level / 2, key=lambda rank: float(bdtr(rank - 1, n, p))) + 1
    return (low, high) if low and high <= n else None


@lru_cache(maxsize=1024)
def student(degrees: int) -> float:
    """Return the 97.5 % point of Student's t distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.975))
