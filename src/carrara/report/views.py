"""Views: the parts of a page by one score, ours or the paper score. A reader switches between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from carrara.report.chart import COMPACT, WIDE, Point, score_chart, spending_chart
from carrara.report.readers import has_reader
from carrara.report.style import SeriesStyle, Styles
from carrara.report.verdict import Verdict, verdicts
from carrara.results import (
    CategoryScore,
    Difference,
    EffectiveLength,
    LengthEffect,
    ModelEffect,
    Row,
    Series,
    Stat,
    length_effects,
    model_effects,
    score_categories,
    summarize,
)
from carrara.results.differences import largest_losses
from carrara.results.leaderboard import Standing
from carrara.results.pooled import PooledDifference, clearest
from carrara.results.readers import SeriesCost
from carrara.results.result import Result
from carrara.results.rows import DISTANCE, NEEDED, PLACE, accumulate, label_evidence, label_names
from carrara.results.scores import Metric
from carrara.results.summary import Summary
from carrara.util.natsort import natural
from carrara.util.sanitize import short

CUMULATIVE = "michelangelo/"
"""Tasks whose lengths add up (Michelangelo, section 3.2)."""
WHERE = frozenset({PLACE, DISTANCE, NEEDED})
"""Labels of the position of the evidence in its context."""
MOST_VALUES = 24
"""The number of values of a label that a table has room for."""


@dataclass(frozen=True)
class Pair:
    """Two compared series, the better first."""

    one: SeriesStyle
    other: SeriesStyle
    difference: Difference | None


@dataclass(frozen=True)
class Line:
    """The scores of one series for one value of a label."""

    style: SeriesStyle
    value: str
    cells: tuple[Stat | None, ...]


@dataclass(frozen=True)
class Slice:
    """The scores of one task by one label: a line for each series and value, a column for each length."""

    label: str
    lengths: tuple[int, ...]
    groups: tuple[tuple[SeriesStyle, tuple[Line, ...]], ...]
    left_out: int
    """The number of values that are not shown."""


@dataclass(frozen=True)
class TaskScores:
    """One task, by the score that counts."""

    number: int
    name: str
    rows: list[Row]
    lengths: list[int]
    charts: list[Markup]
    cumulative: list[Markup]
    """The cumulative scores (`accumulate`), for the suite whose paper uses them."""
    spending: list[Markup]
    """The scores against tokens, if there are readers."""
    costs: list[SeriesCost]
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
        """Whether the task was run at several lengths."""
        return len(self.lengths) > 1

    def of(self, series: Series) -> list[Row]:
        return [row for row in self.rows if row.series == series]


@dataclass(frozen=True)
class View:
    metric: Metric
    verdicts: list[Verdict]
    standings: list[Standing]
    """The comparisons. Empty if there is only one model."""
    categories: dict[str, list[CategoryScore]]
    tasks: list[TaskScores]
    findings: list[PooledDifference]
    """The groups of replies that were looked at over all tasks and lengths."""


def view(summary: Summary, metric: Metric, styles: Styles) -> View:
    rows, scored, effective, standings = summary.rows, summary.scored, summary.effective_lengths, summary.standings
    return View(
        metric=metric,
        verdicts=verdicts(rows, styles, effective, clearest(summary.findings), largest_losses(scored)),
        standings=standings if len(standings) > 1 else [],
        categories={
            category: sorted(scores, key=lambda score: (styles[score.series].number, score.length))
            for category, scores in groupby(score_categories(rows), lambda score: score.category)
        },
        tasks=_task_scores(summary, styles),
        findings=sorted(summary.findings, key=lambda finding: styles[finding.series].number),
    )


def tasks_of(rows: Sequence[Row]) -> list[str]:
    """Return the tasks in the order of the page."""
    return sorted({row.task for row in rows}, key=natural)


def rows_of(task: str, rows: Sequence[Row], styles: Styles) -> list[Row]:
    """Return the rows of a task in the order of the page."""
    return sorted((row for row in rows if row.task == task), key=lambda row: (styles[row.series].number, row.length))


def _task_scores(summary: Summary, styles: Styles) -> list[TaskScores]:
    results, rows, effective = summary.scored, summary.rows, summary.effective_lengths
    names = tasks_of(rows)
    changes, pairs = length_effects(results), model_effects(results)
    costs = summary.costs if has_reader(results) else []
    summed = accumulate([result for result in results if result.task.startswith(CUMULATIVE)])
    own_results: dict[str, list[Result]] = {name: [] for name in names}
    for result in results:
        own_results[result.task].append(result)
    frames = {"wide": WIDE, "compact": COMPACT} if len(names) == 1 else {"only": COMPACT}
    tasks = []
    for number, name in enumerate(names):
        own, added, shown = rows_of(name, rows, styles), rows_of(name, summed, styles), short(name)
        drawn = any(row.stat.attempts for row in own)
        adds_up = drawn and len({row.length for row in added}) > 1
        points = [row for row in own if row.stat.scored]
        spent = {(cost.series, cost.length): cost for cost in costs if cost.task == name}
        paid = [Point(spent[row.series, row.length].per_item.tokens, row) for row in points if spent]
        about = "of all contexts up to a length"
        slices = _slices(own_results[name], styles)
        tasks.append(
            TaskScores(
                number=number,
                name=shown,
                rows=own,
                lengths=sorted({row.length for row in own}),
                charts=[score_chart(shown, points, styles, frame, kind) for kind, frame in frames.items() if drawn],
                cumulative=[
                    score_chart(shown, added, styles, frame, kind, about) for kind, frame in frames.items() if adds_up
                ],
                spending=[
                    spending_chart(shown, paid, styles, frame, kind) for kind, frame in frames.items() if paid and drawn
                ],
                costs=sorted(spent.values(), key=lambda cost: (styles[cost.series].number, cost.length)),
                summed=added if adds_up else [],
                effective={one.series: one for one in effective if one.task == name},
                changes={(one.series, one.length): one for one in changes if one.task == name},
                pairs=_pairs([pair for pair in pairs if pair.task == name], styles),
                slices=[one for one in slices if one.label not in WHERE],
                where=[one for one in slices if one.label in WHERE],
            )
        )
    return tasks


def _pairs(effects: Sequence[ModelEffect], styles: Styles) -> list[Pair]:
    """Return pairs in the order of the page, with the difference of the first from the second."""
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


def _slices(results: Sequence[Result], styles: Styles) -> list[Slice]:
    """Return the scores of one task by each label.

    They show which kinds of questions a long context makes harder.
    """
    own = label_evidence(results)
    found = []
    for label in label_names(own):
        values = sorted({result.labels.get(label, "") for result in own}, key=natural)
        if len(values) > 1:
            found.append(_slice(label, values, summarize(own, [label]), styles))
    return found


def _slice(label: str, values: Sequence[str], rows: Sequence[Row], styles: Styles) -> Slice:
    lengths = sorted({row.length for row in rows})
    cells = {(row.series, row.labels[label], row.length): row.stat for row in rows if row.stat.scored}
    shown = values[:MOST_VALUES]

    def lines(series: Series, style: SeriesStyle) -> tuple[Line, ...]:
        return tuple(
            Line(style, short(value, 40) or "none", tuple(cells.get((series, value, length)) for length in lengths))
            for value in shown
        )

    present = {row.series for row in rows}
    groups = tuple((style, lines(series, style)) for series, style in styles.items() if series in present)
    return Slice(short(label, 40), tuple(lengths), groups, len(values) - len(shown))
