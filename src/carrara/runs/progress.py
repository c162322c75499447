"""Progress of a run: the answered items, the waiting requests, and problems.

    412 of 1,500 answered · 3 errors · 20 waiting, the longest for 34 s · 1,213,004 tokens · about 12 min left
    … · trouble: the server answered 503 (loading), asking again

Inspect's own display is off (`display="none"`): it shows one bar for each task, and a run has a hundred tasks.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

import rich
from rich.console import Console

from carrara.runs import budget
from carrara.servers.retry import RetryTrouble
from carrara.util.progress import Progress, make_console, show_progress
from carrara.util.quantities import duration

T = TypeVar("T")

TROUBLE_SHOWN = 5.0
"""Seconds for which a bar shows a failed attempt. In line mode, a line shows the last failure since the line before."""

PATIENT = 10.0
"""Seconds after which the waiting time of the oldest request is shown."""

_SHOWN: list["RunProgress"] = []
"""The active progress display. Solvers and models report to it, and Inspect makes them."""


def on_answer(id: str) -> None:
    for shown in _SHOWN:
        shown.on_answer(id)


def on_failure(id: str) -> None:
    for shown in _SHOWN:
        shown.on_failure(id)


def on_drop(id: str) -> None:
    for shown in _SHOWN:
        shown.on_drop(id)


def on_request(id: str) -> None:
    for shown in _SHOWN:
        shown.waiting[id] = time.monotonic()


def on_end(id: str) -> None:
    for shown in _SHOWN:
        shown.waiting.pop(id, None)


def on_trouble(trouble: RetryTrouble, again: bool) -> None:
    for shown in _SHOWN:
        shown.on_trouble(trouble, again)


class RunProgress(Progress):
    """A counter of the items of a run. All calls except those of the clock come from the thread of the event loop.

    Args:
        left: The tokens of each item to ask. Replies to the others are known, and do not count again.
    """

    def __init__(self, total: int, left: Mapping[str, int], console: Console) -> None:
        super().__init__("answered", total, done=total - len(left), console=console, lasting=True)
        self.left = dict(left)
        self.errors = 0
        self.tokens = 0
        self.waiting: dict[str, float] = {}
        """The time at which each unanswered request was sent."""
        self._asked = len(left)
        self._trouble: tuple[float, str] | None = None

    def on_answer(self, id: str) -> None:
        if id in self.left:
            self.tokens += self.left.pop(id)
            self.advance()
            self.show(final=not self.left)

    def on_failure(self, id: str) -> None:
        if id in self.left:
            del self.left[id]
            self.errors += 1
            self.show(final=not self.left)

    def on_drop(self, id: str) -> None:
        """Stop expecting a reply, because the budget has no room for it."""
        self.left.pop(id, None)

    def on_trouble(self, trouble: RetryTrouble, again: bool) -> None:
        """Show a failed attempt, which may be made again."""
        self._trouble = time.monotonic(), f"{trouble.words}, {'asking again' if again else 'given up'}"
        self.show()

    def notes(self) -> Iterator[str]:
        now = time.monotonic()
        if self.errors:
            yield f"{self.errors:,} errors"
        if sent_at := list(self.waiting.values()):
            oldest = now - min(sent_at)
            yield f"{len(sent_at)} waiting" + (f", the longest for {duration(oldest)}" if oldest >= PATIENT else "")
        if self.tokens:
            yield f"{self.tokens:,} tokens"
        if used := budget.current().describe():
            yield used
        if self._trouble and self._trouble[0] >= (now - TROUBLE_SHOWN if self.is_bar else self.shown_at):
            yield f"trouble: {self._trouble[1]}"

    def seconds_left(self) -> float | None:
        """Return the estimated time left. It is proportional to tokens, which determine the time of a request."""
        left, ended = sum(self.left.values()) + len(self.left), self._asked - len(self.left)
        return self.seconds * left / (self.tokens + ended) if ended >= 3 else None


def preparing(jobs: Sequence[T], console: Console | None = None) -> Iterator[T]:
    """Yield the jobs of a run while their prompts are prepared, of which there may be thousands."""
    console = console or make_console(quiet=True)
    return show_progress(jobs, len(jobs), "tasks", label="preparing prompts", console=console)


@contextmanager
def progress(total: int, left: Mapping[str, int], about: str, console: Console | None = None) -> Iterator[RunProgress]:
    """Show progress, while the console that Inspect prints to is silent."""
    shared = rich.get_console()
    shown = RunProgress(total, left, console or make_console(quiet=True))
    shown.console.print(about, soft_wrap=True)
    before, shared.quiet = shared.quiet, True
    _SHOWN.append(shown)
    try:
        with shown:
            yield shown
    finally:
        _SHOWN.remove(shown)
        shared.quiet = before
