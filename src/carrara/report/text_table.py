"""Results as text: a row for each task and length; with many rows, a grid of tasks by lengths."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from carrara.constants import WHOLE
from carrara.results import EffectiveLength, Row, ruler, score_categories
from carrara.results.arrangements import ArrangementPenalty
from carrara.results.baselines import BestBaseline, highest
from carrara.results.differences import Difference
from carrara.results.horizon import QUARTERS, HorizonRow
from carrara.results.pooled import PooledDifference
from carrara.results.readers import SeriesCost, Spending, over_tasks
from carrara.results.ruler import RulerRow
from carrara.results.scores import RECALL, describe_metric
from carrara.results.summary import Summary
from carrara.util.quantities import count, write_length
from carrara.util.sanitize import distinct, short
from carrara.util.table import table

FEW = 24
"""The number of rows above which each task is a row, with a column for each length."""


def summary_lines(summary: Summary) -> Iterator[str]:
    """Yield the tables of a summary. Costs are shown if there are readers, and pooled findings if they are clear."""
    yield from score_lines(summary.rows, summary.effective_lengths)
    yield from _ruler_lines(summary.ruler)
    yield from _finding_lines(summary.findings)
    yield from _penalty_lines(summary.penalties)
    yield from _horizon_lines(summary.horizons)
    yield from _cost_lines(summary.costs)
    if summary.missing:
        yield from ("", summary.missing)


def score_lines(rows: Sequence[Row], effective: Sequence[EffectiveLength] = ()) -> Iterator[str]:
    """Yield the table of scores.

    Args:
        rows: The rows, one for each model, task and length, or for each value of labels.
        effective: The effective lengths, one for each model and task; they are shown where one has several lengths.
    """
    if len({(row.task, row.series, row.length) for row in rows}) == len({(row.task, row.series) for row in rows}):
        effective = ()
    if what := describe_metric({row.task: row.metric for row in rows}):
        yield what
    if len(rows) > FEW and len({row.length for row in rows}) > 1 and not any(row.labels for row in rows):
        yield from _grid_lines(rows, effective)
    else:
        yield from _row_lines(rows)
        yield from _effective_lines(effective)
    yield from _category_lines(rows)


def _effective_lines(effective: Sequence[EffectiveLength]) -> Iterator[str]:
    """Return the effective length for each model and task, or why there is none."""
    if not effective:
        return
    names = distinct(str(one.series) for one in effective)
    yield ""
    yield from table(
        ["model", "task", "effective length", "95 % interval, or why there is none"],
        [(names[str(one.series)], short(one.task), str(one), one.details) for one in effective],
    )


def _category_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Return means of the tasks of each category, if a paper has several."""
    if not (scores := score_categories(rows)):
        return
    names = distinct(str(row.series) for row in rows)
    yield ""
    yield from table(
        ["model", "category", "length", "score", "95 % interval", "chance", "tasks"],
        [
            (
                names[str(score.series)],
                score.category,
                write_length(score.length),
                f"{score.mean:.3f}",
                f"{score.low:.3f}-{score.high:.3f}",
                f"{score.chance_level:.3f}",
                str(len(score.tasks)),
            )
            for score in scores
        ],
    )


def _ruler_lines(rows: Sequence[RulerRow]) -> Iterator[str]:
    """Return RULER's table, in percent as RULER prints it."""
    if not rows:
        return
    lengths = sorted({length for row in rows for length in row.means})
    names = distinct(row.model for row in rows)
    yield from ("", "RULER's table: the mean of its tasks at each length, and averages over lengths, in percent")
    yield from table(
        ["model", "score", "tasks", *map(write_length, lengths), "Avg.", "wAvg. (inc)", "wAvg. (dec)"],
        [
            (
                names[row.model],
                "RULER's" if row.metric else "own",
                f"{len(ruler.TASKS) - len(row.missing)} of {len(ruler.TASKS)}",
                *(f"{100 * row.means[length]:.1f}" if length in row.means else "" for length in lengths),
                *(f"{100 * mean:.1f}" for mean in (row.average, row.increasing, row.decreasing)),
            )
            for row in rows
        ],
    )
    for missing in dict.fromkeys(tuple(row.missing) for row in rows if row.missing):
        yield f"{len(missing)} of RULER's {len(ruler.TASKS)} tasks are not in the mean: {', '.join(missing)}"


