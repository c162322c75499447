"""A test and an interval for the mean difference of paired scores, which always agree.

The data are one difference per instance, in [-1, 1], in one group per task. The estimate is the mean of the groups'
means.

The test rejects a difference of d only if every test that applies to d rejects it:

1. Student's t-test. It suits graded scores.
2. The score test for paired proportions (Tango, 1998), on the scale of a typical difference. It suits scores that are
   all or nothing, above all where few instances differ.
3. Where all differences have one size, McNemar's exact test, and for other d the exact binomial test (Clopper and
   Pearson) of how many of the instances that differ do so upward.
4. Where they have several sizes, for d = 0, the sign-flip test. It is exact if the two models are exchangeable, for
   any scores and any number of instances. McNemar's test is its special case.

The interval holds every d that is not rejected, and everything between; the p-value is that of d = 0. So the interval
leaves out 0 exactly if p is below the level, and no more than 5 % of comparisons between equals are significant.
`benchmarks/coverage.py` computes the coverage.

>>> groups = [[1, 1, 1, 1, 1, 1, 0]]
>>> p_value(groups), [round(bound, 3) for bound in interval(groups, significant=True)]
(0.03125, [0.07, 1.0])
>>> groups = [[1, 1, 1, 1, 1, 0, 0]]  # one fewer: McNemar's exact test no longer rejects 0
>>> p_value(groups), [round(bound, 3) for bound in interval(groups, significant=False)]
(0.0625, [-0.031, 1.0])
"""

import math
from collections.abc import Iterator, Sequence

ALPHA = 0.05
FEWEST = 6
"""The number of instances below which no difference is significant: five with the same sign have a p-value of 1/16."""
DRAWN = 9999
"""The number of sign flips that are drawn if there are too many to try all."""
_TRIED = 13
"""The number of differences up to which all sign flips are tried: 2 to this power is less than `DRAWN`."""
_TINY = 1e-12
_STEPS = 60

Groups = Sequence[Sequence[float]]
"""For each task the differences of its instances."""


def estimate(groups: Groups) -> float:
    """Return the mean of the groups' means."""
    return math.fsum(_terms(groups))


def p_value(groups: Groups) -> float:
    """Return the p-value of the hypothesis that there is no difference: the largest of the three tests' p-values.

    It is 1 if a group has fewer than two instances, because then there is no interval either.
    """
    if not _has_interval(groups):
        return 1.0
    terms = _terms(groups)
    return max(sign_flip_p(terms), _student_p(groups), _score_p(terms, _size(groups)))


def interval(groups: Groups, *, significant: bool, level: float = ALPHA) -> tuple[float, float] | None:
    """Return the interval with confidence 1 - `level`, or None if a group has fewer than two instances.

    Args:
        groups: For each task the differences of its instances.
        significant: Whether `p_value` of these groups is below `level`; the interval leaves out 0 exactly then.
        level: The significance level.
    """
    if not _has_interval(groups):
        return None
    terms = _terms(groups)
    intervals = [
        _student_interval(groups, level),
        score_interval(terms, _size(groups), level),
        *_binomial_interval(terms, level),
    ]
    low, high = max(-1.0, min(low for low, _ in intervals)), min(1.0, max(high for _, high in intervals))
    return (low, high) if significant else (min(low, 0.0), max(high, 0.0))


def detectable(groups: Groups, level: float = ALPHA, power: float = 0.8) -> float | None:
    """Return the difference that as many instances of this spread would show with this power, or None if none would.

    None also where nothing varies, because then the data do not say how much instances differ.
    """
    from scipy.special import ndtri

    if not _has_interval(groups) or least_p(groups) >= level:
        return None
    error, degrees = _student(groups)
    return None if error < 1e-6 else (_t(degrees, level) + float(ndtri(power))) * error


def least_p(groups: Groups) -> float:
    """Return the smallest p-value that the sign-flip test can give for this number of instances."""
    return float(min(1.0, 2.0 ** (1 - sum(map(len, groups)))))


