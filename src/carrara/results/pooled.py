"""Pooled findings: differences between groups of replies, over all tasks and lengths of a model together.

A table of scores by label and length has few replies in each cell. A difference that all cells share is clear only if
they are taken together. The groups are those of the evidence: where its last fact is (`place`), how far before it the
first one is (`distance`), and how many facts it has (`needed`). Prompts without filler (length 0) are left out.

A group is compared with the other replies of its model at the same tasks and lengths, so that neither hard tasks nor
long contexts make a difference. Instances are shared by all lengths. The number of independent replies is therefore
computed with the correlation within instances, around the mean of each task, length and side. The interval of the
difference is Newcombe's (1998), from Wilson's intervals of both means. Its confidence is corrected for the number of
groups looked at, by Bonferroni's method: if no group differs, the chance of any clear finding is at most 5 %.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

from carrara.answers.status import NEVER_ASKED
from carrara.results.intervals import effective_n, wilson
from carrara.results.paired_test import ALPHA
from carrara.results.result import Result
from carrara.results.rows import DISTANCE, NEEDED, PLACE, label_evidence
from carrara.results.scores import headline
from carrara.results.series import Series, series_of
from carrara.util.quantities import count, natural

GROUPED = (PLACE, DISTANCE, NEEDED)
"""The labels whose groups are looked at."""
LEAST = 3
"""The instances in a group, and beside it, below which it is not looked at."""


@dataclass(frozen=True)
class PooledDifference:
    """A group of replies against the other replies at the same tasks and lengths."""

    series: Series
    label: str
    value: str
    n: int
    """The replies in the group."""
    tasks: int
    lengths: int
    mean: float
    """The score of the group."""
    others: float
    """The mean score of the others, with as much weight on each task and length as the group has."""
    low: float
    """The lower end of the interval of `mean` minus `others`."""
    high: float
    looked_at: int
    """The number of groups of all models for which the interval is corrected."""

    @property
    def difference(self) -> float:
        return self.mean - self.others

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero."""
        return not self.low <= 0 <= self.high

    @property
    def strength(self) -> float:
        """The distance of the interval from zero. Negative if it is not clear."""
        return max(self.low, -self.high)

    @property
    def where(self) -> str:
        """
        >>> PooledDifference(Series("m"), "place", "80-100 %", 11, 1, 1, 0.0, 0.6, -0.7, -0.2, 15).where
        'where the last needed fact is at 80-100 % of the context'
        """
        match self.label:
            case "place":
                return f"where the last needed fact is at {self.value} of the context"
            case "distance":
                return f"where {self.value} of the context lie between the first needed fact and the last"
            case _:
                return f"where {self.value} fact{' is' if self.value == '1' else 's are'} needed"

    @property
    def sentence(self) -> str:
        """The finding in a sentence, with its interval."""
        numbers = [f"{n} {name}s" for n, name in ((self.tasks, "task"), (self.lengths, "length")) if n > 1]
        over = f" over {' and '.join(numbers)}" if numbers else ""
        corrected = f", corrected for the {self.looked_at} groups looked at" if self.looked_at > 1 else ""
        return (
            f"It scores {self.mean:.2f} {self.where} ({count(self.n, 'reply')}{over}), and {self.others:.2f} "
            f"elsewhere: a difference of {signed(self.difference)} (95 % interval {signed(self.low)} to "
            f"{signed(self.high)}{corrected})."
        )

    def record(self) -> dict[str, Any]:
        """Return the finding for JSON."""
        named = asdict(self)
        del named["series"]
        return named | {"difference": self.difference, "clear": self.clear}


def clearest(findings: Iterable[PooledDifference]) -> dict[Series, PooledDifference]:
    """Return the clear finding of each series whose interval is farthest from zero."""
    ascending = sorted((finding for finding in findings if finding.clear), key=lambda finding: finding.strength)
    return {finding.series: finding for finding in ascending}