def _finding_lines(findings: Sequence[PooledDifference]) -> Iterator[str]:
    """Return the groups of replies that differ clearly from the others, over all tasks and lengths."""
    if not (clear := [finding for finding in findings if finding.clear]):
        return
    names = distinct(str(finding.series) for finding in clear)
    yield ""
    yield f"Over all tasks and lengths: clear among {clear[0].looked_at} groups, intervals corrected for their number"
    yield from table(
        ["model", "group", "replies", "score", "others", "difference", "95 % interval"],
        [
            (
                names[str(finding.series)],
                f"{finding.label} {finding.value}",
                f"{finding.n:,}",
                f"{finding.mean:.3f}",
                f"{finding.others:.3f}",
                f"{finding.difference:+.3f}",
                f"{finding.low:+.3f} to {finding.high:+.3f}",
            )
            for finding in clear
        ],
    )


def _penalty_lines(penalties: Sequence[ArrangementPenalty]) -> Iterator[str]:
    """Return both scores of each model in the two arrangements, and their paired difference."""
    if not penalties:
        return
    names = distinct(str(one.series) for one in penalties)
    yield from (
        "",
        "Penalty of distance: needed facts evenly apart (riffle), or no filler between them (block), same instances",
    )
    yield from table(
        ["model", "task", "length", "block", "riffle", "riffle - block", "95 % interval", "instances"],
        [
            (
                names[str(one.series)],
                short(one.task),
                write_length(one.length),
                f"{one.block:.3f}",
                f"{one.riffle:.3f}",
                f"{one.difference.mean:+.3f}",
                _signed_interval(one.difference),
                str(one.difference.instances),
            )
            for one in penalties
        ],
    )


def _signed_interval(difference: Difference) -> str:
    if difference.low is None or difference.high is None:
        return "–"
    return f"{difference.low:+.3f} to {difference.high:+.3f}"


def _horizon_lines(rows: Sequence[HorizonRow]) -> Iterator[str]:
    """Return how long totals stay right in conversations, and how far errors lead on."""
    if not rows:
        return
    names = distinct(str(row.series) for row in rows)
    labels = list(dict.fromkeys(label for row in rows for label in row.labels))
    yield from ("", "Conversations: turns before the first error, and steps before and after it")
    yield from table(
        ["model", "task", "length", *labels, "n", "turns", "right", "half", *QUARTERS,
         "steps before", "after", "led on", "corrected"],
        [
            (
                names[str(row.series)],
                short(row.task),
                write_length(row.length),
                *(short(row.labels.get(label, ""), 40) for label in labels),
                str(row.conversations),
                str(row.turns),
                f"{row.mean_survived:.1f}",
                row.written_horizon,
                *(f"{share:.3f}" for share in row.quarters),
                f"{row.steps_before:.3f}",
                *("–" if share is None else f"{share:.3f}" for share in (row.steps_after, row.led_on, row.corrected)),
            )
            for row in rows
        ],
    )  # fmt: skip


def _cost_lines(costs: Sequence[SeriesCost]) -> Iterator[str]:
    """Return what each reader cost at each length, over its tasks, and what became of the needed facts."""
    if all(cost.reader == WHOLE for cost in costs):
        return
    names = distinct(str(cost.series) for cost in costs)
    has_money = any(cost.total.money is not None for cost in costs)
    yield from ("", "Cost of readers, for an item:")
    yield from table(
        ["model", "length", "calls", "tokens in", "tokens out", "longest call", "tokens for a right answer",
         *(["cost", "cost of a right answer"] if has_money else []), "needed facts"],
        [
            (
                names[str(cost.series)],
                write_length(cost.length),
                f"{cost.per_item.calls:.1f}",
                f"{cost.per_item.input_tokens:,.0f}",
                "–" if cost.per_item.output_tokens is None else f"{cost.per_item.output_tokens:,.0f}",
                f"{cost.peak_tokens:,}",
                f"{cost.per_right_answer.tokens:,.0f}" if cost.per_right_answer else "–",
                *(map(_money, (cost.per_item, cost.per_right_answer)) if has_money else []),
                _fates(cost),
            )
            for cost in over_tasks(costs)
        ],
    )  # fmt: skip


def _money(spent: Spending | None) -> str:
    """
    >>> _money(Spending(1, 900, 10, 0, 0.5, 0.00123456))
    '0.00123'
    """
    return "–" if spent is None or spent.money is None else f"{spent.money:,.3g}"


def _fates(cost: SeriesCost) -> str:
    """Return the shares of the fates that occur."""
    total = sum(cost.fates.values())
    return ", ".join(f"{fate} {100 * n / total:.0f} %" for fate, n in cost.fates.items() if n)


