"""Log-likelihoods of right answers: with the context, without it, and with the evidence alone, on the same items.

A base model may score at chance by what it writes, and yet hold the right answer for more probable than others. A row
has the accuracy in each condition, which is how often the right answer is the most probable option, and the mean
log-likelihood of the right answer. The gain is the log-likelihood with the context minus that without it, item by item.
Its interval is Student's, over the means of instances.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean, stdev
from typing import Any

from carrara.answers.status import NEVER_ASKED
from carrara.constants import LIKELIHOOD, READER, WHOLE
from carrara.results.differences import Difference
from carrara.results.intervals import student
from carrara.results.result import Likelihood, Result
from carrara.results.rows import DISTANCE, NEEDED, label_evidence
from carrara.results.scores import stat
from carrara.results.series import Series, series_of
from carrara.util.quantities import natural

CONDITIONS = (WHOLE, "none", "evidence")
"""The readers that are the conditions: with the context, without it, and with the evidence alone."""


@dataclass(frozen=True)
class Condition:
    """The items of a row in one condition."""

    n: int
    accuracy: float
    low: float
    high: float
    logprob: float
    """The mean log-likelihood of the right answer."""


@dataclass(frozen=True)
class LikelihoodRow:
    """A model on a task at a length, or those of its items that need facts of a number and a distance."""

    series: Series
    """The model, with its settings without the reader."""
    task: str
    length: int
    chance_level: float
    """How often a guess among the options is right (items/rivals.py): the mean over the items."""
    rivals: str
    """Where the rivals come from."""
    conditions: Mapping[str, Condition]
    gain: Difference | None
    """The log-likelihood of the right answer with the context, minus that without it. None: no item has both."""
    of: Series
    """The model as tables name it in the first condition."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])

    def record(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "model": str(self.series),
            "task": self.task,
            "length": self.length,
            **({"labels": dict(self.labels)} if self.labels else {}),
            "chance_level": self.chance_level,
            "rivals": self.rivals,
            "conditions": {name: asdict(condition) for name, condition in self.conditions.items()},
            "gain": asdict(self.gain) if self.gain else None,
        }


def likelihood_rows(
    results: Sequence[Result], among: Sequence[Result] | None = None, by: Sequence[str] = ()
) -> list[LikelihoodRow]:
    """Return the rows of results that compare likelihoods, by model, task, length and the values of labels.

    Each series has another name than all other series of `among`, which the results may be a part of.
    """
    measured = [
        result
        for result in results
        if result.likelihood and result.status not in NEVER_ASKED and _condition(result) in CONDITIONS
    ]
    if not measured:
        return []
    bare = [_without_reader(result) for result in measured]
    series_for, named_as = series_of(bare), series_of(results if among is None else among)
    groups: dict[tuple[str, Series, int, tuple[str, ...]], list[Result]] = {}
    for result, without_reader in zip(label_evidence(measured), bare, strict=True):
        values = tuple(result.labels.get(label, "") for label in by)
        groups.setdefault((result.task, series_for(without_reader), result.length, values), []).append(result)
    return [
        _row(series, named_as, length, dict(zip(by, values, strict=True)), group)
        for (_, series, length, values), group in sorted(groups.items(), key=lambda item: _order(item[0]))
    ]


def sliced_rows(results: Sequence[Result], among: Sequence[Result] | None = None) -> list[LikelihoodRow]:
    """Return the rows by the number of needed facts and their distance, for tasks in which one of them varies."""
    rows = likelihood_rows([result for result in results if result.places], among, (NEEDED, DISTANCE))
    values: dict[str, set[tuple[str, ...]]] = {}
    for row in rows:
        values.setdefault(row.task, set()).add(tuple(row.labels.values()))
    return [row for row in rows if len(values[row.task]) > 1]


def _order(key: tuple[str, Series, int, tuple[str, ...]]) -> tuple[Any, ...]:
    task, series, length, values = key
    return natural(task), natural(series.model), series.variant, length, [natural(value) for value in values]


def _condition(result: Result) -> str:
    return result.settings.get(READER, WHOLE)


def _without_reader(result: Result) -> Result:
    settings = {name: value for name, value in result.settings.items() if name not in (READER, LIKELIHOOD)}
    return replace(result, settings=settings)


def _row(
    series: Series,
    named_as: Callable[[Result], Series],
    length: int,
    labels: Mapping[str, str],
    results: Sequence[Result],
) -> LikelihoodRow:
    by_condition = {name: [result for result in results if _condition(result) == name] for name in CONDITIONS}
    likelihoods = _likelihoods(results)
    first = next(group[0] for group in by_condition.values() if group)
    return LikelihoodRow(
        series,
        first.task,
        length,
        fmean(result.chance_level for result in results),
        ", ".join(sorted({likelihood.rivals for likelihood in likelihoods})),
        {name: _summarize(group) for name, group in by_condition.items() if group},
        _gain(by_condition["none"], by_condition[WHOLE]),
        named_as(first),
        labels,
    )


def _likelihoods(results: Iterable[Result]) -> list[Likelihood]:
    return [result.likelihood for result in results if result.likelihood]


def _summarize(results: Sequence[Result]) -> Condition:
    scores = stat(results)
    logprob = fmean(likelihood.right for likelihood in _likelihoods(results))
    return Condition(scores.n, scores.mean, scores.low, scores.high, logprob)


def _gain(without: Sequence[Result], with_context: Sequence[Result]) -> Difference | None:
    """Return the mean gain of instances. Questions on one instance are averaged first."""
    before = {result.id: result.likelihood for result in without}
    gains: dict[str, list[float]] = {}
    for result in with_context:
        first = before.get(result.id)
        if first and result.likelihood:
            gains.setdefault(result.instance_id, []).append(result.likelihood.right - first.right)
    if not gains:
        return None
    means = [fmean(values) for values in gains.values()]
    mean = math.fsum(means) / len(means)
    if len(means) == 1:
        return Difference(1, mean, None, None)
    half = student(len(means) - 1) * stdev(means) / math.sqrt(len(means))
    return Difference(len(means), mean, mean - half, mean + half)
