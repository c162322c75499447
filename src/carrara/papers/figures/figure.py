"""A figure as data: its values, and the form in which they are drawn. Commands, notebooks and files share it.

`picture.py` draws figures.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from carrara.util.quantities import natural, write_length
from carrara.util.table import table

Form = Literal["curves", "heat", "bars", "stack", "matrix", "scatter", "dots", "histogram", "radar"]
"""The forms of figures: lines along x; a grid of models by x; bars beside or on top of each other; a grid of pairs;
points by two numbers; points with their medians; counts; an outline over categories."""
Kind = Literal["lengths", "numbers", "names"]

MOST_COLUMNS = 16
"""The number of values of x up to which each has a column of the table."""


@dataclass(frozen=True)
class Mark:
    """One value of a figure, of one model."""

    model: str
    x: float | str
    value: float
    panel: str = ""
    """The panel of the figure that it belongs to."""
    part: str = ""
    """The difference from other marks of its model at this x."""
    low: float | None = None
    high: float | None = None
    """The upper end of its 95 % interval, which begins at `low`."""
    n: int | None = None
    published: bool = False
    """Whether a paper prints it, by that paper's metric."""
    label: str = ""
    """The text beside it."""


@dataclass(frozen=True)
class Figure:
    """A figure as data: its values, and the form in which they are drawn."""

    name: str
    """The name of the figure, such as `babilong-2`."""
    title: str
    """The title above the figure."""
    form: Form
    """The form in which the values are drawn."""
    marks: Sequence[Mark]
    """The values."""
    x_label: str = "length"
    """The label of the x-axis."""
    y_label: str = "score"
    """The label of the y-axis."""
    x_kind: Kind = "lengths"
    """The kind of the values of x."""
    levels: Mapping[str, float] = field(default_factory=dict[str, float])
    """Horizontal lines, by name."""
    notes: Sequence[str] = ()
    """Sentences below the figure."""
    order: Sequence[str] = ()
    """The order of the names of x, if it is not that of the marks."""
    maximum: float | None = 1.0
    """The greatest possible value. None if there is none."""

    @property
    def panels(self) -> list[str]:
        """The names of the panels, in the order of the marks."""
        return list(dict.fromkeys(mark.panel for mark in self.marks))

    @property
    def columns(self) -> list[float | str]:
        """The values of x: numbers in ascending order, names in the order of the marks."""
        values = dict.fromkeys(mark.x for mark in self.marks)
        if self.order:
            return [name for name in self.order if name in values]
        return list(values) if self.x_kind == "names" else sorted(values, key=float)

    def format_x(self, x: float | str) -> str:
        """Return a value of x as text for people.

        Args:
            x: The value.

        Returns:
            The text.

        Examples:
            >>> import carrara
            >>> carrara.figure("babilong-2").format_x(4096)
            '4k'
        """
        if isinstance(x, str):
            return x
        return write_length(int(x)) if self.x_kind == "lengths" else f"{x:g}"

    def records(self) -> list[dict[str, Any]]:
        """Return the values as rows of a data frame, of CSV or of JSON.

        Returns:
            A dictionary for each value.

        Examples:
            >>> import carrara
            >>> carrara.figure("minerva-2").records()[0]["published"]
            True
        """
        names = {"model": "model", "panel": "panel", "part": "part", "x": self.x_label, "value": self.y_label}
        records = []
        for mark in self.marks:
            record: dict[str, Any] = {}
            for attribute, name in names.items():
                if attribute in ("model", "x", "value") or any(getattr(mark, attribute) for mark in self.marks):
                    record[name] = getattr(mark, attribute)
            records.append(record | {"low": mark.low, "high": mark.high, "n": mark.n, "published": mark.published})
        return records

    def frame(self) -> Any:
        """Return the values as a pandas data frame.

        Returns:
            A `pandas.DataFrame` with a row for each value.

        Examples:
            >>> import carrara
            >>> bool(carrara.figure("minerva-2").frame()["published"].all())
            True
        """
        from carrara.util.table import frame

        return frame(self.records())

    def __str__(self) -> str:
        return "\n".join(self.lines_of_text())

    def lines_of_text(self) -> Iterator[str]:
        """Yield the title, a table and the notes. The table is a grid of models by x, if x has few values.

        Examples:
            >>> import carrara
            >>> next(carrara.figure("minerva-2").lines_of_text())
            'Minerva: search'
        """
        yield self.title
        if len(self.columns) <= MOST_COLUMNS and self.form not in ("scatter", "histogram"):
            yield from self._grid()
        else:
            yield from self._list()
        yield from self.notes

    @property
    def _heads(self) -> list[str]:
        """The columns that distinguish series: those for which any mark has a value."""
        return [
            "model",
            *(attribute for attribute in ("panel", "part") if any(getattr(mark, attribute) for mark in self.marks)),
        ]

    def _series(self, mark: Mark) -> tuple[str, ...]:
        model = f"{mark.model} (published)" if mark.published else mark.model
        return model, *(getattr(mark, head) for head in self._heads[1:])

    def _grid(self) -> Iterator[str]:
        rows: dict[tuple[str, ...], dict[float | str, str]] = {}
        for mark in self.marks:
            rows.setdefault(self._series(mark), {})[mark.x] = self._value(mark)
        columns = self.columns
        yield from table(
            [*self._heads, *map(self.format_x, columns)],
            [[*series, *(cells.get(x, "") for x in columns)] for series, cells in rows.items()],
        )

    def _list(self) -> Iterator[str]:
        marks = sorted(self.marks, key=lambda mark: [natural(part) for part in self._series(mark)])
        yield from table(
            [*self._heads, self.x_label, self.y_label],
            [[*self._series(mark), self.format_x(mark.x), self._value(mark)] for mark in marks],
        )

    def _value(self, mark: Mark) -> str:
        return mark.label or (f"{mark.value:.3f}" if self.maximum == 1 else f"{mark.value:g}")
