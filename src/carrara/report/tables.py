"""The tables of results. A table is columns and rows; the terminal and the page draw the same columns.

With many rows, the terminal has a grid of tasks by lengths in place of the table of scores.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from carrara.answers.status import STATUSES
from carrara.constants import WHOLE
from carrara.results import EffectiveLength, Row, Series, ruler, score_categories
from carrara.results.arrangements import ArrangementPenalty
from carrara.results.baselines import BestBaseline, highest
from carrara.results.differences import Difference
from carrara.results.horizon import QUARTERS, HorizonRow
from carrara.results.memories import OUTCOMES, Measure, MemoryRow, Outcome
from carrara.results.pooled import PooledDifference
from carrara.results.readers import SeriesCost, over_tasks
from carrara.results.result import ROUND_STATES, RoundState
from carrara.results.rounds import RoundRow, Survival
from carrara.results.rows import CategoryScore
from carrara.results.ruler import RulerRow
from carrara.results.scores import RECALL, describe_metric
from carrara.results.series import Series
from carrara.results.summary import Summary
from carrara.util.quantities import count, write_length
from carrara.util.sanitize import distinct, short
from carrara.util.table import table

FEW = 24
"""The number of rows above which each task is a row, with a column for each length."""
NONE = "–"
ALL_TASKS = "all"
SHOWN_AGES = (1, 2, 3, 4, 5, 8, 12, 16, 24, 32, 48, 64)
"""The ages that the terminal shows, beside the cliff and the last one. The page has all of them."""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    cell: Callable[[Any], str]
    """The text of a row in this column."""
    is_number: bool = True
    mark: Callable[[Any], str] = lambda row: ""
    """How the page shows the cell: `strong`, `clear`, `trouble` or `none`, or several with spaces between them."""
    only: Literal["", "page", "terminal"] = ""
    """Where the column stands, if not everywhere."""


@dataclass(frozen=True)
class Table:
    """Columns and rows, with the text above and below."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Any]
    remarks: Sequence[str] = ()

    def lines(self) -> Iterator[str]:
        """Yield the lines for the terminal, after an empty one."""
        if self.rows:
            yield from ("", self.title) if self.title else ("",)
            columns = [column for column in self.columns if column.only != "page"]
            cells = ([column.cell(row) for column in columns] for row in self.rows)
            yield from table([column.name for column in columns], cells)
            yield from self.remarks

    @property
    def page_columns(self) -> list[Column]:
        """The columns of the page."""
        return [column for column in self.columns if column.only != "terminal"]


def summary_lines(summary: Summary) -> Iterator[str]:
    """Yield the tables of a summary. Costs are shown if there are readers, and pooled findings if they are clear."""
    yield from score_lines(summary.rows, summary.effective_lengths)
    for shown in (
        ruler_table(summary.ruler),
        finding_table([finding for finding in summary.findings if finding.clear]),
        penalty_table(summary.penalties),
        horizon_table(summary.horizons),
        *memory_tables(summary.memories),
        cliff_table(summary.rounds),
        survival_table(summary.rounds, whole=False),
    ):
        yield from shown.lines()
    if any(cost.reader != WHOLE for cost in summary.costs):
        yield from cost_table(over_tasks(summary.costs)).lines()
    if summary.missing:
        yield from ("", summary.missing)


def score_lines(rows: Sequence[Row], effective: Sequence[EffectiveLength] = ()) -> Iterator[str]:
    """Yield the table of scores.

    Args:
        effective: The effective lengths, one for each model and task; they are shown where one has several lengths.
    """
    if len({(row.task, row.series, row.length) for row in rows}) == len({(row.task, row.series) for row in rows}):
        effective = ()
    if what := describe_metric({row.task: row.metric for row in rows}):
        yield what
    if len(rows) > FEW and len({row.length for row in rows}) > 1 and not any(row.labels for row in rows):
        yield from _grid_lines(rows, effective)
    else:
        lines = score_table(rows).lines()
        next(lines, None)  # the empty one
        yield from lines
        yield from effective_table(effective).lines()
    yield from category_table(score_categories(rows)).lines()


