"""A table: columns and rows. The terminal and the page draw the same columns."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from carrara.results.differences import Difference
from carrara.util.quantities import write_length
from carrara.util.sanitize import distinct, short
from carrara.util.table import table

FEW = 24
"""The number of rows above which the terminal shows a table in fewer ones."""
NONE = "–"
ALL_TASKS = "all"


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


def rounded(number: float | None, digits: int) -> str:
    """Return a number with some digits behind the point. None is a dash.

    >>> rounded(1234.5678, 1), rounded(0.25, 3), rounded(None, 3)
    ('1,234.6', '0.250', '–')
    """
    return NONE if number is None else f"{number:,.{digits}f}"


def clear(row: Any) -> str:
    return "clear strong" if row.clear else "strong"


def signed_interval(difference: Difference) -> str:
    if difference.low is None or difference.high is None:
        return NONE
    return f"{difference.low:+.3f} to {difference.high:+.3f}"


def model_column(rows: Iterable[Any]) -> list[Column]:
    names = distinct(str(row.series) for row in rows)
    return [Column("model", lambda row: names[str(row.series)], is_number=False)]


def label_columns(rows: Sequence[Any]) -> list[Column]:
    return list(map(_label_column, dict.fromkeys(label for row in rows for label in row.labels)))


def _label_column(label: str) -> Column:
    return Column(label, lambda row: short(row.labels.get(label, ""), 40), is_number=False)


LENGTH = Column("length", lambda row: write_length(row.length))
