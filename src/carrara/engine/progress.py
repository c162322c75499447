"""One line that says how a run goes: a bar for people, a line now and then where stdout is no terminal.

    412/1500 answered · 3 errors · server trouble: APIConnectionError, asking again

Inspect's own display is off (`display="none"`): it shows one bar a task, and a run has a hundred tasks.
"""

import time
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager, nullcontext
from typing import TypeVar

import rich
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from carrara.errors import RunError

T = TypeVar("T")

LINE_EVERY = 30.0
"""Seconds between two lines where there is no terminal."""

TROUBLE_SHOWN = 5.0
"""Seconds that a failed attempt is worth mentioning."""


_SHOWN: list["Progress"] = []
"""The progress that is on show, if any: solvers and models, which report to it, are made by Inspect."""


def answered(id: str) -> None:
    for shown in _SHOWN:
        shown.answered(id)


def failed(id: str) -> None:
    for shown in _SHOWN:
        shown.failed(id)


def troubled(error: Exception) -> None:
    if isinstance(error, RunError):
        return  # this machine's trouble, such as a full disk; its row says so
    for shown in _SHOWN:
        shown.troubled(error)


class Progress:
    """Counts what ends; all calls come from the event loop's thread."""

    def __init__(self, total: int, left: Set[str], console: Console) -> None:
        """`left` are the items to ask; the others, whose replies are known, may pass by and count no second time."""
        self.total, self.done, self.errors = total, total - len(left), 0
        self.left = set(left)
        self.console = console
        self.trouble: tuple[float, str] | None = None
        self.printed = time.monotonic()
        self.bar: Bar | None = None
        if console.is_terminal:
            columns = (
                BarColumn(None),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.description}"),
            )
            self.bar = Bar(*columns, console=console, expand=True)
            self.bar.add_task("", total=total, completed=self.done)

    def answered(self, id: str) -> None:
        if id in self.left:
            self.left.remove(id)
            self.done += 1
            self.show(ended=not self.left)

    def failed(self, id: str) -> None:
        if id in self.left:
            self.left.remove(id)
            self.errors += 1
            self.show(ended=not self.left)

    def troubled(self, error: Exception) -> None:
        """An attempt failed; Inspect asks again if that is worth it."""
        self.trouble = time.monotonic(), type(error).__name__
        self.show()

    def note(self) -> str:
        parts = [f"{self.errors} errors"] if self.errors else []
        if self.trouble and time.monotonic() - self.trouble[0] < TROUBLE_SHOWN:
            parts.append(f"server trouble: {self.trouble[1]}, asking again")
        return " · ".join(parts)

    def show(self, ended: bool = False) -> None:
        if self.bar:
            self.bar.update(self.bar.task_ids[0], completed=self.done, description=self.note())
        elif ended or time.monotonic() - self.printed >= LINE_EVERY:
            self.printed = time.monotonic()
            self.console.print(" · ".join(filter(None, (f"{self.done}/{self.total} answered", self.note()))))


def preparing(tests: Sequence[T], console: Console | None = None) -> Iterator[T]:
    """The tests of a run, one after the other, while their prompts are prepared, of which there may be thousands."""
    console = console or Console(stderr=True)
    columns = TextColumn("preparing prompts"), BarColumn(None), MofNCompleteColumn(), TimeElapsedColumn()
    printed = time.monotonic()
    with Bar(*columns, console=console, expand=True, transient=True, disable=not console.is_terminal) as bar:
        for done, test in enumerate(bar.track(tests)):
            if not console.is_terminal and time.monotonic() - printed >= LINE_EVERY:
                printed = time.monotonic()
                console.print(f"preparing prompts: {done} of {len(tests)} tests", highlight=False)
            yield test


@contextmanager
def progress(total: int, left: Set[str], about: str, console: Console | None = None) -> Iterator[Progress]:
    """Show progress on a console of its own while the shared one, which Inspect prints to, keeps quiet."""
    shared = rich.get_console()
    counter = Progress(total, left, console or Console(stderr=True))
    counter.console.print(about, highlight=False)
    before, shared.quiet = shared.quiet, True
    _SHOWN.append(counter)
    try:
        with counter.bar or nullcontext():
            yield counter
    finally:
        _SHOWN.remove(counter)
        shared.quiet = before
