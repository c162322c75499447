"""A plain table as lines, with numbers to the right and without colours, so that it can be piped.

`html` renders it for a notebook.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from carrara.util.errors import RunError


def frame(records: Sequence[Mapping[str, object]]) -> Any:
    try:
        import pandas
    except ImportError:
        raise RunError("a data frame needs pandas: pip install pandas") from None
    return pandas.DataFrame(list(records))


class TableLine(str):
    """A line of a table that knows its cells."""

    cells: tuple[str, ...]
    """The cells. Empty for the rule below the column names."""

    def __new__(cls, text: str, cells: Iterable[str] = ()) -> "TableLine":
        line = super().__new__(cls, text)
        line.cells = tuple(cells)
        return line


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[TableLine]:
    """
    >>> for line in table(["task", "n"], [["qa1", "12"]]):
    ...     print(line)
    task  n
    ----  --
    qa1   12
    """
    cells = [list(columns), *(list(row) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    for n, row in enumerate(cells):
        shown = [
            text.rjust(width) if n and _is_number(text) else text.ljust(width)
            for text, width in zip(row, widths, strict=True)
        ]
        yield TableLine("  ".join(shown).rstrip(), row)
        if n == 0:
            yield TableLine("  ".join("-" * width for width in widths))


def html(lines: Iterable[str]) -> str:
    """Render lines as HTML: lines of `table` become a table, and each other line a paragraph.

    >>> html(["two & three", *table(["task"], [["qa1"]])]).splitlines()[:2]
    ['<p>two &amp; three</p>', '<table>']
    """
    parts: list[str] = []
    for is_table, run in groupby(lines, lambda line: isinstance(line, TableLine)):
        if is_table:
            parts += _tables([line for line in run if isinstance(line, TableLine)])
        else:
            parts += [f"<p>{escape(line)}</p>" for line in run if line.strip()]
    return "\n".join(parts)


def _tables(lines: Sequence[TableLine]) -> Iterator[str]:
    """Yield the tables among these lines. Each begins with its column names and a rule."""
    starts = [n - 1 for n, line in enumerate(lines) if not line.cells]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        head, _, *body = lines[start:end]
        yield "<table>"
        yield f"<thead>{_row('th', head.cells, 'left')}</thead>"
        yield "<tbody>"
        yield from (_row("td", line.cells) for line in body)
        yield "</tbody>"
        yield "</table>"


def _row(tag: str, cells: Iterable[str], align: str = "") -> str:
    def cell(text: str) -> str:
        side = align or ("right" if _is_number(text) else "left")
        return f'<{tag} style="text-align:{side}">{escape(text.strip())}</{tag}>'

    return f"<tr>{''.join(map(cell, cells))}</tr>"


def _is_number(text: str) -> bool:
    return text[:1].isdigit()