def score_table(rows: Sequence[Row]) -> Table:
    """Return the scores of models in tasks at lengths, or by the values of labels. The page has every count."""
    best = dict(zip(map(id, rows), _trivial(row.stat.best_trivial for row in rows), strict=False))
    columns = [
        *_model_column(rows),
        Column("task", lambda row: short(row.task), is_number=False, only="terminal"),
        _LENGTH,
        *_label_columns(rows),
        Column("score", _score, mark=lambda row: "strong"),
        Column("95 % interval", _score_interval),
        Column("chance", lambda row: f"{row.stat.chance_level:.3f}"),
    ]
    if best:
        columns += [
            Column("trivial", lambda row: best[id(row)], only="terminal"),
            Column("trivial reply", lambda row: _best(row.stat.best_trivial), only="page"),
        ]
    columns += map(_paper_column, dict.fromkeys(name for row in rows for name in row.stat.published))
    columns += map(_recall_column, dict.fromkeys(name for row in rows for name in row.stat.recall))
    if any(row.stat.reasoning for row in rows):
        columns.append(Column("tokens of reasoning", lambda row: rounded(row.stat.reasoning, 0), only="page"))
    columns += [
        Column("contexts", lambda row: f"{row.stat.contexts:,}", only="page"),
        Column("replies", lambda row: f"{row.stat.n:,}", only="page"),
        Column("n", lambda row: str(row.stat.n), only="terminal"),
        Column("answers read", lambda row: f"{row.stat.answers_read:,}"),
        *map(_status_column, [status for status in STATUSES if any(row.stat.others.get(status) for row in rows)]),
    ]
    if any(row.stat.others for row in rows):
        columns.append(
            Column(
                "other replies",
                lambda row: ", ".join(f"{n} {status}" for status, n in row.stat.others.items()),
                only="terminal",
            )
        )
    if any(row.stat.attempts < row.stat.n for row in rows):
        columns += [
            Column("attempts", lambda row: f"{row.stat.attempts:,}", only="page"),
            Column("score of attempts", lambda row: rounded(row.stat.attempts_mean, 3), only="page"),
        ]
    if any(RECALL in row.stat.recall for row in rows):
        columns.append(
            Column(
                "recall",
                lambda row: f"{row.stat.recall[RECALL]:.3f}" if RECALL in row.stat.recall else "",
                only="terminal",
            )
        )
    return Table("", columns, rows)


def _paper_column(name: str) -> Column:
    return Column(f"paper score: {short(name, 30)}", lambda row: rounded(row.stat.published.get(name), 3), only="page")


def _recall_column(name: str) -> Column:
    return Column(f"reader: {name}", lambda row: rounded(row.stat.recall.get(name), 3), only="page")


def _status_column(status: str) -> Column:
    return Column(
        status,
        lambda row: f"{row.stat.others.get(status, 0):,}",
        mark=lambda row: "trouble" if status in row.stat.others else "none",
        only="page",
    )


def effective_table(effective: Sequence[EffectiveLength]) -> Table:
    """Return the effective length for each model and task, or why there is none."""
    columns = [
        *_model_column(effective),
        Column("task", lambda row: short(row.task), is_number=False),
        Column("effective length", str),
        Column("95 % interval, or why there is none", lambda row: row.details, is_number=False),
    ]
    return Table("", columns, effective)


def category_table(scores: Sequence[CategoryScore]) -> Table:
    """Return the means of each category's tasks, if a paper has several."""
    columns = [
        *_model_column(scores),
        Column("category", lambda row: row.category, is_number=False),
        _LENGTH,
        Column("score", lambda row: f"{row.mean:.3f}", mark=lambda row: "strong"),
        Column("95 % interval", lambda row: f"{row.low:.3f}-{row.high:.3f}" if row.attempts else "no attempts"),
        Column("chance", lambda row: f"{row.chance_level:.3f}"),
        Column("tasks", lambda row: str(len(row.tasks)), only="terminal"),
        Column(
            "tasks", lambda row: ", ".join(task.rpartition("/")[2] for task in row.tasks), is_number=False, only="page"
        ),
    ]
    return Table("", columns, scores)


