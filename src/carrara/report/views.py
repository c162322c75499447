"""Views: the parts of a page by one score, ours or the paper score. A reader switches between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from carrara.answers.status import ATTEMPTED
from carrara.report.chart import COMPACT, WIDE, Point, score_chart, spending_chart
from carrara.report.reader_tables import cost_table
from carrara.report.readers import has_reader
from carrara.report.style import SeriesStyle, Styles
from carrara.report.table import Table
from carrara.report.tables import category_table, finding_table
from carrara.results import (
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
from carrara.results.pooled import PooledDifference, clearest, signed
from carrara.results.readers import SeriesCost
from carrara.results.result import Result
from carrara.results.rows import DISTANCE, NEEDED, PLACE, accumulate, label_evidence, label_names
from carrara.results.scores import Metric
from carrara.results.summary import Summary
from carrara.util.quantities import natural, write_length
from carrara.util.sanitize import short

LISTED = 4
"""The number of lengths that a sentence names. Of more lengths, it names the first and the last."""


@dataclass(frozen=True)
class Verdict:
    style: SeriesStyle
    sentence: str
    more: str
    tasks: tuple[tuple[str, str], ...] = ()
    """The name of each task with its effective length, or why there is none, if there are several tasks."""


def verdicts(
    rows: Sequence[Row],
    styles: Styles,
    effective: Sequence[EffectiveLength],
    findings: Mapping[Series, PooledDifference],
    losses: Mapping[Series, LengthEffect],
) -> list[Verdict]:
    """Return one verdict for each series.

    Args:
        findings: The clearest pooled finding of each series that has one.
        losses: The largest loss of each series that has one.
    """
    series_verdicts = []
    for series, style in styles.items():
        tasks: dict[str, list[Row]] = {}
        for row in rows:
            if row.series == series:
                tasks.setdefault(row.task, []).append(row)
        lengths_by_task = {
            effective_length.task: effective_length
            for effective_length in effective
            if effective_length.series == series
        }
        if not any(row.stat.attempts for task_rows in tasks.values() for row in task_rows):
            series_verdicts.append(Verdict(style, _without_attempts(tasks), ""))
        elif len(tasks) == 1:
            [(task, task_rows)] = tasks.items()
            series_verdicts.append(Verdict(style, _scores(task_rows), remark(task_rows, lengths_by_task[task])))
        else:
            series_verdicts.append(_over_tasks(style, tasks, lengths_by_task, losses.get(series)))
        if series in findings:
            series_verdicts[-1] = replace(
                series_verdicts[-1], more=f"{findings[series].sentence} {series_verdicts[-1].more}".strip()
            )
    return series_verdicts


def remark(rows: Sequence[Row], effective: EffectiveLength) -> str:
    """Return the meaning of one task's scores: the effective length or why there is none, and the unanswered items."""
    status = _status(effective)
    parts = [] if effective.usability == "one length" else [f"{status[0].upper()}{status[1:]}."]
    scored = [row for row in rows if row.stat.scored]
    guessing = next((row for row in scored if all(r.stat.guessing for r in scored if r.length >= row.length)), None)
    if guessing and (len(scored) == 1 or guessing.length == scored[0].length):
        where = "at any length" if len(scored) > 1 else f"at {write_length(guessing.length)}"
        parts.append(f"Its scores cannot be told from blind guessing {where}.")
    elif guessing:
        parts.append(f"From {write_length(guessing.length)} on its scores cannot be told from blind guessing.")
    if silent := next((row for row in scored if 2 * row.stat.answers_read < row.stat.n), None):
        parts.append(f"{_unread(silent)}.")
    return " ".join(parts)


def _status(effective: EffectiveLength) -> str:
    estimate = effective.estimate
    if estimate is None:
        return effective.sentence
    length = f"effective length {estimate}{', the longest that was run' if estimate.open else ''}"
    interval = f"95 % interval {estimate.interval}" if estimate.interval else ""
    details = "; ".join(filter(None, [interval, effective.note]))
    return f"{length} ({details})" if details else length


