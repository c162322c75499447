"""Means with their intervals, chance levels and the statuses of their replies.

Every reply has exactly one status. An answer was read from a reply whose status is `ok`; each other status has its own
count. The score is the mean over the replies: one that is not `ok` scores 0. A failed request (`error`) is no reply and
not in the mean. The score of attempts leaves out the replies in which the model attempts no answer: refusals, tool
calls, filtered replies and overflows. Where every prompt was too long or its request failed, nothing was measured, and
there is no score but only that status.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from carrara.core.errors import RunError, UsageError, nearest
from carrara.core.log import logger
from carrara.core.natsort import natural
from carrara.core.result import ATTEMPTED, NEVER_ASKED, SOUND, STATUSES, Result, Status
from carrara.results.analysis.baselines import BestBaseline, best, means
from carrara.results.analysis.evidence_bins import label_bins
from carrara.results.analysis.intervals import effective_n, wilson
from carrara.results.analysis.series import Series, series_of

RECALL, RECALL_SHARE = "recall", "recall, share"
"""Scores of retrieval, which stand among a reply's others: whether all that its question needs was found, and how much
of it."""


@dataclass(frozen=True)
class Stat:
    """What a set of replies comes to."""

    n: int
    """The replies that the mean is over: all but failed requests. Where every request failed, all of these."""
    contexts: int
    """Clusters: questions on one context are not independent of each other."""
    n_effective: float
    """Independent replies that these are worth: what the interval is made with."""
    mean: float
    low: float
    high: float
    attempts: int
    """Replies in which the model attempts an answer, whether or not one can be read (`ATTEMPTED`)."""
    attempts_mean: float | None
    """The score of attempts. None: there are none."""
    chance_level: float
    """What blind guessing scores on these questions."""
    published: Mapping[str, float]
    """Published scores of the same replies, by name."""
    trivial: Mapping[str, Mapping[str, float]]
    """What trivial replies score on these questions, by name: soundly and as published (trivial.py)."""
    retrieval: Mapping[str, float]
    """What retrieval found, by name: over all replies of which it is known, whatever became of them."""
    statuses: Mapping[Status, int]
    reasoning: float | None
    """Tokens of reasoning in a reply on average, over those of which they are known."""
    requests: int | None
    """How many were made for these replies, where it is known."""

    @property
    def answers_read(self) -> int:
        """The replies from which an answer was read: those whose status is `ok`."""
        return self.statuses.get("ok", 0)

    @property
    def others(self) -> Mapping[Status, int]:
        """The replies from which no answer was read, by status."""
        return {status: count for status, count in self.statuses.items() if status != "ok"}

    @property
    def scored(self) -> bool:
        """Whether the model was asked at all: if not, a mean of 0 would say what nobody has measured."""
        return not self.statuses.keys() <= NEVER_ASKED

    @property
    def unscored(self) -> str:
        """What stands in the place of a score where there is none: `overflow`."""
        return "" if self.scored else ", ".join(self.statuses)

    @property
    def guessing(self) -> bool:
        """Whether blind guessing explains the score: the interval does not rise above the chance level."""
        return self.low <= self.chance_level

    @property
    def best_trivial(self) -> BestBaseline | None:
        """The trivial reply that scores best: the same for all models that were asked the same."""
        return best(self.trivial)


@dataclass(frozen=True)
class Row:
    """A line of a table: one model on one test at one length, whole or where its labels have these values."""

    model: str
    variant: str
    """What tells it from the same model's other rows (series.py); mostly empty."""
    task: str
    length: int
    stat: Stat
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    category: str = ""
    metric: str = ""
    """The published score that counts here; empty: the sound one."""

    @property
    def series(self) -> Series:
        return Series(self.model, self.variant)


def headline(result: Result) -> float:
    """The score that counts: 0 unless the reply is ok. A published one is of all that is an answer."""
    if result.metric:
        return min(1.0, max(0.0, result.scores.get(result.metric, 0.0))) if result.status in ATTEMPTED else 0.0
    if not -1e-9 <= result.score <= 1 + 1e-9:  # not a number is refused too
        raise RunError(
            f"{result.id} has the score {result.score}, and scores are from 0 to 1: correct the scorer of {result.task}"
        )
    return min(1.0, max(0.0, result.score)) if result.status == "ok" else 0.0


def replies_in_mean(results: Sequence[Result]) -> Sequence[Result]:
    """Return the replies that a mean is over: without failed requests, unless all of them failed."""
    return [result for result in results if result.status != "error"] or results