def ruler_table(rows: Sequence[RulerRow]) -> Table:
    """Return RULER's table, in percent as RULER prints it."""
    names = distinct(row.model for row in rows)
    tasks = len(ruler.TASKS)
    columns = [
        Column("model", lambda row: names[row.model], is_number=False),
        Column("score", lambda row: "RULER's" if row.metric else "own", is_number=False),
        Column("tasks", lambda row: f"{tasks - len(row.missing)} of {tasks}"),
        *map(_ruler_column, sorted({length for row in rows for length in row.means})),
        Column("Avg.", lambda row: f"{100 * row.average:.1f}"),
        Column("wAvg. (inc)", lambda row: f"{100 * row.increasing:.1f}"),
        Column("wAvg. (dec)", lambda row: f"{100 * row.decreasing:.1f}"),
    ]
    remarks = [
        f"{len(missing)} of RULER's {tasks} tasks are not in the mean: {', '.join(missing)}"
        for missing in dict.fromkeys(tuple(row.missing) for row in rows if row.missing)
    ]
    title = "RULER's table: the mean of its tasks at each length, and averages over lengths, in percent"
    return Table(title, columns, rows, remarks)


def _ruler_column(length: int) -> Column:
    return Column(write_length(length), lambda row: f"{100 * row.means[length]:.1f}" if length in row.means else "")


def finding_table(findings: Sequence[PooledDifference]) -> Table:
    """Return groups of replies beside the others, over all tasks and lengths."""
    columns = [
        *_model_column(findings),
        Column("group", lambda row: f"{row.label} {row.value}", is_number=False),
        Column("replies", lambda row: f"{row.n:,}"),
        Column("score", lambda row: f"{row.mean:.3f}"),
        Column("others", lambda row: f"{row.others:.3f}"),
        Column("difference", lambda row: f"{row.difference:+.3f}", mark=_clear),
        Column("95 % interval", lambda row: f"{row.low:+.3f} to {row.high:+.3f}"),
    ]
    looked_at = findings[0].looked_at if findings else 0
    title = f"Over all tasks and lengths: clear among {looked_at} groups, intervals corrected for their number"
    return Table(title, columns, findings)


def penalty_table(penalties: Sequence[ArrangementPenalty]) -> Table:
    """Return both scores of each model in the two arrangements, and their paired difference."""
    columns = [
        *_model_column(penalties),
        Column("task", lambda row: short(row.task), is_number=False),
        _LENGTH,
        Column("block", lambda row: f"{row.block:.3f}"),
        Column("riffle", lambda row: f"{row.riffle:.3f}"),
        Column("riffle - block", lambda row: f"{row.difference.mean:+.3f}", mark=lambda row: _clear(row.difference)),
        Column("95 % interval", lambda row: _signed_interval(row.difference)),
        Column("instances", lambda row: f"{row.difference.instances:,}"),
    ]
    title = "Penalty of distance: needed facts evenly apart (riffle), or no filler between them (block), same instances"
    return Table(title, columns, penalties)


def memory_tables(memories: Sequence[MemoryRow]) -> tuple[Table, Table, Table]:
    """Return the outcomes by kind of fact, what memories took and kept, and their clear differences from the first.

    They are for the terminal. The page has tables of its own, with all differences.
    """
    kinds = [_MemoryLine(memory, kind) for memory in memories for kind in memory.kinds]
    occurring = {outcome for line in kinds for outcome in line.entry.counts}
    outcomes = Table(
        "Memories: what became of each kind of fact, as shares of the answers with 95 % intervals",
        [
            *_memory_columns(memories),
            Column("facts", lambda line: line.entry.kind, is_number=False),
            *(_outcome_column(outcome) for outcome in OUTCOMES if outcome in occurring),
            Column("answers", lambda line: f"{line.entry.n:,}"),
        ],
        kinds,
        [_failed(memory) for memory in memories if memory.failed],
    )
    measures = Table(
        "Memories: time, size and cost",
        [
            *_memory_columns(memories),
            Column("measure", lambda line: line.entry[0], is_number=False),
            Column("value", lambda line: three_digits(line.entry[1].value), mark=lambda line: "strong"),
            Column("95 % interval", lambda line: _measure_interval(line.entry[1])),
            Column("n", lambda line: f"{line.entry[1].n:,}"),
        ],
        [_MemoryLine(memory, entry) for memory in memories for entry in memory.measures.items()],
    )
    differences = Table(
        "Memories minus the first of their task, paired: score, private facts, and shares that clearly differ",
        [
            *_memory_columns(memories),
            Column("facts", lambda line: line.entry.kind or "all", is_number=False),
            Column("share", lambda line: line.entry.what, is_number=False),
            Column(
                "difference",
                lambda line: f"{line.entry.difference.mean:+.3f}",
                mark=lambda line: _clear(line.entry.difference),
            ),
            Column("95 % interval", lambda line: _signed_interval(line.entry.difference)),
            Column("instances", lambda line: f"{line.entry.difference.instances:,}"),
        ],
        [_MemoryLine(memory, entry) for memory in memories for entry in memory.differences if entry.is_main],
    )
    return outcomes, measures, differences