def _unread(row: Row) -> str:
    """Return a sentence about replies without an answer at a length, with their statuses."""
    statuses = ", ".join(f"{count:,} {status}" for status, count in row.stat.others.items() if status != "error")
    n_unread = row.stat.n - row.stat.answers_read
    return f"No answer was read from {n_unread:,} of {row.stat.n:,} replies at {write_length(row.length)} ({statuses})"


def _scores(rows: Sequence[Row]) -> str:
    shown_rows = rows if len(rows) <= LISTED else [rows[0], rows[-1]]
    scores = ", ".join(
        f"{row.stat.mean:.2f} at {write_length(row.length)}{'' if row.stat.attempts else ' (no attempts)'}"
        if row.stat.scored
        else f"no score at {write_length(row.length)} ({row.stat.unscored})"
        for row in shown_rows
    )
    return f"{scores}; chance level {rows[-1].stat.chance_level:.2f}"


def _over_tasks(
    style: SeriesStyle,
    tasks: Mapping[str, Sequence[Row]],
    effective: Mapping[str, EffectiveLength],
    loss: LengthEffect | None,
) -> Verdict:
    blank = sum(not row.stat.scored for task_rows in tasks.values() for row in task_rows)
    scored = {
        task: scored_rows
        for task, task_rows in tasks.items()
        if (scored_rows := [row for row in task_rows if row.stat.scored])
    }
    verdict = replace(
        Verdict(
            style, _means(scored), _loss(loss, sum(len(task_rows) > 1 for task_rows in scored.values())) if loss else ""
        ),
        tasks=tuple(
            (short(task), remark(task_rows, effective[task]) or f"{_scores(task_rows)}.")
            for task, task_rows in tasks.items()
        ),
    )
    if blank:
        more = f"{blank} {'cell has' if blank == 1 else 'cells have'} no score: see what became of the replies."
        verdict = replace(verdict, more=f"{verdict.more} {more}".strip())
    return verdict


def _loss(loss: LengthEffect, tasks: int) -> str:
    change = loss.difference
    assert change.low is not None
    assert change.high is not None
    lengths = f"from {write_length(loss.base)} to {write_length(loss.length)}"
    interval = f"95 % interval {signed(change.low)} to {signed(change.high)}, corrected for the {tasks} tasks"
    return f"The largest loss is in {short(loss.task)}: {signed(change.mean)} {lengths} ({interval})."


def _means(tasks: Mapping[str, Sequence[Row]]) -> str:
    """Return the means over tasks at the lengths that all tasks have."""
    if len(tasks) == 1:
        [(task, task_rows)] = tasks.items()
        return f"{_scores(task_rows)}, in {short(task)} alone"
    common = set.intersection(*({row.length for row in task_rows} for task_rows in tasks.values()))
    if not common:
        return f"the {len(tasks)} tasks have no length in common, so there is no mean over them"
    means, chance_levels = [], []
    for length in sorted(common):
        stats = [row.stat for task_rows in tasks.values() for row in task_rows if row.length == length]
        silent = "" if any(stat.attempts for stat in stats) else " (no attempts)"
        means.append(f"{sum(stat.mean for stat in stats) / len(stats):.2f} at {write_length(length)}{silent}")
        chance_levels.append(sum(stat.chance_level for stat in stats) / len(stats))
    shown_means = means if len(means) <= LISTED else [means[0], means[-1]]
    return f"{', '.join(shown_means)}; chance level {chance_levels[-1]:.2f} (mean of {len(tasks)} tasks)"


def _without_attempts(tasks: Mapping[str, Sequence[Row]]) -> str:
    counts: dict[str, int] = {}
    for task_rows in tasks.values():
        for row in task_rows:
            for status, count in row.stat.statuses.items():
                if status not in ATTEMPTED:
                    counts[status] = counts.get(status, 0) + count
    total = sum(counts.values())
    listed = ", ".join(f"{count:,} {status}" for status, count in counts.items())
    return f"no score: none of {total:,} {'replies attempts' if total > 1 else 'reply attempts'} an answer ({listed})"


CUMULATIVE = "michelangelo/"
"""Tasks whose lengths add up (Michelangelo, section 3.2)."""
WHERE = frozenset({PLACE, DISTANCE, NEEDED})
"""Labels of the position of the evidence in its context."""
MOST_VALUES = 24
"""The number of values of a label that a table has room for."""


