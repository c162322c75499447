"""Find where the curves of two models cross, and whether they are parallel (Michelangelo, sections 5.3 and 5.4).

Differences are taken instance by instance (differences.py). Curves cross at the last change of sign of the mean
difference, which is interpolated linearly over the logarithm of the length. The interval comes from a thousand
resamplings of the instances, and so does the share of resamplings in which the curves cross. Curves are parallel if the
interval of the change of the difference, from the first length to the last, contains zero and lies within `NARROW` of
it.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import exp, fsum, log

from carrara.results.differences import scores_of
from carrara.results.result import Result
from carrara.results.series import Series, series_of

RESAMPLINGS = 1000
NARROW = 0.15
_SOFT = 1024
"""Added to a length before its logarithm is taken, because lengths can be 0."""

Differences = Mapping[str, Mapping[int, float]]
"""The difference by instance and length."""


@dataclass(frozen=True)
class Crossing:
    task: str
    first: Series
    second: Series
    length: int | None
    """The length at which the curves cross. None if they do not."""
    low: int
    high: int
    share: float
    """The share of resamplings in which they cross."""
    gap: float
    """Second minus first, over all lengths."""
    parallel: bool

    def describe(self, names: Mapping[Series, str]) -> str:
        first, second = names[self.first], names[self.second]
        if self.length is not None and self.share >= 0.5:
            between = f"{_about(self.low)} to {_about(self.high)}, in {100 * self.share:.0f} % of resamplings"
            return f"{first} and {second} cross at {_about(self.length)} ({between})."
        gap = f"{abs(self.gap):.2f} {'above' if self.gap < 0 else 'below'} {second}"
        return f"{first} is {gap}{', and runs in parallel' if self.parallel else ''}."


def crossings(results: Sequence[Result]) -> list[Crossing]:
    """Return the crossing of each two series on each task.

    Both series need the same instances at two lengths or more.
    """
    series_for = series_of(results)
    tasks: dict[str, dict[Series, list[Result]]] = {}
    for result in results:
        tasks.setdefault(result.task, {}).setdefault(series_for(result), []).append(result)
    pair_crossings = []
    for task, by_series in sorted(tasks.items()):
        for first, second in combinations(sorted(by_series), 2):
            by_instance = _differences(by_series[first], by_series[second])
            if len({length for lengths in by_instance.values() for length in lengths}) > 1:
                pair_crossings.append(_crossing(task, first, second, by_instance))
    return pair_crossings


def _differences(first: Sequence[Result], second: Sequence[Result]) -> Differences:
    first_scores, second_scores = scores_of(first), scores_of(second)
    differences: dict[str, dict[int, list[float]]] = {}
    for key in first_scores.keys() & second_scores.keys():
        instance, _, length = key
        differences.setdefault(instance, {}).setdefault(length, []).append(
            _mean(second_scores[key]) - _mean(first_scores[key])
        )
    return {
        instance: {length: _mean(values) for length, values in differences[instance].items()}
        for instance in sorted(differences)
    }


def _crossing(task: str, first: Series, second: Series, by_instance: Differences) -> Crossing:
    instances, rng = list(by_instance.values()), random.Random(0).random
    places, changes = [], []
    for _ in range(RESAMPLINGS):
        means = _by_length([instances[int(rng() * len(instances))] for _ in instances])
        if (place := _place(means)) is not None:
            places.append(place)
        lengths = sorted(means)
        changes.append(means[lengths[-1]] - means[lengths[0]])
    places.sort()
    changes.sort()
    means = _by_length(instances)
    crossing_place = _place(means)
    rarely_cross = len(places) < RESAMPLINGS / 10
    low, high = _middle(changes)
    return Crossing(
        task=task,
        first=first,
        second=second,
        length=None if crossing_place is None or rarely_cross else _length(crossing_place),
        low=0 if rarely_cross else _length(_middle(places)[0]),
        high=0 if rarely_cross else _length(_middle(places)[1]),
        share=len(places) / RESAMPLINGS,
        gap=_mean(list(means.values())),
        parallel=-NARROW <= low <= 0 <= high <= NARROW,
    )


def _by_length(instances: Sequence[Mapping[int, float]]) -> dict[int, float]:
    values: dict[int, list[float]] = {}
    for instance in instances:
        for length, value in instance.items():
            values.setdefault(length, []).append(value)
    return {length: _mean(values[length]) for length in sorted(values)}


def _place(means: Mapping[int, float]) -> float | None:
    """Return the logarithm of the length at the last change of sign."""
    changes = [(length, mean) for length, mean in means.items() if mean]
    for (shorter, before), (longer, after) in reversed(list(pairwise(changes))):
        if before * after < 0:
            return log(shorter + _SOFT) + (log(longer + _SOFT) - log(shorter + _SOFT)) * before / (before - after)
    return None


def _length(place: float) -> int:
    return max(0, round(exp(place) - _SOFT))


def _about(length: int) -> str:
    """Return the length with two digits, because it is not known more precisely."""
    if length < 1000:
        return f"{length:.2g}"
    return f"{length / 1024:.2g}k" if length < 1000 << 10 else f"{length / (1 << 20):.2g}M"


def _middle(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the middle 95 % of these values."""
    cut = int(0.025 * len(values))
    return values[cut], values[len(values) - 1 - cut]


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)
