"""A figure: what it shows, value by value, and how. The command, the notebook and every file draw the same one.

It is drawn elsewhere (drawing.py): to make one, and to print it, takes no library of charts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from carrara.core.lengths import write_length
from carrara.core.natsort import natural
from carrara.core.table import table

Form = Literal["curves", "heat", "bars", "stack", "matrix", "scatter", "dots", "histogram", "radar"]
"""How marks are drawn: lines along x; a grid of models by x; bars beside each other, or on top; a grid of pairs; points
by two numbers; points with their medians; counts; an outline over categories."""
Axis = Literal["lengths", "numbers", "names"]

WIDE = 16
"""Values of x that a table has columns for."""


@dataclass(frozen=True)
class Mark:
    """One value of a figure, of one model."""

    model: str
    x: float | str
    value: float
    panel: str = ""
    """The part of the figure that it stands in."""
    part: str = ""
    """What tells it from other marks of its model at this place."""
    low: float | None = None
    high: float | None = None
    """Its 95 % interval."""
    n: int | None = None
    published: bool = False
    """Printed by a paper, by that paper's metric."""
    label: str = ""
    """What is written beside it."""


@dataclass(frozen=True)
class Figure:
    name: str
    title: str
    form: Form
    marks: Sequence[Mark]
    across: str = "length"
    """What x is."""
    up: str = "score"
    axis: Axis = "lengths"
    lines: Mapping[str, float] = field(default_factory=dict[str, float])
    """Levels that mean something, by name."""
    notes: Sequence[str] = ()
    """Sentences that belong under it."""
    order: Sequence[str] = ()
    """Of names of x, where it is not that of the marks."""
    top: float | None = 1.0
    """The greatest value there can be; none where there is no such value."""

    @property
    def panels(self) -> list[str]:
        return list(dict.fromkeys(mark.panel for mark in self.marks))

    @property
    def columns(self) -> list[float | str]:
        """The values of x: numbers in their order, names in that of the marks."""
        found = dict.fromkeys(mark.x for mark in self.marks)
        if self.order:
            return [name for name in self.order if name in found]
        return list(found) if self.axis == "names" else sorted(found, key=float)

    def said(self, x: float | str) -> str:
        """A value of x, as people read it."""
        if isinstance(x, str):
            return x
        return write_length(int(x)) if self.axis == "lengths" else f"{x:g}"

    def records(self) -> list[dict[str, Any]]:
        """Each value with its name: what a data frame, CSV or JSON has."""
        named = {"model": "model", "panel": "panel", "part": "part", "x": self.across, "value": self.up}
        found = []
        for mark in self.marks:
            record: dict[str, Any] = {}
            for own, name in named.items():
                if own in ("model", "x", "value") or any(getattr(other, own) for other in self.marks):
                    record[name] = getattr(mark, own)
            found.append(record | {"low": mark.low, "high": mark.high, "n": mark.n, "published": mark.published})
        return found

    def frame(self) -> Any:
        """Its values as a pandas data frame."""
        from carrara.results.to_pandas import frame

        return frame(self.records())

    def __str__(self) -> str:
        return "\n".join(self.lines_of_text())

    def lines_of_text(self) -> Iterator[str]:
        """A title, a table and the notes: a grid of models by x, where x has few values."""
        yield self.title
        grid = len(self.columns) <= WIDE and self.form not in ("scatter", "histogram")
        yield from self._grid() if grid else self._list()
        yield from self.notes

    def _named(self, mark: Mark) -> tuple[str, ...]:
        """What stands before the values of a line: only what any line has."""
        parts = [f"{mark.model} (published)" if mark.published else mark.model]
        parts += [part for own in ("panel", "part") if any(getattr(m, own) for m in self.marks)
                  for part in [getattr(mark, own)]]  # fmt: skip
        return tuple(parts)

    def _heads(self) -> list[str]:
        return ["model", *(own for own in ("panel", "part") if any(getattr(mark, own) for mark in self.marks))]

    def _grid(self) -> Iterator[str]:
        rows: dict[tuple[str, ...], dict[float | str, str]] = {}
        for mark in self.marks:
            rows.setdefault(self._named(mark), {})[mark.x] = mark.label or self._number(mark.value)
        columns = self.columns
        yield from table(
            [*self._heads(), *map(self.said, columns)],
            [[*name, *(cells.get(x, "") for x in columns)] for name, cells in rows.items()],
        )

    def _list(self) -> Iterator[str]:
        marks = sorted(self.marks, key=lambda mark: [natural(part) for part in self._named(mark)])
        yield from table(
            [*self._heads(), self.across, self.up],
            [[*self._named(mark), self.said(mark.x), mark.label or self._number(mark.value)] for mark in marks],
        )

    def _number(self, value: float) -> str:
        return f"{value:.3f}" if self.top == 1 else f"{value:g}"