@dataclass(frozen=True)
class Pair:
    """Two compared series, the better first."""

    first: SeriesStyle
    second: SeriesStyle
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
    def has_several_lengths(self) -> bool:
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
    categories: Table
    tasks: list[TaskScores]
    costs: Table
    findings: Table
    """The groups of replies that were looked at over all tasks and lengths."""

    @property
    def cost_groups(self) -> list[tuple[TaskScores, list[SeriesCost]]]:
        """The costs by task."""
        return [(task, task.costs) for task in self.tasks if task.costs]


def view(summary: Summary, metric: Metric, styles: Styles) -> View:
    rows, scored, effective, standings = summary.rows, summary.scored, summary.effective_lengths, summary.standings
    tasks = _task_scores(summary, styles)
    return View(
        metric=metric,
        verdicts=verdicts(rows, styles, effective, clearest(summary.findings), largest_losses(scored)),
        standings=standings if len(standings) > 1 else [],
        categories=category_table(
            sorted(
                score_categories(rows),
                key=lambda score: (score.category, styles[score.series].number, score.length),
            )
        ),
        tasks=tasks,
        costs=cost_table([cost for task in tasks for cost in task.costs]),
        findings=finding_table(sorted(summary.findings, key=lambda finding: styles[finding.series].number)),
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
    results_by_task: dict[str, list[Result]] = {name: [] for name in names}
    for result in results:
        results_by_task[result.task].append(result)
    frames = {"wide": WIDE, "compact": COMPACT} if len(names) == 1 else {"only": COMPACT}
    tasks = []
    for number, name in enumerate(names):
        task_rows, added, shown = rows_of(name, rows, styles), rows_of(name, summed, styles), short(name)
        drawn = any(row.stat.attempts for row in task_rows)
        adds_up = drawn and len({row.length for row in added}) > 1
        points = [row for row in task_rows if row.stat.scored]
        spent = {(cost.series, cost.length): cost for cost in costs if cost.task == name}
        paid = [Point(spent[row.series, row.length].per_item.tokens, row) for row in points if spent]
        about = "of all contexts up to a length"
        slices = _slices(results_by_task[name], styles)
        tasks.append(
            TaskScores(
                number=number,
                name=shown,
                rows=task_rows,
                lengths=sorted({row.length for row in task_rows}),
                charts=[score_chart(shown, points, styles, frame, kind) for kind, frame in frames.items() if drawn],
                cumulative=[
                    score_chart(shown, added, styles, frame, kind, about) for kind, frame in frames.items() if adds_up
                ],
                spending=[
                    spending_chart(shown, paid, styles, frame, kind) for kind, frame in frames.items() if paid and drawn
                ],
                costs=sorted(spent.values(), key=lambda cost: (styles[cost.series].number, cost.length)),
                summed=added if adds_up else [],
                effective={entry.series: entry for entry in effective if entry.task == name},
                changes={(entry.series, entry.length): entry for entry in changes if entry.task == name},
                pairs=_pairs([pair for pair in pairs if pair.task == name], styles),
                slices=[entry for entry in slices if entry.label not in WHERE],
                where=[entry for entry in slices if entry.label in WHERE],
            )
        )
    return tasks


def _pairs(effects: Sequence[ModelEffect], styles: Styles) -> list[Pair]:
    """Return pairs in the order of the page, with the difference of the first from the second."""
    pairs = []
    for effect in effects:
        first, second = styles[effect.first], styles[effect.second]
        change = effect.difference
        if first.number < second.number:
            change = change.reversed if change else None
        else:
            first, second = second, first
        pairs.append(Pair(first, second, change))
    return sorted(pairs, key=lambda pair: (pair.first.number, pair.second.number))


def _slices(results: Sequence[Result], styles: Styles) -> list[Slice]:
    """Return the scores of one task by each label.

    They show which kinds of questions a long context makes harder.
    """
    labelled_results = label_evidence(results)
    slices = []
    for label in label_names(labelled_results):
        values = sorted({result.labels.get(label, "") for result in labelled_results}, key=natural)
        if len(values) > 1:
            slices.append(_slice(label, values, summarize(labelled_results, [label]), styles))
    return slices


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
