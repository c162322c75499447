"""Rows of scores: by model, task and length, by labels, by category, and cumulative.

- Labels are those of the questions, and where in the context the evidence stands: `place` is the position of the last
  fact of the evidence, `distance` is how far the first one is before it, and `needed` is how many facts there are.
- The score of a category of tasks (Minerva's search, recall, …) is the mean of its tasks, each of which counts the
  same. A length has a score only if all tasks of the category were run at it. Tasks without a length, which are as long
  as their steps, count at every length of the others.
- A cumulative score is the mean over all contexts up to a length (Michelangelo, section 3.2). Contexts of subsets that
  overlap (items/item_id.py) are weighted so that none of their buckets counts more than once.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from carrara.answers.status import NEVER_ASKED
from carrara.items.item_id import ItemId, bucket_of, subset_of
from carrara.results.intervals import wilson
from carrara.results.result import Result
from carrara.results.scores import Stat, headline, stat
from carrara.results.series import Series, series_of
from carrara.types import Arrange
from carrara.util.errors import RunError, UsageError, nearest
from carrara.util.log import logger
from carrara.util.quantities import natural

BINS = 5
"""The number of equal parts of a context by which positions of evidence are labelled."""
PLACE, DISTANCE, NEEDED = "place", "distance", "needed"


@dataclass(frozen=True)
class Row:
    """A line of a table: one model on one task at one length, for all replies or for those with these labels."""

    model: str
    variant: str
    """The difference from the same model's other rows (series.py). Mostly empty."""
    task: str
    length: int
    stat: Stat
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    category: str = ""
    metric: str = ""
    """The paper score that counts here. Empty: our score."""
    arrange: Arrange = ""
    """The arrangement of the needed facts. Empty: they stand where they were drawn."""

    @property
    def series(self) -> Series:
        return Series(self.model, self.variant)


def summarize(results: Sequence[Result], by: Sequence[str] = (), among: Sequence[Result] | None = None) -> list[Row]:
    """Return rows by model, task and length, and by the values of labels. A missing label has the value ''.

    Each series has another name than all other series of `among`, which the results may be a part of.
    """
    series_for = series_of(results if among is None else among)
    groups: dict[tuple[str, Series, int, tuple[str, ...]], list[Result]] = {}
    for result in results:
        values = tuple(result.labels.get(label, "") for label in by)
        groups.setdefault((result.task, series_for(result), result.length, values), []).append(result)
    return [
        Row(
            model,
            variant,
            task,
            length,
            stat(group),
            dict(zip(by, values, strict=True)),
            group[0].category,
            group[0].metric,
            group[0].arrange,
        )
        for (task, (model, variant), length, values), group in sorted(groups.items(), key=lambda item: _order(item[0]))
    ]


def _order(key: tuple[str, Series, int, tuple[str, ...]]) -> tuple[Any, ...]:
    task, series, length, values = key
    return natural(task), series, length, [natural(value) for value in values]


def drop_unscored(results: Sequence[Result]) -> list[Result]:
    """Return the results without tasks at lengths that have no score. The remaining ones can be compared and drawn."""
    series_for = series_of(results)
    was_asked: dict[tuple[str, Series, int], bool] = {}
    for result in results:
        cell = (result.task, series_for(result), result.length)
        was_asked[cell] = was_asked.get(cell, False) or result.status not in NEVER_ASKED
    return [result for result in results if was_asked[result.task, series_for(result), result.length]]


def report_failures(results: Sequence[Result]) -> None:
    """Warn of the failed requests of each model, which are in no mean and in no table.

    Raises:
        RunError: No reply comes from a model, so nothing was measured.
    """
    if not results:
        return
    if all(result.status in NEVER_ASKED for result in results):
        counts = Counter(result.status for result in results)
        statuses = ", ".join(f"{n:,} {status}" for status, n in counts.items())
        remedy = "repeat the command of the run" if "error" in counts else "run shorter lengths"
        raise RunError(f"nothing was measured: none of {len(results):,} replies is a model's ({statuses}); {remedy}")
    series_for = series_of(results)
    requests = Counter(str(series_for(result)) for result in results)
    for name, failed in Counter(str(series_for(result)) for result in results if result.status == "error").items():
        logger.warning(f"{name}: {failed:,} of {requests[name]:,} requests failed; they are in no mean")


def record(row: Row) -> dict[str, Any]:
    """Return a row for JSON: flat, with a name for every number."""
    fields: dict[str, Any] = {"model": row.model, "task": row.task, "length": row.length}
    if row.variant:
        fields["variant"] = row.variant
    if row.category:
        fields["category"] = row.category
    if row.metric:
        fields["metric"] = row.metric
    if row.arrange:
        fields["arrange"] = row.arrange
    if row.labels:
        fields["labels"] = dict(row.labels)
    figures = asdict(row.stat) | {"answers_read": row.stat.answers_read}
    if not row.stat.scored:
        figures |= {"mean": None, "low": None, "high": None, "published": {}}
    return fields | figures


# --- by labels ---


def summarize_by_labels(results: Sequence[Result], by: Sequence[str]) -> list[Row]:
    """Return rows by the values of these labels, for the tasks that have all of them. Labels are crossed."""
    results = label_evidence(results)
    labels_by_task: dict[str, set[str]] = {}
    for result in results:
        labels_by_task.setdefault(result.task, set()).update(result.labels)
    known_labels = sorted({label for labels in labels_by_task.values() for label in labels})
    for label in by:
        if label not in known_labels:
            raise UsageError(
                f"no result has the label {label!r}{nearest(label, known_labels)}; there are "
                f"{', '.join(known_labels) or 'none'}"
            )
    tasks = [task for task, labels in labels_by_task.items() if labels.issuperset(by)]
    if not tasks:
        raise UsageError(f"no task has all of {', '.join(by)}: its questions have one or the other")
    return summarize([result for result in results if result.task in tasks], by, results)