@dataclass(frozen=True)
class _MemoryLine:
    """A line of a table about memories: one memory with one of its entries."""

    memory: MemoryRow
    entry: Any

    @property
    def series(self) -> Series:
        return self.memory.series


def _memory_columns(memories: Sequence[MemoryRow]) -> list[Column]:
    task = Column("task", lambda line: short(line.memory.task), is_number=False)
    return [*_model_column(memories), *([task] if len({memory.task for memory in memories}) > 1 else [])]


def _outcome_column(outcome: Outcome) -> Column:
    def cell(line: _MemoryLine) -> str:
        share = line.entry.shares.get(outcome)
        return f"{share.value:.2f} ({share.low:.2f}-{share.high:.2f})" if share else NONE

    return Column(outcome, cell, mark=lambda line: "strong" if outcome == "right" else "")


def _failed(memory: MemoryRow) -> str:
    are = "is" if memory.failed == 1 else "are"
    return f"{count(memory.failed, 'request')} of {short(str(memory.series), 60)} failed and {are} in no share."


def _measure_interval(measure: Measure) -> str:
    if measure.low is None or measure.high is None:
        return NONE
    return f"{three_digits(measure.low)}-{three_digits(measure.high)}"


def three_digits(number: float) -> str:
    """
    >>> three_digits(12345.6), three_digits(0.0123456), three_digits(0)
    ('12,346', '0.0123', '0')
    """
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def horizon_table(rows: Sequence[HorizonRow]) -> Table:
    """Return how long totals stay right in conversations, and how far errors lead on."""
    columns = [
        *_model_column(rows),
        Column("task", lambda row: short(row.task), is_number=False),
        _LENGTH,
        *_label_columns(rows),
        Column("n", lambda row: str(row.conversations)),
        Column("turns", lambda row: str(row.turns)),
        Column("right", lambda row: f"{row.mean_survived:.1f}"),
        Column("half", lambda row: row.written_horizon),
        *map(_quarter_column, range(len(QUARTERS))),
        Column("steps before", lambda row: f"{row.steps_before:.3f}"),
        Column("after", lambda row: rounded(row.steps_after, 3)),
        Column("led on", lambda row: rounded(row.led_on, 3)),
        Column("corrected", lambda row: rounded(row.corrected, 3)),
    ]
    return Table("Conversations: turns before the first error, and steps before and after it", columns, rows)


def _quarter_column(place: int) -> Column:
    return Column(QUARTERS[place], lambda row: f"{row.quarters[place]:.3f}")


class _RowSurvival(NamedTuple):
    series: Series
    task: str
    survival: Survival


def cliff_table(rows: Sequence[RoundRow]) -> Table:
    """Return the cliff, the facts at the end, and the budget of each series on each task."""
    columns = [
        *_model_column(rows),
        Column("task", lambda row: short(row.task) or ALL_TASKS, is_number=False),
        Column("items", lambda row: f"{row.items:,}", only="page"),
        Column("rounds", lambda row: f"{row.rounds:.1f}"),
        Column("cliff", lambda row: row.described_cliff, mark=lambda row: "strong"),
        *map(_last_column, ROUND_STATES),
        Column("tokens left", lambda row: f"{100 * row.share_left:.0f} %"),
    ]
    if any(row.with_budget for row in rows):
        columns.append(Column("within budget", _compliance))
    return Table("Compaction: rounds of an item, the cliff, and the needed facts after the last round", columns, rows)


def _last_column(state: RoundState) -> Column:
    return Column(state, lambda row: _percent(row.last[state], sum(row.last.values())))


def _compliance(row: RoundRow) -> str:
    return f"{row.within_budget:,} of {row.with_budget:,}" if row.with_budget else "–"


def _percent(number: int, total: int) -> str:
    return f"{100 * number / total:.0f} %" if total else "–"