def stat(results: Sequence[Result], cluster: Callable[[Result], str] = lambda result: result.context_id) -> Stat:
    """Statistics of replies at one length. Give `cluster=world_id` for several: a world is the same at each of them."""
    if not results:
        raise ValueError("no results, no statistics")
    counts = {status: sum(result.status == status for result in results) for status in STATUSES}
    retrieval = _retrieval(results)
    results = replies_in_mean(results)
    n = len(results)
    clusters: dict[str, list[float]] = {}
    for result in results:
        clusters.setdefault(cluster(result), []).append(headline(result))
    mean = math.fsum(headline(result) for result in results) / n
    worth = effective_n(list(clusters.values()))
    low, high = wilson(mean, worth)
    attempts = [headline(result) for result in results if result.status in ATTEMPTED]
    return Stat(
        n=n,
        contexts=len(clusters),
        n_effective=worth,
        mean=mean,
        low=low,
        high=high,
        attempts=len(attempts),
        attempts_mean=math.fsum(attempts) / len(attempts) if attempts else None,
        chance_level=math.fsum(result.chance_level for result in results) / n,
        published=_published(results),
        trivial=_trivial(results),
        retrieval=retrieval,
        statuses={status: count for status, count in counts.items() if count},
        reasoning=_mean([result.reasoning for result in results if result.reasoning is not None]),
        requests=_sum([result.requests for result in results]),
    )


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _published(results: Sequence[Result]) -> Mapping[str, float]:
    """Means over the replies that a published scorer applies to; what never became a reply counts 0."""
    means = {}
    for name in dict.fromkeys(name for result in results for name in result.scores):
        if name in (RECALL, RECALL_SHARE):
            continue
        applies = [r for r in results if name in r.scores or r.status not in ATTEMPTED]
        means[name] = math.fsum(r.scores[name] for r in applies if r.status in ATTEMPTED) / len(applies)
    return means


def _trivial(results: Sequence[Result]) -> Mapping[str, Mapping[str, float]]:
    """By what counts: where that is a published score, it stands in the place of the sound one."""
    metric = results[0].metric
    return {
        reply: {**scores, SOUND: scores[metric]} if metric in scores else scores
        for reply, scores in means(results).items()
    }


def _retrieval(results: Sequence[Result]) -> Mapping[str, float]:
    found = {name: [r.scores[name] for r in results if name in r.scores] for name in (RECALL, RECALL_SHARE)}
    return {name: math.fsum(scores) / len(scores) for name, scores in found.items() if scores}


def summarize(results: Sequence[Result], by: Sequence[str] = (), among: Sequence[Result] | None = None) -> list[Row]:
    """Model by test by length, and by the values of these labels. A reply without such a label has the value ''.

    Series have the names that tell them apart `among` those of more results, if these are a part.
    """
    series = series_of(results if among is None else among)
    groups: dict[tuple[str, Series, int, tuple[str, ...]], list[Result]] = {}
    for result in results:
        values = tuple(result.labels.get(label, "") for label in by)
        groups.setdefault((result.task, series(result), result.length, values), []).append(result)
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
        )
        for (task, (model, variant), length, values), group in sorted(groups.items(), key=lambda item: _order(item[0]))
    ]


def _order(key: tuple[str, Series, int, tuple[str, ...]]) -> tuple[Any, ...]:
    task, series, length, values = key
    return natural(task), series, length, [natural(value) for value in values]


def drop_unscored(results: Sequence[Result]) -> list[Result]:
    """Results without those of tests at lengths that have no score: what is left can be compared and drawn."""
    series = series_of(results)
    met: dict[tuple[str, Series, int], bool] = {}
    for result in results:
        cell = (result.task, series(result), result.length)
        met[cell] = met.get(cell, False) or result.status not in NEVER_ASKED
    return [result for result in results if met[result.task, series(result), result.length]]


def report_failures(results: Sequence[Result]) -> None:
    """Say how many requests of each model failed: no mean holds them, and a table or figure would not show it.

    Raises:
        RunError: No reply is one of a model, so that nothing was measured.
    """
    if not results:
        return
    if all(result.status in NEVER_ASKED for result in results):
        counts = Counter(result.status for result in results)
        statuses = ", ".join(f"{n:,} {status}" for status, n in counts.items())
        remedy = "repeat the command of the run" if "error" in counts else "run shorter lengths"
        raise RunError(f"nothing was measured: none of {len(results):,} replies is a model's ({statuses}); {remedy}")
    series = series_of(results)
    asked = Counter(str(series(result)) for result in results)
    for name, failed in Counter(str(series(result)) for result in results if result.status == "error").items():
        logger.warning(f"{name}: {failed:,} of {asked[name]:,} requests failed; they are in no mean")


def summarize_by_labels(results: Sequence[Result], by: Sequence[str]) -> list[Row]:
    """Rows by the values of these labels, of the tests that have them all; labels cross."""
    results = label_bins(results)
    having: dict[str, set[str]] = {}
    for result in results:
        having.setdefault(result.task, set()).update(result.labels)
    known = sorted({label for labels in having.values() for label in labels})
    for label in by:
        if label not in known:
            raise UsageError(
                f"no result has the label {label!r}{nearest(label, known)}; there are {', '.join(known) or 'none'}"
            )
    tests = [task for task, labels in having.items() if labels.issuperset(by)]
    if not tests:
        raise UsageError(f"no test has all of {', '.join(by)}: its questions have one or the other")
    return summarize([result for result in results if result.task in tests], by, results)


def label_names(results: Iterable[Result]) -> list[str]:
    """The labels that results can be sliced by."""
    return list(dict.fromkeys(name for result in results for name in result.labels))


def record(row: Row) -> dict[str, Any]:
    """A row as JSON has it: flat, every number named."""
    named: dict[str, Any] = {"model": row.model, "test": row.task, "length": row.length}
    if row.variant:
        named["variant"] = row.variant
    if row.category:
        named["category"] = row.category
    if row.metric:
        named["metric"] = row.metric
    if row.labels:
        named["labels"] = dict(row.labels)
    figures = asdict(row.stat) | {"answers_read": row.stat.answers_read}
    if not row.stat.scored:
        figures |= {"mean": None, "low": None, "high": None, "published": {}}
    return named | figures
