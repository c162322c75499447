"""Write figures to files.

The ending of the name determines the format: a picture, a page with a table, or the values.
"""

import csv
import json
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path

from markupsafe import Markup

from carrara.papers.figures.figure import Figure
from carrara.papers.figures.picture import svg
from carrara.util.errors import RunError, UsageError, nearest
from carrara.util.sanitize import visible


def save(figure: Figure, path: Path) -> Path:
    """Write a figure, and return its path."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise UsageError(f"a figure is no {path.suffix or 'file without an ending'}{nearest(kind, KINDS)}; "
                         f"name a file that ends with {', '.join(f'.{kind}' for kind in KINDS)}")  # fmt: skip
    content = KINDS[kind](figure)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise RunError(f"{path} cannot be written: {error.strerror or error}; name another file") from None
    return path


def is_figure(head: bytes, figure: Figure, path: Path) -> bool:
    """Return whether a file begins like one that `save` writes for this figure.

    It may be a table of the same columns, or any picture.

    Args:
        head: The first bytes of the file.
    """
    match path.suffix.lower():
        case ".csv":
            return head.partition(b"\n")[0] == _csv(figure).partition(b"\n")[0]
        case ".json":
            return head.startswith(b'{\n  "figure": ')
        case _:
            return _MARK in head


_MARK = b"carrara figure"
"""The signature in pictures and pages that this module wrote."""


def _svg(figure: Figure) -> bytes:
    return svg(figure).encode().replace(b">", b"><!-- %s -->" % _MARK, 1)


def _json(figure: Figure) -> bytes:
    return (json.dumps(about(figure), ensure_ascii=False, indent=2) + "\n").encode()


def about(figure: Figure) -> dict[str, object]:
    """Return the whole figure for JSON."""
    return {
        "figure": figure.name,
        "title": figure.title,
        "notes": list(figure.notes),
        "levels": dict(figure.levels),
        "values": figure.records(),
    }


def _csv(figure: Figure) -> bytes:
    records, text = figure.records(), StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _as_cell(value) for name, value in record.items()} for record in records)
    return text.getvalue().encode()


def _as_cell(value: object) -> object:
    """Return a value for a table that may be opened in a spreadsheet, which takes some texts for formulas."""
    if not isinstance(value, str):
        return value
    return visible(f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value)


def _html(figure: Figure) -> bytes:
    """Return a page without scripts or network access: the picture, and its values as a table."""
    from carrara.report.html import render_page

    records = figure.records()
    names = [name for name in records[0] if name != "published"]
    page = render_page(
        "figure.html",
        figure.title,
        picture=Markup(svg(figure, is_file=False)),  # all text is escaped
        names=names,
        rows=[(record["published"], [_cell(record[name], name, figure) for name in names]) for record in records],
    )
    return page.encode()


def _cell(value: object, name: str, figure: Figure) -> str:
    if value is None:
        return ""
    if name == figure.x_label and isinstance(value, (int, float)):
        return figure.format_x(value)
    return f"{value:.3f}" if isinstance(value, float) else str(value)


KINDS: Mapping[str, Callable[[Figure], bytes]] = {"svg": _svg, "html": _html, "csv": _csv, "json": _json}