def survival_table(rows: Sequence[RoundRow], *, whole: bool = True) -> Table:
    """Return the share of needed facts that are kept after each number of rounds.

    Args:
        whole: Whether all ages are shown, and each of many tasks.
    """
    ages = [
        _RowSurvival(row.series, row.task, survival)
        for row in rows
        for survival in row.ages
        if whole or survival.age in (*SHOWN_AGES, row.cliff, len(row.ages))
    ]
    if not whole and len(ages) > 2 * FEW:
        ages = [age for age in ages if not age.task] or ages
    columns = [
        *_model_column(ages),
        Column("task", lambda age: short(age.task) or ALL_TASKS, is_number=False),
        Column("rounds", lambda age: str(age.survival.age)),
        Column("kept", lambda age: f"{age.survival.share:.3f}", mark=lambda age: "strong"),
        Column("95 % interval", lambda age: f"{age.survival.low:.3f}-{age.survival.high:.3f}"),
        *map(_state_column, ROUND_STATES[1:]),
        Column("facts", lambda age: f"{age.survival.facts:,}"),
        Column("contexts", lambda age: f"{age.survival.contexts:,}"),
    ]
    return Table("Survival: needed facts that are kept, by the rounds that they have gone through", columns, ages)


def _state_column(state: RoundState) -> Column:
    return Column(state, lambda age: f"{age.survival.states[state] / age.survival.facts:.3f}")


def cost_table(costs: Sequence[SeriesCost]) -> Table:
    """Return what each reader cost at each length, and what became of the needed facts."""
    columns = [
        *_model_column(costs),
        _LENGTH,
        Column("score", lambda row: f"{row.scores / row.items:.3f}", mark=lambda row: "strong", only="page"),
        Column("calls", lambda row: f"{row.per_item.calls:.1f}"),
        Column("tokens in", lambda row: rounded(row.per_item.input_tokens, 0)),
        Column("cached", lambda row: rounded(row.per_item.cached_tokens, 0), only="page"),
        Column("tokens out", lambda row: rounded(row.per_item.output_tokens, 0)),
        Column("longest call", lambda row: f"{row.peak_tokens:,}"),
        Column("seconds", lambda row: rounded(row.per_item.seconds, 1), only="page"),
        Column("tokens for a right answer", lambda row: rounded(_right(row, "tokens"), 0)),
        Column("seconds for a right answer", lambda row: rounded(_right(row, "seconds"), 1), only="page"),
    ]
    if any(cost.total.money is not None for cost in costs):
        columns += [
            Column("cost", lambda row: money(row.per_item.money)),
            Column("cost of a right answer", lambda row: money(_right(row, "money"))),
        ]
    columns += [
        Column("items", lambda row: f"{row.items:,}", only="page"),
        Column("needed facts", _fates, is_number=False, only="terminal"),
    ]
    return Table("Cost of readers, for an item:", columns, costs)


def _right(cost: SeriesCost, name: str) -> Any:
    """Return what a right answer took. None: there is no right answer, or it is not known."""
    return cost.per_right_answer and getattr(cost.per_right_answer, name)


def money(amount: float | None) -> str:
    """
    >>> money(0.00123456), money(None)
    ('0.00123', '–')
    """
    return NONE if amount is None else f"{amount:,.3g}"


def rounded(number: float | None, digits: int) -> str:
    """Return a number with some digits behind the point. None is a dash.

    >>> rounded(1234.5678, 1), rounded(0.25, 3), rounded(None, 3)
    ('1,234.6', '0.250', '–')
    """
    return NONE if number is None else f"{number:,.{digits}f}"


def _clear(row: Any) -> str:
    return "clear strong" if row.clear else "strong"


def _signed_interval(difference: Difference) -> str:
    if difference.low is None or difference.high is None:
        return NONE
    return f"{difference.low:+.3f} to {difference.high:+.3f}"


def _fates(cost: SeriesCost) -> str:
    """Return the shares of the fates that occur."""
    total = sum(cost.fates.values())
    return ", ".join(f"{fate} {100 * n / total:.0f} %" for fate, n in cost.fates.items() if n)


def _model_column(rows: Iterable[Any]) -> list[Column]:
    names = distinct(str(row.series) for row in rows)
    return [Column("model", lambda row: names[str(row.series)], is_number=False)]


def _label_columns(rows: Sequence[Any]) -> list[Column]:
    return list(map(_label_column, dict.fromkeys(label for row in rows for label in row.labels)))


