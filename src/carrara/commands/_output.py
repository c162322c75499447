"""Writing to people: tables, progress, files that are whole or not there."""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

from carrara.errors import UsageError

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


@contextmanager
def whole_file(path: Path) -> Iterator[IO[str]]:
    """A file that appears only when it is complete: a full disk or a kill leaves no half of it behind."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder: give the name of a file")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename in (None, str(partial)):
            error.filename = str(path)
        partial.unlink(missing_ok=True)
        raise
