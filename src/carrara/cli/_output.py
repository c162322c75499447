"""Writing to people: tables and progress."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from carrara.core import table as core

if TYPE_CHECKING:
    from carrara.results.analysis import Row
    from carrara.results.analysis.partial import Part

T = TypeVar("T")


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    for line in core.table(columns, rows):
        print(line)


def print_summary(rows: "Sequence[Row]", parts: "Sequence[Part]" = ()) -> None:
    """What results came to."""
    from carrara.results.report.lines import lines

    for line in lines(rows, parts):
        print(line)


def progress(steps: Iterable[T], total: int, what: str) -> Iterator[T]:
    """The steps, with a bar on stderr where somebody is watching."""
    if not sys.stderr.isatty() or total == 1:
        yield from steps
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(steps, total=total, description=what, console=Console(stderr=True), transient=True)
