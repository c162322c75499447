"""What a page says by one score: the sound one, or the papers' own. A reader switches between the two."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from carrara.core.natsort import natural
from carrara.core.result import Result
from carrara.results.analysis import (
    CategoryScore,
    Difference,
    EffectiveLength,
    LengthEffect,
    ModelEffect,
    Requirements,
    Row,
    Series,
    categories,
    effective_lengths,
    length_effects,
    model_effects,
    scored,
    summarize,
)
from carrara.results.analysis.cumulative_scores import accumulate
from carrara.results.analysis.evidence_bins import DISTANCE, NEEDED, PLACE
from carrara.results.analysis.leaderboard import Standing, leaderboard
from carrara.results.analysis.metric import Metric, by_metric
from carrara.results.chart import COMPACT, WIDE, score_chart
from carrara.results.report.slices import Slice, slices
from carrara.results.report.verdict import Verdict, verdicts
from carrara.results.sanitize import short
from carrara.results.style import SeriesStyle, Styles

CUMULATIVE = "michelangelo/"
"""Tests whose lengths add up (Michelangelo, section 3.2)."""
WHERE = frozenset({PLACE, DISTANCE, NEEDED})
"""Labels that say where in its context an answer is read from."""


@dataclass(frozen=True)
class Pair:
    """Two series compared, the better first."""

    one: SeriesStyle
    other: SeriesStyle
    difference: Difference | None


@dataclass(frozen=True)
class Curves:
    """One test, by the score that counts."""

    number: int
    name: str
    rows: list[Row]
    lengths: list[int]
    charts: list[Markup]
    cumulative: list[Markup]
    """The same of all contexts up to a length (analysis/cumulative.py), for the suite whose paper draws it so."""
    summed: list[Row]
    effective: dict[Series, EffectiveLength]
    changes: dict[tuple[Series, int], LengthEffect]
    pairs: list[Pair]
    slices: list[Slice]
    where: list[Slice]

    def row(self, series: Series, length: int) -> Row | None:
        return next((row for row in self.rows if (row.series, row.length) == (series, length)), None)

    @property
    def several(self) -> bool:
        """Whether it was run at several lengths."""
        return len(self.lengths) > 1

    def of(self, series: Series) -> list[Row]:
        return [row for row in self.rows if row.series == series]


@dataclass(frozen=True)
class View:
    metric: Metric
    rows: list[Row]
    verdicts: list[Verdict]
    standings: list[Standing]
    """Nothing where there is but one model."""
    categories: dict[str, list[CategoryScore]]
    tests: list[Curves]


def view(results: Sequence[Result], metric: Metric, styles: Styles, requirements: Requirements) -> View:
    results = by_metric(results, metric)
    rows = summarize(results)
    effective = effective_lengths(rows, requirements)
    standings = leaderboard(results, requirements)
    return View(
        metric=metric,
        rows=rows,
        verdicts=verdicts(rows, styles, effective),
        standings=standings if len(standings) > 1 else [],
        categories={
            category: sorted(scores, key=lambda score: (styles[score.series].number, score.length))
            for category, scores in groupby(categories(rows), lambda score: score.category)
        },
        tests=_tests(scored(results), rows, styles, effective),
    )


def tests_of(rows: Sequence[Row]) -> list[str]:
    """The tests in the order of the page."""
    return sorted({row.task for row in rows}, key=natural)


def _tests(
    results: Sequence[Result],
    rows: Sequence[Row],
    styles: Styles,
    effective: Sequence[EffectiveLength],
) -> list[Curves]:
    names = tests_of(rows)
    changes, pairs = length_effects(results), model_effects(results)
    summed = accumulate([result for result in results if result.task.startswith(CUMULATIVE)])
    own_results: dict[str, list[Result]] = {name: [] for name in names}
    for result in results:
        own_results[result.task].append(result)
    frames = {"wide": WIDE, "compact": COMPACT} if len(names) == 1 else {"only": COMPACT}
    tests = []
    for number, name in enumerate(names):
        own = sorted((row for row in rows if row.task == name), key=lambda row: (styles[row.series].number, row.length))
        added = sorted(
            (row for row in summed if row.task == name), key=lambda row: (styles[row.series].number, row.length)
        )
        shown = short(name)
        drawn = any(row.stat.attempts for row in own)
        points = [row for row in own if row.stat.scored]
        adds_up = drawn and len({row.length for row in added}) > 1
        sliced = slices(own_results[name], styles)
        tests.append(
            Curves(
                number=number,
                name=shown,
                rows=own,
                lengths=sorted({row.length for row in own}),
                charts=[score_chart(shown, points, styles, frame, kind) for kind, frame in frames.items() if drawn],
                cumulative=[
                    score_chart(shown, added, styles, frame, kind, "of all contexts up to a length")
                    for kind, frame in frames.items()
                    if adds_up
                ],
                summed=added if adds_up else [],
                effective={one.series: one for one in effective if one.task == name},
                changes={(one.series, one.length): one for one in changes if one.task == name},
                pairs=_pairs([pair for pair in pairs if pair.task == name], styles),
                slices=[one for one in sliced if one.label not in WHERE],
                where=[one for one in sliced if one.label in WHERE],
            )
        )
    return tests


def _pairs(effects: Sequence[ModelEffect], styles: Styles) -> list[Pair]:
    """A difference is second minus first: put the series that comes first on the page second, and gains are its own."""
    found = []
    for effect in effects:
        one, other = styles[effect.first], styles[effect.second]
        change = effect.difference
        if one.number < other.number:
            change = change.reversed if change else None
        else:
            one, other = other, one
        found.append(Pair(one, other, change))
    return sorted(found, key=lambda pair: (pair.one.number, pair.other.number))