def sign_flip_p(terms: Sequence[float]) -> float:
    """Return how often random signs bring the sum of these terms as far from zero as it is.

    >>> sign_flip_p([1, 1, 1, 1, 1, 1, 0]), sign_flip_p([0.0, 0.0])
    (0.03125, 1.0)
    """
    total = abs(math.fsum(terms))
    sizes = sorted(abs(term) for term in terms if abs(term) > _TINY)
    if not sizes:
        return 1.0
    import numpy as np

    least = total - 1e-9 * math.fsum(sizes)
    if _same(sizes):
        return _binomial_p(len(sizes), round((total / sizes[-1] + len(sizes)) / 2))
    if len(sizes) <= _TRIED:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate([sums + size, sums - size])
        return float(np.mean(np.abs(sums) >= least))
    values, rng, reached, left = np.array(sizes), np.random.default_rng(0), 0, DRAWN
    while left:
        count = min(left, max(1, 4_000_000 // len(sizes)))
        flips = rng.integers(0, 2, (count, len(sizes)), dtype=np.int8)
        reached += int(np.count_nonzero(np.abs(2 * (flips @ values) - values.sum()) >= least))
        left -= count
    return (reached + 1) / (DRAWN + 1)


def _same(sizes: Sequence[float]) -> bool:
    return max(sizes) - min(sizes) <= 1e-9 * max(sizes)


def _binomial_p(n: int, more: int) -> float:
    """Return the two-sided p-value of McNemar's exact test: `more` (at least half) of n differences have one sign."""
    if 2 * more == n:
        return 1.0
    return min(1.0, sum(math.comb(n, k) for k in range(more, n + 1)) / (1 << (n - 1)))


def _binomial_interval(terms: Sequence[float], level: float) -> Iterator[tuple[float, float]]:
    """Yield Clopper and Pearson's interval for the share of upward differences, if all have one size.

    It belongs to McNemar's exact test: it leaves out one half exactly if that test rejects that there is no difference.
    """
    from scipy.special import betaincinv

    sizes = [abs(term) for term in terms if abs(term) > _TINY]
    if not sizes or not _same(sizes):
        return
    n, up, both = len(sizes), sum(term > _TINY for term in terms), math.fsum(sizes)
    low = float(betaincinv(up, n - up + 1, level / 2)) if up else 0.0
    high = float(betaincinv(up + 1, n - up, 1 - level / 2)) if up < n else 1.0
    yield both * (2 * low - 1), both * (2 * high - 1)


def _terms(groups: Groups) -> list[float]:
    """Return the contribution of each instance to the estimate."""
    return [change / len(group) / len(groups) for group in groups for change in group]


def _size(groups: Groups) -> float:
    """Return the equivalent number of instances of a single group: their number, if there is one group."""
    return len(groups) ** 2 / math.fsum(1 / len(group) for group in groups)


def _has_interval(groups: Groups) -> bool:
    return bool(groups) and all(len(group) > 1 for group in groups)


def _student(groups: Groups) -> tuple[float, float]:
    """Return the standard error of the estimate, and its degrees of freedom (Welch and Satterthwaite)."""
    parts = []
    for group in groups:
        n, mean = len(group), math.fsum(group) / len(group)
        variance = math.fsum((change - mean) ** 2 for change in group) / (n - 1)
        parts.append((variance / n / len(groups) ** 2, n - 1))
    squared = math.fsum(part for part, _ in parts)
    if squared < _TINY**2:
        return 0.0, 1.0
    return math.sqrt(squared), squared**2 / math.fsum(part**2 / degrees for part, degrees in parts)


def _z(level: float) -> float:
    from scipy.special import ndtri

    return float(-ndtri(level / 2))


def _t(degrees: float, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1 - level / 2))


def _student_p(groups: Groups) -> float:
    from scipy.special import stdtr

    error, degrees = _student(groups)
    mean = abs(estimate(groups))
    if not error:
        return 0.0 if mean > _TINY else 1.0
    return float(2 * stdtr(degrees, -mean / error))


def _student_interval(groups: Groups, level: float) -> tuple[float, float]:
    error, degrees = _student(groups)
    mean = estimate(groups)
    if error:
        half = _t(degrees, level) * error
        return mean - half, mean + half
    # If all differences are equal, instances that were not drawn may still differ more.
    z2 = _z(level) ** 2
    further = math.copysign(z2 / (_size(groups) + z2) * (1 - abs(mean)), mean)
    return min(mean, mean + further), max(mean, mean + further)


def _scale(terms: Sequence[float], n: float) -> tuple[float, float, float]:
    """Return the scale of a typical difference, and the shares of upward and downward differences on that scale.

    If each difference is all or nothing, the scale is 1 and the shares are those of McNemar's table. If nothing
    differs, the scale is 1 too.
    """
    up, down = (math.fsum(max(0.0, sign * term) for term in terms) for sign in (1, -1))
    both = up + down
    scale = max(n * math.fsum(term * term for term in terms) / both, both) if both > _TINY else 1.0
    return scale, up / scale, down / scale


def _score_z(up: float, down: float, n: float, difference: float) -> float:
    """Return Tango's statistic: the distance of the estimate from a difference, in standard errors there."""
    if difference < 0:
        up, down, difference = down, up, -difference
    distance = abs(up - down - difference)
    if distance < _TINY:
        return 0.0
    linear = (2 - up + down) * difference - up - down
    least = (math.sqrt(max(0.0, linear**2 + 8 * down * difference * (1 - difference))) - linear) / 4
    variance = 2 * least + difference - difference**2
    return distance / math.sqrt(variance / n) if variance > _TINY else math.inf


def _score_p(terms: Sequence[float], n: float) -> float:
    _, up, down = _scale(terms, n)
    return math.erfc(_score_z(up, down, n, 0.0) / math.sqrt(2))


def score_interval(terms: Sequence[float], n: float, level: float) -> tuple[float, float]:
    scale, up, down = _scale(terms, n)
    limit, ends = _z(level), list[float]()
    for end in (-1.0, 1.0):
        outside, inside = end, up - down
        for _ in range(_STEPS):
            middle = (outside + inside) / 2
            outside, inside = (middle, inside) if _score_z(up, down, n, middle) > limit else (outside, middle)
        ends.append(scale * inside)
    return ends[0], ends[1]