def _grid_lines(rows: Sequence[Row], effective: Sequence[EffectiveLength]) -> Iterator[str]:
    """Return a grid of scores by task and length for each series, with the mean of tasks, effective lengths and recall.

    The best trivial reply at any length stands beside the chance level.
    """
    lengths = sorted({row.length for row in rows})
    names = distinct(str(row.series) for row in rows)
    for series in dict.fromkeys(row.series for row in rows):
        own = {(row.task, row.length): row.stat for row in rows if row.series == series}
        tasks = list(dict.fromkeys(task for task, _ in own))
        chance_levels = [
            f"{next(stat.chance_level for (name, _), stat in own.items() if name == task):.3f}" for task in tasks
        ]
        means = {at: f"{stat.mean:.3f}" if stat.scored else stat.unscored for at, stat in own.items()}
        recalls = {at: f"{stat.recall[RECALL]:.3f}" for at, stat in own.items() if RECALL in stat.recall}
        counts = sorted({stat.n for stat in own.values()})
        yield f"{names[str(series)]}, {_items(counts[0], counts[-1])} each"
        trivial = _trivial(highest(s.best_trivial for (name, _), s in own.items() if name == task) for task in tasks)
        beside = {"chance": chance_levels, **({"trivial": trivial} if trivial else {})}
        grid = list(_grid(means, tasks, lengths))
        held = {one.task: str(one) for one in effective if one.series == series}
        for n, line in enumerate(grid):
            line[1:1] = [column[n] if n < len(tasks) else "" for column in beside.values()]
            if held:
                line.append(held[tasks[n]] if n < len(tasks) else "")
        shown = ["effective length"] if held else []
        yield from table(["task", *beside, *map(write_length, lengths), *shown], grid)
        if recalls:
            yield "recall, how often all that the answer is read from was found"
            yield from table(["task", *map(write_length, lengths)], _grid(recalls, tasks, lengths))
        others = Counter[str]()
        for stat in own.values():
            others.update(stat.others)
        if others:
            said = ", ".join(f"{n:,} {status}" for status, n in others.items())
            total = count(sum(stat.n for stat in own.values()), "reply")
            yield f"no answer was read from {others.total():,} of {total} ({said}); the report has them all"


def _items(least: int, most: int) -> str:
    return count(most, "item") if least == most else f"{least:,} to {most:,} items"


def _grid(values: Mapping[tuple[str, int], str], tasks: Sequence[str], lengths: Sequence[int]) -> Iterator[list[str]]:
    """Return a line for each task, and one of means over the tasks."""
    for task in tasks:
        yield [short(task), *(values.get((task, length), "") for length in lengths)]
    if len(tasks) > 1:
        numbers = {at: float(value) for at, value in values.items() if value[:1].isdigit()}
        columns = [[numbers[task, length] for task in tasks if (task, length) in numbers] for length in lengths]
        means = (f"{sum(column) / len(column):.3f}" if len(column) == len(tasks) else "" for column in columns)
        yield [f"mean of {len(tasks)}", *means]


def _row_lines(rows: Sequence[Row]) -> Iterator[str]:
    names = distinct(str(row.series) for row in rows)
    trivial = _trivial(row.stat.best_trivial for row in rows)
    labels = list(dict.fromkeys(label for row in rows for label in row.labels))
    columns = ["model", "task", "length", *labels]
    columns += ["score", "95 % interval", "chance", *(["trivial"] if trivial else [])]
    others = any(row.stat.others for row in rows)
    columns += ["n", "answers read", *(["other replies"] if others else [])]
    retrieved = any(RECALL in row.stat.recall for row in rows)
    yield from table(
        [*columns, "recall"] if retrieved else columns,
        [
            (
                names[str(row.series)],
                short(row.task),
                write_length(row.length),
                *(short(row.labels.get(label, ""), 40) for label in labels),
                f"{row.stat.mean:.3f}" if row.stat.scored else "–",
                f"{row.stat.low:.3f}-{row.stat.high:.3f}" if row.stat.scored else row.stat.unscored,
                f"{row.stat.chance_level:.3f}",
                *([trivial[n]] if trivial else []),
                str(row.stat.n),
                str(row.stat.answers_read),
                *([", ".join(f"{n} {status}" for status, n in row.stat.others.items())] if others else []),
                *([f"{row.stat.recall[RECALL]:.3f}" if RECALL in row.stat.recall else ""] if retrieved else []),
            )
            for n, row in enumerate(rows)
        ],
    )


def _trivial(best: Iterable[BestBaseline | None]) -> list[str]:
    """Return the column of best trivial replies, with the names of those above 0. Empty if no row has one."""
    found = list(best)
    if not any(found):
        return []
    names = [short(one.said, 30) if one else "" for one in found]
    width = max(map(len, names))  # all of one width, because the table aligns numbers to the right
    return [f"{one.score:.3f} {name:<{width}}" if one else "" for one, name in zip(found, names, strict=True)]
