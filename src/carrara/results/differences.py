"""Differences on the same instances: between lengths, between arrangements, and between models.

All lengths, arrangements and models share the same instances, so differences are taken instance by instance.
Variation in difficulty does not widen the interval. The mean is over instances, each of which counts once. Questions
on one instance are averaged first, because they are not independent. A reply that is not ok counts 0. A question
without an answer of a model, such as a failed request, is left out. Intervals are those of `carrara compare`
(paired_test.py).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from carrara.answers.status import UNANSWERED
from carrara.results.paired_test import ALPHA, interval, p_value
from carrara.results.result import Result
from carrara.results.scores import headline
from carrara.results.series import Series, series_of


@dataclass(frozen=True)
class Difference:
    """Second minus first, over the questions that both answered."""

    instances: int
    mean: float
    low: float | None
    """The interval. None: there is only one instance."""
    high: float | None

    @property
    def reversed(self) -> "Difference":
        """First minus second."""
        low, high = (None, None) if self.low is None or self.high is None else (-self.high, -self.low)
        return Difference(self.instances, -self.mean, low, high)

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


@dataclass(frozen=True)
class LengthEffect:
    series: Series
    task: str
    base: int
    length: int
    difference: Difference


@dataclass(frozen=True)
class ModelEffect:
    first: Series
    second: Series
    task: str
    difference: Difference | None
    """The difference. None: the models have no instance in common."""


def length_effects(results: Sequence[Result]) -> list[LengthEffect]:
    """Return the difference of each length from the shortest one that the series was run at."""
    effects = []
    for (task, series), group in _by_series(results):
        lengths = sorted({result.length for result in group})
        base = [result for result in group if result.length == lengths[0]]
        for length in lengths[1:]:
            change = difference(base, [result for result in group if result.length == length], across_lengths=True)
            if change:
                effects.append(LengthEffect(series, task, lengths[0], length, change))
    return effects


def model_effects(results: Sequence[Result]) -> list[ModelEffect]:
    """Return the difference of each two series on a task, over all lengths that both were run at."""
    tasks: dict[str, list[tuple[Series, list[Result]]]] = {}
    for (task, series), group in _by_series(results):
        tasks.setdefault(task, []).append((series, group))
    return [
        ModelEffect(first, second, task, difference(first_results, second_results))
        for task, groups in tasks.items()
        for (first, first_results), (second, second_results) in combinations(groups, 2)
    ]


def largest_losses(results: Sequence[Result]) -> dict[Series, LengthEffect]:
    """Return the largest loss of each series with several tasks, from a task's shortest length to its longest.

    The interval is corrected for the number of tasks, among which the largest loss is chosen (Bonferroni). A series
    whose intervals all contain zero has none.
    """
    tasks: dict[Series, list[tuple[str, list[Result]]]] = {}
    for (task, series), group in _by_series(results):
        if len({result.length for result in group}) > 1:
            tasks.setdefault(series, []).append((task, group))
    losses: dict[Series, LengthEffect] = {}
    for series, groups in tasks.items():
        for task, group in groups if len(groups) > 1 else ():
            base, length = min(result.length for result in group), max(result.length for result in group)
            first, last = (
                [result for result in group if result.length == chosen_length] for chosen_length in (base, length)
            )
            loss = difference(first, last, across_lengths=True, level=ALPHA / len(groups))
            largest_so_far = losses[series].difference.mean if series in losses else 0.0
            if loss and loss.clear and loss.mean < largest_so_far:
                losses[series] = LengthEffect(series, task, base, length, loss)
    return losses


def difference(
    first: Iterable[Result], second: Iterable[Result], *, across_lengths: bool = False, level: float = ALPHA
) -> Difference | None:
    """Return the mean difference of instances, with its interval of the confidence 1 - `level`.

    Questions are paired at equal lengths, unless lengths are compared.
    """
    if not (pairs := instance_scores(first, second, across_lengths)):
        return None
    per_instance = [second_score - first_score for first_score, second_score in pairs]
    significant = p_value([per_instance]) < level
    low, high = interval([per_instance], significant=significant, level=level) or (None, None)
    return Difference(len(per_instance), _mean(per_instance), low, high)


def instance_scores(
    first: Iterable[Result], second: Iterable[Result], across_lengths: bool = False
) -> list[tuple[float, float]]:
    """Return both mean scores of each instance, over the questions that both answered."""
    first_scores, second_scores = scores_of(first, across_lengths), scores_of(second, across_lengths)
    keys: dict[str, list[tuple[str, str, int]]] = {}
    for key in sorted(first_scores.keys() & second_scores.keys()):
        keys.setdefault(key[0], []).append(key)
    return [
        (
            _mean([_mean(first_scores[key]) for key in instance_keys]),
            _mean([_mean(second_scores[key]) for key in instance_keys]),
        )
        for instance_keys in keys.values()
    ]


def scores_of(results: Iterable[Result], across_lengths: bool = False) -> dict[tuple[str, str, int], list[float]]:
    """Return scores by instance, question and length. There are several if a question was asked repeatedly."""
    scores: dict[tuple[str, str, int], list[float]] = {}
    # A prompt that is too long is an effect of its length; one that the server cut says nothing about the model.
    unanswered = {"error", "shortened"} if across_lengths else UNANSWERED
    for result in results:
        if result.status in unanswered:
            continue
        key = result.instance_id, _question(result), 0 if across_lengths else result.length
        scores.setdefault(key, []).append(headline(result))
    return scores


def _question(result: Result) -> str:
    """Return the number of a question among those on its instance, which follows the instance in the id."""
    before, _, after = result.id.partition(result.instance_id)
    return after.partition("/")[0] if not before and result.instance_id else result.ask


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _by_series(results: Sequence[Result]) -> list[tuple[tuple[str, Series], list[Result]]]:
    series_for = series_of(results)
    groups: dict[tuple[str, Series], list[Result]] = {}
    for result in results:
        groups.setdefault((result.task, series_for(result)), []).append(result)
    return sorted(groups.items(), key=lambda item: item[0])
