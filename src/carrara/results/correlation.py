"""Spearman's rank correlation between benchmarks, with an interval that is valid for few models.

>>> mine = Column("mine", "run", {"a": 0.1, "b": 0.4, "c": 0.4, "d": 0.9, "e": 0.8})
>>> theirs = Column("theirs", "outside", {"a": 20, "b": 35, "c": 30, "d": 80, "e": 55, "f": 60})
>>> found = correlate(mine, theirs)
>>> print(found.n, f"{found.rho:.2f} ({found.low:.2f} to {found.high:.2f})")
5 0.97 (0.16 to 1.00)

Published matrices of this kind rest on ten or fourteen models. The interval is Fisher's with the standard error of
Bonett and Wright (2000), sqrt((1 + rho²/2) / (n - 3)). Resampling models was tried against it by simulation: with six
models or fewer its intervals held the truth as rarely as 44 % of the time, because a few models drawn again are often
in one order; this one held it at least 92 % of the time, for 4 to 39 models and correlations of 0 to 0.95. A perfect
order is taken for halfway between itself and the next best, so that four models in one order prove nothing.

It is about models like these, as if they had been drawn from a population, and not about the noise in their scores:
scores over few items bring the correlation itself nearer to 0.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from carrara.results.intervals import Z

LEAST = 4
"""The fewest models of a correlation: two benchmarks put three models into one order by chance one time in six."""
RULE = (
    "Spearman's rank correlation, ties at their mean rank, over the models that have both scores; 95 % interval by "
    "Fisher's transform with the standard error of Bonett and Wright"
)


@dataclass(frozen=True)
class Column:
    """One benchmark: the score of each model."""

    name: str
    source: str
    """The source of the scores: runs, a file or a paper."""
    scores: Mapping[str, float]


@dataclass(frozen=True)
class Correlation:
    first: Column
    second: Column
    models: tuple[str, ...]
    """The models that have both scores."""
    rho: float | None
    low: float | None
    high: float | None
    note: str = ""
    """Why there is no correlation."""

    @property
    def n(self) -> int:
        return len(self.models)


def correlations(columns: Sequence[Column]) -> list[Correlation]:
    """Return the correlation of each two columns, in their order."""
    return [correlate(first, second) for first, second in combinations(columns, 2)]


def correlate(first: Column, second: Column) -> Correlation:
    models = tuple(model for model in first.scores if model in second.scores)
    if len(models) < LEAST:
        return Correlation(first, second, models, None, None, None, f"fewer than {LEAST} models have both")
    first_scores, second_scores = ([column.scores[model] for model in models] for column in (first, second))
    rho = spearman(first_scores, second_scores)
    if rho is None:
        same = first if len(set(first_scores)) == 1 else second
        return Correlation(first, second, models, None, None, None, f"all score the same on {same.name}")
    return Correlation(first, second, models, rho, *interval(rho, len(models)))


def spearman(first_scores: Sequence[float], second_scores: Sequence[float]) -> float | None:
    """Return Pearson's correlation of the ranks. The shortcut with squared differences is wrong if there are ties."""
    first, second = _center(ranks(first_scores)), _center(ranks(second_scores))
    spread = math.fsum(x * x for x in first) * math.fsum(y * y for y in second)
    if not spread:
        return None
    return max(-1.0, min(1.0, math.fsum(x * y for x, y in zip(first, second, strict=True)) / math.sqrt(spread)))


def ranks(values: Sequence[float]) -> list[float]:
    """
    >>> ranks([30, 10, 20, 20])
    [4.0, 1.0, 2.5, 2.5]
    """
    ordered = sorted(values)
    return [(bisect_left(ordered, value) + bisect_right(ordered, value) + 1) / 2 for value in values]


def interval(rho: float, n: int) -> tuple[float, float]:
    most = 1 - 6 / (n * (n * n - 1))  # the next best order is twice as far from a perfect one
    centre = max(-most, min(most, rho))
    half = Z * math.sqrt((1 + centre**2 / 2) / (n - 3))
    low, high = math.tanh(math.atanh(centre) - half), math.tanh(math.atanh(centre) + half)
    return min(low, rho), max(high, rho)


def _center(values: Sequence[float]) -> list[float]:
    mean = math.fsum(values) / len(values)
    return [value - mean for value in values]
