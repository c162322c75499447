"""Cumulative scores: the mean score of all contexts up to a length (Michelangelo, section 3.2).

Contexts of subsets that overlap (subsets.py) are weighted so that none of their buckets counts more than once.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from carrara.core.natsort import natural
from carrara.core.recipe import Recipe
from carrara.core.result import Result
from carrara.core.subsets import bucket_of, subset_of
from carrara.results.analysis.intervals import wilson
from carrara.results.analysis.series import Series, series_of
from carrara.results.analysis.summary import Row, headline, stat


def accumulate(results: Sequence[Result]) -> list[Row]:
    """Return a row for each model, test and length: the mean score up to that length, with its interval."""
    series = series_of(results)
    groups: dict[tuple[str, Series], list[Result]] = {}
    for result in results:
        groups.setdefault((result.task, series(result)), []).append(result)
    rows: list[Row] = []
    for (task, one), group in sorted(groups.items(), key=lambda item: (natural(item[0][0]), item[0][1])):
        weights = _weights(group)
        for length in sorted({result.length for result in group}):
            upto = [(result, weight) for result, weight in zip(group, weights, strict=True) if result.length <= length]
            rows.append(_row(task, one, length, upto))
    return rows


def _weights(results: Sequence[Result]) -> list[float]:
    """One over the number of subsets that have contexts of a result's bucket."""
    places = [(bucket_of(result.length), subset_of(Recipe.parse(result.id).index)) for result in results]
    repeated = Counter(bucket for bucket, _ in set(places))
    return [1 / repeated[bucket] for bucket, _ in places]


def _row(task: str, series: Series, length: int, upto: Sequence[tuple[Result, float]]) -> Row:
    """The weighted statistics. A world at several lengths is one observation, with the sum of their weights."""
    results = [result for result, _ in upto]
    plain = stat(results, lambda result: result.world_id)
    upto = [(result, weight) for result, weight in upto if result.status != "error"] or upto
    total = math.fsum(weight for _, weight in upto)
    mean = math.fsum(weight * headline(result) for result, weight in upto) / total
    worlds: defaultdict[str, float] = defaultdict(float)
    for result, weight in upto:
        worlds[result.world_id] += weight
    worth = total**2 / math.fsum(weight**2 for weight in worlds.values())
    low, high = wilson(mean, worth)
    chance_level = math.fsum(weight * result.chance_level for result, weight in upto) / total
    own = replace(plain, mean=mean, low=low, high=high, chance_level=chance_level, n_effective=worth)
    return Row(series.model, series.variant, task, length, own, metric=results[0].metric)
