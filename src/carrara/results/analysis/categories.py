"""Scores of a category of tests (Minerva's search, recall, …): the mean of its tests, each of which counts the same.

A length has a score only if all tests of the category were run at it. Tests without a length, which are as long as
their steps, count at every length of the others.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from carrara.results.analysis.intervals import wilson
from carrara.results.analysis.series import Series
from carrara.results.analysis.summary import Row


@dataclass(frozen=True)
class CategoryScore:
    """What a model scores in a category at a length."""

    series: Series
    category: str
    length: int
    tests: tuple[str, ...]
    mean: float
    low: float
    high: float
    chance_level: float
    attempts: int


def categories(rows: Sequence[Row]) -> list[CategoryScore]:
    """Return the scores by category; nothing if there is only one category."""
    tests: dict[str, set[str]] = {}
    groups: dict[tuple[str, Series], list[Row]] = {}
    for row in rows:
        if row.category and row.stat.scored:
            tests.setdefault(row.category, set()).add(row.task)
            groups.setdefault((row.category, row.series), []).append(row)
    if len(tests) < 2:
        return []
    found = []
    for (category, series), own in sorted(groups.items()):
        longer = {row.task for row in own if row.length}
        for length in sorted({row.length for row in own if row.length or not longer}):
            at = [row for row in own if row.length == (length if row.task in longer else 0)]
            if len(at) == len(tests[category]):
                found.append(_score(series, category, length, at))
    return found


def _score(series: Series, category: str, length: int, rows: Sequence[Row]) -> CategoryScore:
    """The mean of k tests of n replies each has the variance of k x n replies of one test; n differ, so 1 / n adds."""
    k = len(rows)
    mean = math.fsum(row.stat.mean for row in rows) / k
    low, high = wilson(mean, k**2 / math.fsum(1 / row.stat.n_effective for row in rows))
    return CategoryScore(
        series=series,
        category=category,
        length=length,
        tests=tuple(row.task for row in rows),
        mean=mean,
        low=low,
        high=high,
        chance_level=math.fsum(row.stat.chance_level for row in rows) / k,
        attempts=sum(row.stat.attempts for row in rows),
    )
