"""Scores by label: which kinds of question a context hurts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrara.core.order import natural
from carrara.core.result import Result
from carrara.results.analysis import Row, Series, Stat, summarize
from carrara.results.analysis.evidence_bins import placed
from carrara.results.analysis.summary import label_names
from carrara.results.sanitize import short
from carrara.results.style import Face

VALUES = 24
"""Values of a label that a table has room for."""


@dataclass(frozen=True)
class Line:
    face: Face
    value: str
    cells: tuple[Stat | None, ...]


@dataclass(frozen=True)
class Slice:
    """One label of one test: a line for each series and value, a column for each length."""

    label: str
    lengths: tuple[int, ...]
    groups: tuple[tuple[Face, tuple[Line, ...]], ...]
    left_out: int
    """Values that are not shown."""


def slices(results: Sequence[Result], faces: Mapping[Series, Face]) -> list[Slice]:
    """Of the results of one test."""
    own = placed(results)
    found = []
    for label in label_names(own):
        values = sorted({result.labels.get(label, "") for result in own}, key=natural)
        if len(values) > 1:
            found.append(_slice(label, values, summarize(own, [label]), faces))
    return found


def _slice(label: str, values: Sequence[str], rows: Sequence[Row], faces: Mapping[Series, Face]) -> Slice:
    lengths = sorted({row.length for row in rows})
    cells = {(row.series, row.labels[label], row.length): row.stat for row in rows if row.stat.scored}
    shown = values[:VALUES]
    present = [(series, face) for series, face in faces.items() if any(row.series == series for row in rows)]
    groups = tuple(
        (
            face,
            tuple(
                Line(face, short(value, 40) or "none", tuple(cells.get((series, value, length)) for length in lengths))
                for value in shown
            ),
        )
        for series, face in present
    )
    return Slice(short(label, 40), tuple(lengths), groups, len(values) - len(shown))