def pooled_differences(results: Sequence[Result], among: Sequence[Result] | None = None) -> list[PooledDifference]:
    """Return all groups that were looked at, by model, label and value.

    Groups with fewer than `LEAST` instances on either side are not looked at. Each series has another name than
    all other series of `among`, which the results may be a part of.
    """
    series_for = series_of(results if among is None else among)
    labelled: dict[Series, list[Result]] = {}
    for result, labelled_result in zip(results, label_evidence(results), strict=True):
        if result.length and result.status not in NEVER_ASKED:
            labelled.setdefault(series_for(result), []).append(labelled_result)
    groups = [
        (series, label, value, sides)
        for series, series_results in sorted(labelled.items())
        for label in GROUPED
        for value, sides in _groups(label, series_results)
    ]
    z = NormalDist().inv_cdf(1 - ALPHA / 2 / max(1, len(groups)))
    return [_difference(series, label, value, sides, z, len(groups)) for series, label, value, sides in groups]


class _Sides(NamedTuple):
    """The replies of a group and of the others, by task and length. Each task and length has both."""

    group: dict[tuple[str, int], list[Result]]
    others: dict[tuple[str, int], list[Result]]


def _groups(label: str, results: Sequence[Result]) -> Iterator[tuple[str, _Sides]]:
    cells: dict[tuple[str, int], dict[str, list[Result]]] = {}
    for result in results:
        if label in result.labels:
            cell = cells.setdefault((result.task, result.length), {})
            cell.setdefault(result.labels[label], []).append(result)
    values = sorted({value for cell in cells.values() for value in cell}, key=natural)
    for value in values[1:] if len(values) == 2 else values:  # each of two groups is the rest of the other
        sides = _Sides({}, {})
        for key, cell in cells.items():
            others = [
                result
                for other_value, value_results in cell.items()
                if other_value != value
                for result in value_results
            ]
            if value in cell and others:
                sides.group[key], sides.others[key] = cell[value], others
        if min(_instances(sides.group), _instances(sides.others)) >= LEAST:
            yield value, sides


def _instances(cells: dict[tuple[str, int], list[Result]]) -> int:
    return len({result.instance_id for results in cells.values() for result in results})


def _difference(series: Series, label: str, value: str, sides: _Sides, z: float, looked_at: int) -> PooledDifference:
    counts = {key: len(results) for key, results in sides.group.items()}
    n = sum(counts.values())
    mean = math.fsum(headline(result) for results in sides.group.values() for result in results) / n
    means = {key: math.fsum(map(headline, results)) / len(results) for key, results in sides.others.items()}
    others = math.fsum(counts[key] * means[key] for key in counts) / n
    design_effect = _design_effect(sides)
    spread = math.fsum(counts[key] ** 2 / len(sides.others[key]) for key in counts)
    (low, high), (least, most) = wilson(mean, n / design_effect, z), wilson(others, n**2 / spread / design_effect, z)
    difference = mean - others
    return PooledDifference(
        series=series,
        label=label,
        value=value,
        n=n,
        tasks=len({task for task, _ in counts}),
        lengths=len({length for _, length in counts}),
        mean=mean,
        others=others,
        low=difference - math.hypot(mean - low, most - others),
        high=difference + math.hypot(high - mean, others - least),
        looked_at=looked_at,
    )


def _design_effect(sides: _Sides) -> float:
    """Return how many replies count as one independent reply, because replies on an instance resemble each other.

    Scores are taken around the mean of their side, task and length, so that a difference between these counts nothing.
    """
    clusters: dict[str, list[float]] = {}
    for cells in sides:
        for results in cells.values():
            mean = math.fsum(map(headline, results)) / len(results)
            for result in results:
                clusters.setdefault(result.instance_id, []).append(headline(result) - mean)
    return sum(map(len, clusters.values())) / effective_n(list(clusters.values()))


def signed(value: float) -> str:
    """Return a difference with its sign.

    >>> signed(0.254), signed(-0.3)
    ('+0.25', '−0.30')
    """
    return f"{value:+.2f}".replace("-", "−")
