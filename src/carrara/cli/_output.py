"""Writing to people: tables and progress."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A plain table: numbers to the right, no colours, so that it can be piped."""
    cells = [list(columns), *(list(row) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    for n, row in enumerate(cells):
        shown = [
            text.rjust(width) if n and text[:1].isdigit() else text.ljust(width)
            for text, width in zip(row, widths, strict=True)
        ]
        print("  ".join(shown).rstrip())
        if n == 0:
            print("  ".join("-" * width for width in widths))


def progress(steps: Iterable[T], total: int, what: str) -> Iterator[T]:
    """The steps, with a bar on stderr where somebody is watching."""
    if not sys.stderr.isatty() or total < 2:
        yield from steps
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(steps, total=total, description=what, console=Console(stderr=True), transient=True)
