"""Scores by label: which kinds of question a context hurts."""

from collections.abc import Sequence
from dataclasses import dataclass

from carrara.core.natsort import natural
from carrara.core.result import Result
from carrara.results.analysis import Row, Stat, summarize
from carrara.results.analysis.evidence_bins import placed
from carrara.results.analysis.summary import label_names
from carrara.results.sanitize import short
from carrara.results.style import SeriesStyle, Styles

VALUES = 24
"""Values of a label that a table has room for."""


@dataclass(frozen=True)
class Line:
    style: SeriesStyle
    value: str
    cells: tuple[Stat | None, ...]


@dataclass(frozen=True)
class Slice:
    """One label of one test: a line for each series and value, a column for each length."""

    label: str
    lengths: tuple[int, ...]
    groups: tuple[tuple[SeriesStyle, tuple[Line, ...]], ...]
    left_out: int
    """Values that are not shown."""


def slices(results: Sequence[Result], styles: Styles) -> list[Slice]:
    """Of the results of one test."""
    own = placed(results)
    found = []
    for label in label_names(own):
        values = sorted({result.labels.get(label, "") for result in own}, key=natural)
        if len(values) > 1:
            found.append(_slice(label, values, summarize(own, [label]), styles))
    return found


def _slice(label: str, values: Sequence[str], rows: Sequence[Row], styles: Styles) -> Slice:
    lengths = sorted({row.length for row in rows})
    cells = {(row.series, row.labels[label], row.length): row.stat for row in rows if row.stat.scored}
    shown = values[:VALUES]
    present = [(series, style) for series, style in styles.items() if any(row.series == series for row in rows)]
    groups = tuple(
        (
            style,
            tuple(
                Line(style, short(value, 40) or "none", tuple(cells.get((series, value, length)) for length in lengths))
                for value in shown
            ),
        )
        for series, style in present
    )
    return Slice(short(label, 40), tuple(lengths), groups, len(values) - len(shown))