def label_names(results: Iterable[Result]) -> list[str]:
    """Return the labels by which results can be sliced."""
    return list(dict.fromkeys(name for result in results for name in result.labels))


def label_evidence(results: Iterable[Result]) -> list[Result]:
    """Return the results with labels for the positions of their evidence, if known."""
    return [replace(result, labels={**result.labels, **_evidence_labels(result.places)}) for result in results]


def _evidence_labels(places: tuple[float, float, int] | None) -> dict[str, str]:
    """
    >>> _evidence_labels((0.1, 0.95, 2))
    {'place': '80-100 %', 'distance': '80-100 %', 'needed': '2'}
    """
    if places is None:
        return {}
    first, last, needed = places
    distance = {DISTANCE: bin_name(last - first)} if needed > 1 else {}
    return {PLACE: bin_name(last), **distance, NEEDED: str(needed)}


def bin_name(share: float) -> str:
    """Return the name of the part of a context in which a position lies.

    >>> bin_name(0.95)
    '80-100 %'
    """
    low = min(BINS - 1, int(share * BINS)) * 100 // BINS
    return f"{low}-{low + 100 // BINS} %"


# --- by category ---


@dataclass(frozen=True)
class CategoryScore:
    """The score of a model in a category at a length."""

    series: Series
    category: str
    length: int
    tasks: tuple[str, ...]
    mean: float
    low: float
    high: float
    chance_level: float
    attempts: int


def score_categories(rows: Sequence[Row]) -> list[CategoryScore]:
    """Return the scores by category. Empty if there is only one category."""
    tasks: dict[str, set[str]] = {}
    groups: dict[tuple[str, Series], list[Row]] = {}
    for row in rows:
        if row.category and row.stat.scored:
            tasks.setdefault(row.category, set()).add(row.task)
            groups.setdefault((row.category, row.series), []).append(row)
    if len(tasks) < 2:
        return []
    scores = []
    for (category, series), category_rows in sorted(groups.items()):
        longer = {row.task for row in category_rows if row.length}
        for length in sorted({row.length for row in category_rows if row.length or not longer}):
            length_rows = [row for row in category_rows if row.length == (length if row.task in longer else 0)]
            if len(length_rows) == len(tasks[category]):
                scores.append(_category_score(series, category, length, length_rows))
    return scores


def _category_score(series: Series, category: str, length: int, rows: Sequence[Row]) -> CategoryScore:
    """Return the number of independent scores.

    The mean of k tasks of n replies each has the variance of k x n replies of one task. As n differs, 1 / n is added
    up.
    """
    k = len(rows)
    mean = math.fsum(row.stat.mean for row in rows) / k
    low, high = wilson(mean, k**2 / math.fsum(1 / row.stat.n_effective for row in rows))
    return CategoryScore(
        series=series,
        category=category,
        length=length,
        tasks=tuple(row.task for row in rows),
        mean=mean,
        low=low,
        high=high,
        chance_level=math.fsum(row.stat.chance_level for row in rows) / k,
        attempts=sum(row.stat.attempts for row in rows),
    )


# --- of all contexts up to a length ---


def accumulate(results: Sequence[Result]) -> list[Row]:
    """Return a row for each model, task and length: the mean score up to that length, with its interval."""
    series_for = series_of(results)
    groups: dict[tuple[str, Series], list[Result]] = {}
    for result in results:
        groups.setdefault((result.task, series_for(result)), []).append(result)
    rows: list[Row] = []
    for (task, series), group in sorted(groups.items(), key=lambda item: (natural(item[0][0]), item[0][1])):
        weights = _weights(group)
        for length in sorted({result.length for result in group}):
            upto = [(result, weight) for result, weight in zip(group, weights, strict=True) if result.length <= length]
            rows.append(_cumulative_row(task, series, length, upto))
    return rows


def _weights(results: Sequence[Result]) -> list[float]:
    """Return one over the number of subsets that have contexts of a result's bucket."""
    places = [(bucket_of(result.length), subset_of(ItemId.parse(result.id).index)) for result in results]
    repeated = Counter(bucket for bucket, _ in set(places))
    return [1 / repeated[bucket] for bucket, _ in places]


def _cumulative_row(task: str, series: Series, length: int, upto: Sequence[tuple[Result, float]]) -> Row:
    """Return the weighted statistics.

    An instance at several lengths is one observation, with the sum of their weights.
    """
    results = [result for result, _ in upto]
    plain = stat(results, lambda result: result.instance_id)
    upto = [(result, weight) for result, weight in upto if result.status != "error"] or upto
    total = math.fsum(weight for _, weight in upto)
    mean = math.fsum(weight * headline(result) for result, weight in upto) / total
    instances: defaultdict[str, float] = defaultdict(float)
    for result, weight in upto:
        instances[result.instance_id] += weight
    n_effective = total**2 / math.fsum(weight**2 for weight in instances.values())
    low, high = wilson(mean, n_effective)
    chance_level = math.fsum(weight * result.chance_level for result, weight in upto) / total
    weighted = replace(plain, mean=mean, low=low, high=high, chance_level=chance_level, n_effective=n_effective)
    return Row(series.model, series.variant, task, length, weighted, metric=results[0].metric)
