"""A comparison as text, as records, and as a page."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from markupsafe import Markup

from carrara.report.chart import Interval, forest_plot
from carrara.report.table import NONE, Column, Table
from carrara.results.comparison import Comparison, Comparisons
from carrara.results.paired_test import FEWEST
from carrara.util.files import whole_file
from carrara.util.quantities import write_length
from carrara.util.sanitize import distinct, short

CORRECTED = (
    "In a table with several rows, p and the intervals are corrected for their number (Holm): each interval has the "
    "level at which its row was tested, 95 % or more, and leaves out 0 exactly where the second is better or worse."
)
DRAWN = 60
"""The most differences of two sides that are drawn. The tables show all."""


def comparison_lines(comparisons: Comparisons, margin: float | None) -> Iterator[str]:
    """Yield the verdicts, followed by the tables."""
    names = distinct(comparisons.sides)
    yield from verdicts(comparisons, names, margin)
    shown = tables(comparisons, names, margin)
    for table in shown:
        yield from table.lines()
    if any(is_corrected(table.rows) for table in shown):
        yield from ("", CORRECTED)
    if len(comparisons.sides) > 2 and comparisons.groups:
        yield ""
        yield "Not told apart over all: " + "; ".join(
            " = ".join(names[name] for name in group) for group in comparisons.groups
        )
    if comparisons.refused:
        yield from ("", *(f"Not compared: {sentence}." for sentence in comparisons.refused))


def tables(comparisons: Comparisons, names: dict[str, str], margin: float | None) -> list[Table]:
    """Return the tables, without those that would repeat another one."""
    has_no_lengths = all(row.length == 0 for row in comparisons.lengths)
    one_length = len({row.length for row in comparisons.lengths}) == 1
    pooled = len(comparisons.lengths) > len(comparisons.tasks)
    shown = [
        ("At each length, over its tasks", [] if one_length else comparisons.across),
        ("By task" if has_no_lengths else "At each length", comparisons.lengths),
        ("Over all lengths", comparisons.tasks if pooled else []),
        ("Over all tasks, each of which counts the same", [row for row in comparisons.overall if not row.task]),
    ]
    has_tokens = comparisons.by == "reader"
    return [comparison_table(f"{title}:", rows, names, margin, has_tokens=has_tokens) for title, rows in shown if rows]


def is_corrected(rows: Sequence[Comparison]) -> bool:
    """Return whether the p-values and intervals of a table are corrected for its number of comparisons."""
    return len(rows) > 1


def verdicts(comparisons: Comparisons, names: dict[str, str], margin: float | None) -> Iterator[str]:
    """Yield a sentence for each two sides: where they differ, at each length over its tasks or in its only task."""
    for pair in dict.fromkeys((row.first, row.second) for row in comparisons.lengths):
        first, second = (names[side] for side in pair)
        pooled = [row for row in comparisons.overall or comparisons.tasks if (row.first, row.second) == pair]
        pair_rows = [row for row in comparisons.across or comparisons.lengths if (row.first, row.second) == pair]
        clear = [row for row in pair_rows if row.verdict() in ("better", "worse")]
        changes = [
            f"{row.verdict()}{_where(row)} by {abs(row.difference):.2f} ({row.low:+.2f} to {row.high:+.2f})"
            for row in clear
        ]
        rest = ", ".join(_where(row).strip() or "over all" for row in pair_rows if row not in clear)
        if clear:
            yield f"Beside {first}, {second} is {'; '.join(changes)}{f'; not told apart {rest}' if rest else ''}."
            continue
        smallest = [row.smallest for row in pair_rows if row.smallest]
        least = f"; differences from {min(smallest):.2f} on would mostly have shown" if smallest else ""
        if all(row.too_few for row in pair_rows):
            least = f"; with fewer than {FEWEST} instances no difference can be"
        is_not_worse = bool(pooled) and all(row.verdict(margin) == "not worse" for row in pooled)
        margined = f", and {second} is not worse by {margin:g}" if is_not_worse else ""
        yield f"{first} and {second} are not told apart{margined}{least}."


def _where(row: Comparison) -> str:
    task = f" in {short(row.task)}" if row.task else ""
    return f" at {write_length(row.length)}{task}" if row.length is not None else task


def comparison_table(
    title: str, rows: Sequence[Comparison], names: dict[str, str], margin: float | None, *, has_tokens: bool
) -> Table:
    """Return a table of differences. For two sides alone, the terminal has a column with the scores of each."""
    sides = {(row.first, row.second) for row in rows}
    heads = [names[rows[0].first], names[rows[0].second]] if len(sides) == 1 else ["first", "second"]
    columns = [Column("task", lambda row: short(row.task) or f"all {row.tasks}", is_number=False)]
    if any(row.length for row in rows):
        columns.append(Column("length", lambda row: write_length(row.length or 0)))
    columns += [
        Column("first", lambda row: names[row.first], is_number=False, only="page"),
        Column("second", lambda row: names[row.second], is_number=False, only="page"),
        Column(
            heads[0],
            lambda row: ("" if len(sides) == 1 else f"{names[row.first]} ") + f"{row.one:.3f}",
            only="terminal",
        ),
        Column(
            heads[1],
            lambda row: ("" if len(sides) == 1 else f"{names[row.second]} ") + f"{row.other:.3f}",
            only="terminal",
        ),
        Column("first scores", lambda row: f"{row.one:.3f}", only="page"),
        Column("second scores", lambda row: f"{row.other:.3f}", only="page"),
        Column("difference", lambda row: f"{row.difference:+.3f}", mark=lambda row: "strong"),
        Column(
            "interval" if is_corrected(rows) else "95 % interval",
            lambda row: NONE if row.low is None or row.high is None else f"{row.low:+.3f} to {row.high:+.3f}",
        ),
        Column("p", lambda row: _p(row.holm)),
        Column("would show", lambda row: NONE if row.smallest is None else f"{row.smallest:.3f}"),
        Column("instances", lambda row: f"{row.instances:,}"),
        Column(
            "the second is",
            lambda row: row.verdict(margin),
            is_number=False,
            mark=lambda row: "strong" if row.verdict(margin) in ("better", "worse") else "",
        ),
    ]
    if has_tokens:
        columns.append(Column("tokens for an item", lambda row: f"{row.one_tokens:,.0f} and {row.other_tokens:,.0f}"))
    return Table(title, columns, rows)


def write_comparison(comparisons: Comparisons, margin: float | None, path: Path, title: str = "") -> None:
    """Write the page: the text, and a chart of the differences of each two sides."""
    from carrara.report.html import render_page

    names = distinct(comparisons.sides)
    pairs = list(dict.fromkeys((row.first, row.second) for row in comparisons.lengths))
    charts = []
    for first, second in pairs:
        pair_rows = [row for row in comparisons.lengths if (row.first, row.second) == (first, second)]
        label = f"{names[second]} beside {names[first]}"
        charts.append((label, _chart(label, pair_rows[:DRAWN], margin)))
    kind = "model" if comparisons.by == "run" else comparisons.by
    page = render_page(
        "compare.html",
        title or (charts[0][0] if len(charts) == 1 else f"{len(comparisons.sides)} {kind}s beside each other"),
        comparisons=comparisons,
        kind=kind,
        names=names,
        margin=margin,
        verdicts=list(verdicts(comparisons, names, margin)),
        by_length=any(row.length for row in comparisons.lengths),
        tables=tables(comparisons, names, margin),
        note=CORRECTED,
        charts=charts,
    )
    with whole_file(path) as file:
        file.write(page)


def _chart(title: str, rows: Sequence[Comparison], margin: float | None) -> Markup:
    intervals = [
        Interval(
            row.task or "all tasks", row.length, row.difference, row.low, row.high, row.verdict() in ("better", "worse")
        )
        for row in rows
    ]
    about = "; ".join(f"{row.task or 'all'} {row.difference:+.2f}" for row in rows[:6])
    return forest_plot(title, about, intervals, margin)


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def comparison_record(comparisons: Comparisons, margin: float | None) -> dict[str, Any]:
    def record(row: Comparison) -> dict[str, Any]:
        named = {name: value for name, value in asdict(row).items() if name != "changes"}
        return {**named, "task": row.task or None, "difference": row.difference, "verdict": row.verdict(margin)}

    return {
        "sides": comparisons.sides,
        "by": comparisons.by,
        "lengths": list(map(record, comparisons.lengths)),
        "across": list(map(record, comparisons.across)),
        "tasks": list(map(record, comparisons.tasks)),
        "overall": list(map(record, comparisons.overall)),
        "groups": comparisons.groups,
        "refused": comparisons.refused,
    }
