"""The tables of results, for the terminal and the page.

With many rows, the terminal has a grid of tasks by lengths in place of the table of scores.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from carrara.answers.status import STATUSES
from carrara.constants import WHOLE
from carrara.report.reader_tables import cliff_table, cost_table, memory_tables, speed_table, survival_table
from carrara.report.table import (
    FEW,
    LENGTH,
    NONE,
    Column,
    Table,
    clear,
    label_columns,
    model_column,
    rounded,
    signed_interval,
)
from carrara.results import EffectiveLength, Row, ruler, score_categories
from carrara.results.arrangements import ArrangementPenalty
from carrara.results.baselines import BestBaseline, highest
from carrara.results.cards import BesideCard, CardRow, ColumnScore, PrintedRow
from carrara.results.horizon import QUARTERS, HorizonRow
from carrara.results.likelihood import LikelihoodRow
from carrara.results.nolima import NolimaRow
from carrara.results.pooled import PooledDifference
from carrara.results.readers import over_tasks
from carrara.results.rows import CategoryScore
from carrara.results.ruler import RulerRow
from carrara.results.rules_held import HeldHorizon, HeldShare, RulesHeldRow
from carrara.results.scores import RECALL, describe_metric, title_of_score
from carrara.results.series import Series
from carrara.results.summary import Summary
from carrara.util.quantities import count, write_length
from carrara.util.sanitize import distinct, short
from carrara.util.table import table


def summary_lines(summary: Summary) -> Iterator[str]:
    """Yield the tables of a summary. Costs are shown if there are readers, and pooled findings if they are clear."""
    yield from score_lines(summary.rows, summary.effective_lengths)
    for shown in (
        ruler_table(summary.ruler),
        nolima_table(summary.nolima),
        *map(card_table, summary.beside_cards),
        speed_table(summary.speed),
        finding_table([finding for finding in summary.findings if finding.clear]),
        penalty_table(summary.penalties),
        likelihood_table(summary.likelihoods),
        likelihood_table(summary.sliced_likelihoods),
        horizon_table(summary.horizons),
        *rules_held_tables(summary.rules_held),
        *memory_tables(summary.memories),
        cliff_table(summary.rounds),
        survival_table(summary.rounds, whole=False),
    ):
        yield from shown.lines()
    if any(cost.reader != WHOLE for cost in summary.costs):
        yield from cost_table(over_tasks(summary.costs)).lines()
    if summary.unfit:
        yield from ("", *summary.unfit)
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
        *model_column(rows),
        Column("task", lambda row: short(row.task), is_number=False, only="terminal"),
        LENGTH,
        *label_columns(rows),
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
    return Column(title_of_score(name), lambda row: rounded(row.stat.published.get(name), 3), only="page")


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
        *model_column(effective),
        Column("task", lambda row: short(row.task), is_number=False),
        Column("effective length", str),
        Column("95 % interval, or why there is none", lambda row: row.details, is_number=False),
    ]
    return Table("", columns, effective)


def category_table(scores: Sequence[CategoryScore]) -> Table:
    """Return the means of each category's tasks, if a paper has several."""
    columns = [
        *model_column(scores),
        Column("category", lambda row: row.category, is_number=False),
        LENGTH,
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
        *(
            _mean_column(length, write_length(length))
            for length in sorted({length for row in rows for length in row.means})
        ),
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


def nolima_table(rows: Sequence[NolimaRow]) -> Table:
    """Return NoLiMa's table, in percent as NoLiMa prints it."""
    names = distinct(row.model for row in rows)
    columns = [
        Column("model", lambda row: names[row.model], is_number=False),
        Column("task", lambda row: row.task, is_number=False),
        Column("effective", _nolima_length),
        Column("base", lambda row: "" if row.base is None else f"{100 * row.base:.1f}"),
        Column("× 0.85", lambda row: "" if row.base is None else f"{85 * row.base:.1f}"),
        *(_mean_column(length, f"{length:,}") for length in sorted({length for row in rows for length in row.means})),
    ]
    incomplete = any(row.base is None for row in rows)
    remarks = ["a base score needs 250, 500 and 1,000 tokens: `--lengths 250,500,1000,…`"] if incomplete else []
    title = "NoLiMa's table: effective length, base score and scores at each length, by its own score and in percent"
    return Table(title, columns, rows, remarks)


def _nolima_length(row: NolimaRow) -> str:
    if row.base is None:
        return ""
    return "< 1,000" if row.effective_length is None else f"{row.effective_length:,}"


def _mean_column(length: int, head: str) -> Column:
    return Column(head, lambda row: f"{100 * row.means[length]:.1f}" if length in row.means else "")


def card_table(beside: BesideCard) -> Table:
    """Return the scores of the run and those that a model card prints, in percent."""
    card = beside.card
    names = distinct(str(row.series) for row in beside.rows)
    sources = list(dict.fromkeys(row.source for row in card.printed))
    columns = [
        Column("model", lambda row: row.model if isinstance(row, PrintedRow) else names[str(row.series)], False),
        *map(_card_column, beside.columns),
        Column("from", lambda row: _source_of(row, sources), is_number=False),
    ]
    remarks = [
        *(f"{number}: {source}" for number, source in enumerate(sources, 1)),
        *beside.missing,
        *(f"Differs: {sentence}" for sentence in beside.differs),
    ]
    title = f"Beside the card: {card.maker}, {card.benchmark}, by its rule (paper score `{card.rule}`) and in percent"
    return Table(title, columns, [*beside.rows, *card.printed], remarks)


def _card_column(name: str) -> Column:
    def cell(row: CardRow | PrintedRow) -> str:
        score = row.scores.get(name)
        if isinstance(score, ColumnScore):
            return f"{100 * score.mean:.1f} ({100 * score.low:.0f}-{100 * score.high:.0f})"
        return NONE if score is None else f"{score:.1f}" if round(score, 1) == score else f"{score:g}"

    return Column(name, cell, mark=lambda row: "" if isinstance(row, PrintedRow) else "strong")


def _source_of(row: CardRow | PrintedRow, sources: Sequence[str]) -> str:
    if isinstance(row, PrintedRow):
        return str(1 + sources.index(row.source))
    return "this run, generated" if row.generated else "this run, files"


def finding_table(findings: Sequence[PooledDifference]) -> Table:
    """Return groups of replies beside the others, over all tasks and lengths."""
    columns = [
        *model_column(findings),
        Column("group", lambda row: f"{row.label} {row.value}", is_number=False),
        Column("replies", lambda row: f"{row.n:,}"),
        Column("score", lambda row: f"{row.mean:.3f}"),
        Column("others", lambda row: f"{row.others:.3f}"),
        Column("difference", lambda row: f"{row.difference:+.3f}", mark=clear),
        Column("95 % interval", lambda row: f"{row.low:+.3f} to {row.high:+.3f}"),
    ]
    looked_at = findings[0].looked_at if findings else 0
    title = f"Over all tasks and lengths: clear among {looked_at} groups, intervals corrected for their number"
    return Table(title, columns, findings)


def penalty_table(penalties: Sequence[ArrangementPenalty]) -> Table:
    """Return both scores of each model in the two arrangements, and their paired difference."""
    columns = [
        *model_column(penalties),
        Column("task", lambda row: short(row.task), is_number=False),
        LENGTH,
        Column("block", lambda row: f"{row.block:.3f}"),
        Column("riffle", lambda row: f"{row.riffle:.3f}"),
        Column("riffle - block", lambda row: f"{row.difference.mean:+.3f}", mark=lambda row: clear(row.difference)),
        Column("95 % interval", lambda row: signed_interval(row.difference)),
        Column("instances", lambda row: f"{row.difference.instances:,}"),
    ]
    title = "Penalty of distance: needed facts evenly apart (riffle), or no filler between them (block), same instances"
    return Table(title, columns, penalties)


def likelihood_table(rows: Sequence[LikelihoodRow]) -> Table:
    """Return how often the right answer is the most probable one, and its log-likelihood, in each condition."""
    names = dict.fromkeys(name for row in rows for name in row.conditions)
    columns = [
        *model_column(rows),
        Column("task", lambda row: short(row.task), is_number=False),
        LENGTH,
        *label_columns(rows),
        Column("chance", lambda row: f"{row.chance_level:.3f}"),
        *map(_accuracy_column, names),
        *map(_logprob_column, names),
        Column("gain", lambda row: f"{row.gain.mean:+.2f}" if row.gain else NONE, mark=_gain_mark),
        Column("95 % interval", _gain_interval),
        Column("instances", lambda row: f"{row.gain.instances:,}" if row.gain else NONE),
        Column("rivals", lambda row: row.rivals, is_number=False),
    ]
    by = ", by needed facts and their distance" if any(row.labels for row in rows) else ""
    title = f"Likelihood: how often the right answer is the most probable, and its log-likelihood in nats{by}"
    return Table(title, columns, rows)


def _accuracy_column(name: str) -> Column:
    def cell(row: LikelihoodRow) -> str:
        found = row.conditions.get(name)
        return f"{found.accuracy:.3f} ({found.low:.2f}-{found.high:.2f})" if found else NONE

    return Column(name, cell, mark=lambda row: "strong")


def _logprob_column(name: str) -> Column:
    def cell(row: LikelihoodRow) -> str:
        return f"{row.conditions[name].logprob:.2f}" if name in row.conditions else NONE

    return Column(f"nats, {name}", cell)


def _gain_mark(row: LikelihoodRow) -> str:
    return clear(row.gain) if row.gain else "strong"


def _gain_interval(row: LikelihoodRow) -> str:
    if row.gain is None or row.gain.low is None or row.gain.high is None:
        return NONE
    return f"{row.gain.low:+.2f} to {row.gain.high:+.2f}"


def horizon_table(rows: Sequence[HorizonRow]) -> Table:
    """Return how long totals stay right in conversations, and how far errors lead on."""
    columns = [
        *model_column(rows),
        Column("task", lambda row: short(row.task), is_number=False),
        LENGTH,
        *label_columns(rows),
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


class _HeldLine(NamedTuple):
    """A turn and an age of the same number."""

    series: Series
    task: str
    length: int
    turn: HeldShare
    age: HeldShare | None


def rules_held_tables(rows: Sequence[RulesHeldRow]) -> tuple[Table, Table]:
    """Return how long rules are held in conversations, and the curves by turn and by age."""
    columns = [
        *model_column(rows),
        Column("task", lambda row: short(row.task), is_number=False),
        LENGTH,
        Column("n", lambda row: str(row.conversations)),
        Column("turns", lambda row: str(row.turns)),
        *map(_score_column, rows[0].scores[0] if rows else ()),
        Column("half, turns", lambda row: str(HeldHorizon.of(row.by_turn))),
        Column("half, ages", lambda row: str(HeldHorizon.of(row.by_age))),
    ]
    lines = [
        _HeldLine(row.series, row.task, row.length, turn, row.at_age(turn.number))
        for row in rows
        for turn in row.by_turn
    ]
    curves = [
        *model_column(lines),
        Column("task", lambda line: short(line.task), is_number=False),
        LENGTH,
        Column("turn or age", lambda line: str(line.turn.number)),
        *_held_columns("turn", lambda line: line.turn),
        *_held_columns("age", lambda line: line.age),
    ]
    return (
        Table(
            "Rules in conversations: means of all turns, and the turn and the age of half the rules",
            columns,
            rows,
        ),
        Table("Rules that are held, by turn, and by the replies since a rule was given", curves, lines),
    )


def _score_column(name: str) -> Column:
    return Column(name, lambda row: f"{row.mean(name):.3f}")


def _held_columns(name: str, held: Callable[[_HeldLine], HeldShare | None]) -> Iterator[Column]:
    def write(line: _HeldLine, form: Callable[[HeldShare], str]) -> str:
        share = held(line)
        return form(share) if share else NONE

    yield Column(f"by {name}", lambda line: write(line, lambda share: f"{share.share:.3f}"))
    yield Column("95 % interval", lambda line: write(line, lambda share: f"{share.low:.3f}-{share.high:.3f}"))
    yield Column("rules", lambda line: write(line, lambda share: f"{share.rules:,}"))


def _score(row: Row) -> str:
    return f"{row.stat.mean:.3f}" if row.stat.scored else NONE


def _score_interval(row: Row) -> str:
    if row.stat.scored and not row.stat.attempts:
        return "no attempts"
    return f"{row.stat.low:.3f}-{row.stat.high:.3f}" if row.stat.scored else row.stat.unscored


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