def _label_column(label: str) -> Column:
    return Column(label, lambda row: short(row.labels.get(label, ""), 40), is_number=False)


def _score(row: Row) -> str:
    return f"{row.stat.mean:.3f}" if row.stat.scored else NONE


def _score_interval(row: Row) -> str:
    if row.stat.scored and not row.stat.attempts:
        return "no attempts"
    return f"{row.stat.low:.3f}-{row.stat.high:.3f}" if row.stat.scored else row.stat.unscored


_LENGTH = Column("length", lambda row: write_length(row.length))


def _grid_lines(rows: Sequence[Row], effective: Sequence[EffectiveLength]) -> Iterator[str]:
    """Yield a grid of scores by task and length for each series, with the mean of tasks, effective lengths and recall.

    The best trivial reply at any length stands beside the chance level.
    """
    lengths = sorted({row.length for row in rows})
    names = distinct(str(row.series) for row in rows)
    for series in dict.fromkeys(row.series for row in rows):
        stats = {(row.task, row.length): row.stat for row in rows if row.series == series}
        tasks = list(dict.fromkeys(task for task, _ in stats))
        chance_levels = [
            f"{next(stat.chance_level for (name, _), stat in stats.items() if name == task):.3f}" for task in tasks
        ]
        means = {cell: f"{stat.mean:.3f}" if stat.scored else stat.unscored for cell, stat in stats.items()}
        recalls = {cell: f"{stat.recall[RECALL]:.3f}" for cell, stat in stats.items() if RECALL in stat.recall}
        counts = sorted({stat.n for stat in stats.values()})
        yield f"{names[str(series)]}, {_items(counts[0], counts[-1])} each"
        trivial = _trivial(highest(s.best_trivial for (name, _), s in stats.items() if name == task) for task in tasks)
        baseline_columns = {"chance": chance_levels, **({"trivial": trivial} if trivial else {})}
        grid = list(_grid(means, tasks, lengths))
        effective_of = {length.task: str(length) for length in effective if length.series == series}
        for n, line in enumerate(grid):
            line[1:1] = [column[n] if n < len(tasks) else "" for column in baseline_columns.values()]
            if effective_of:
                line.append(effective_of[tasks[n]] if n < len(tasks) else "")
        last = ["effective length"] if effective_of else []
        yield from table(["task", *baseline_columns, *map(write_length, lengths), *last], grid)
        if recalls:
            yield "recall, how often all that the answer is read from was found"
            yield from table(["task", *map(write_length, lengths)], _grid(recalls, tasks, lengths))
        others = Counter[str]()
        for stat in stats.values():
            others.update(stat.others)
        if others:
            statuses = ", ".join(f"{n:,} {status}" for status, n in others.items())
            total = count(sum(stat.n for stat in stats.values()), "reply")
            yield f"no answer was read from {others.total():,} of {total} ({statuses}); the report has them all"


def _items(least: int, most: int) -> str:
    return count(most, "item") if least == most else f"{least:,} to {most:,} items"


def _grid(values: Mapping[tuple[str, int], str], tasks: Sequence[str], lengths: Sequence[int]) -> Iterator[list[str]]:
    """Yield a line for each task, and one of means over the tasks."""
    for task in tasks:
        yield [short(task), *(values.get((task, length), "") for length in lengths)]
    if len(tasks) > 1:
        numbers = {at: float(value) for at, value in values.items() if value[:1].isdigit()}
        columns = [[numbers[task, length] for task in tasks if (task, length) in numbers] for length in lengths]
        means = (f"{sum(column) / len(column):.3f}" if len(column) == len(tasks) else "" for column in columns)
        yield [f"mean of {len(tasks)}", *means]


def _trivial(best: Iterable[BestBaseline | None]) -> list[str]:
    """Return the column of best trivial replies, with the names of those above 0. Empty if no row has one."""
    baselines = list(best)
    if not any(baselines):
        return []
    names = [short(reply.shown_name, 30) if reply else "" for reply in baselines]
    width = max(map(len, names))  # all of one width, because the table aligns numbers to the right
    return [f"{reply.score:.3f} {name:<{width}}" if reply else "" for reply, name in zip(baselines, names, strict=True)]


def _best(reply: BestBaseline | None) -> str:
    return f"{reply.score:.3f} {short(reply.shown_name, 40)}".rstrip() if reply else NONE
