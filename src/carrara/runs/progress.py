"""How a run goes: a bar for people, and where they have no terminal a line at least every half a minute.

    412 of 1,500 answered · 3 errors · 20 waiting, the longest for 34 s · 1,213,004 tokens · about 12 min left
    … · trouble: the server answered 503 (loading), asking again

Inspect's own display is off (`display="none"`): it shows one bar a task, and a run has a hundred tasks.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from threading import Event, Lock, Thread
from typing import TypeVar

import rich
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from carrara.core.console import LINE_EVERY, text_column
from carrara.core.console import console as make_console
from carrara.runs import budget
from carrara.servers.api_errors import Trouble, said_time

T = TypeVar("T")

TROUBLE_SHOWN = 5.0
"""Seconds that a failed attempt is worth mentioning on a bar; a line tells of the last since the line before."""

PATIENT = 10.0
"""Seconds from which on it is worth saying for how long the oldest request has waited."""


_SHOWN: list["Progress"] = []
"""The progress that is on show, if any: solvers and models, which report to it, are made by Inspect."""


def answered(id: str) -> None:
    for shown in _SHOWN:
        shown.answered(id)


def failed(id: str) -> None:
    for shown in _SHOWN:
        shown.failed(id)


def dropped(id: str) -> None:
    for shown in _SHOWN:
        shown.dropped(id)


def sent(id: str) -> None:
    for shown in _SHOWN:
        shown.waiting[id] = time.monotonic()


def ended(id: str) -> None:
    for shown in _SHOWN:
        shown.waiting.pop(id, None)


def troubled(trouble: Trouble, again: bool) -> None:
    for shown in _SHOWN:
        shown.troubled(trouble, again)


class Progress:
    """Counts what ends; all calls but those of the clock come from the event loop's thread."""

    def __init__(self, total: int, left: Mapping[str, int], console: Console) -> None:
        """`left` are the items to ask, with their tokens; the others, whose replies are known, count no second time."""
        self.total, self.done, self.errors = total, total - len(left), 0
        self.left = dict(left)
        self.begun_with = len(left)
        self.tokens = 0
        self.waiting: dict[str, float] = {}
        """Since when each request has been on its way."""
        self.console = console
        self.trouble: tuple[float, str] | None = None
        self.begun = self.printed = time.monotonic()
        self.showing = Lock()
        self.bar: Bar | None = None
        if console.is_terminal:
            columns = (
                BarColumn(None),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                text_column(),
            )
            self.bar = Bar(*columns, console=console, expand=True)
            self.bar.add_task("", total=total, completed=self.done)

    def answered(self, id: str) -> None:
        if id in self.left:
            self.tokens += self.left.pop(id)
            self.done += 1
            self.show(ended=not self.left)

    def failed(self, id: str) -> None:
        if id in self.left:
            del self.left[id]
            self.errors += 1
            self.show(ended=not self.left)

    def dropped(self, id: str) -> None:
        """It is not asked, for the budget has no room for it."""
        self.left.pop(id, None)

    def troubled(self, trouble: Trouble, again: bool) -> None:
        """An attempt failed, and is made again or not."""
        self.trouble = time.monotonic(), f"{trouble.words}, {'asking again' if again else 'given up'}"
        self.show()

    def note(self, since: float) -> str:
        """All there is to say; of trouble the last, if it is not older."""
        now = time.monotonic()
        parts = [f"{self.errors:,} errors"] if self.errors else []
        if on_their_way := list(self.waiting.values()):
            oldest = now - min(on_their_way)
            parts.append(
                f"{len(on_their_way)} waiting{f', the longest for {said_time(oldest)}' if oldest >= PATIENT else ''}"
            )
        if self.tokens:
            parts.append(f"{self.tokens:,} tokens")
        if used := budget.current().said():
            parts.append(used)
        if not self.bar and (time_left := self._left(now)):
            parts.append(time_left)
        if self.trouble and self.trouble[0] >= since:
            parts.append(f"trouble: {self.trouble[1]}")
        return " · ".join(parts)

    def _left(self, now: float) -> str:
        """By tokens, which is what a request takes its time for."""
        ahead, asked = sum(self.left.values()) + len(self.left), self.begun_with - len(self.left)
        if not self.left or asked < 3:
            return ""
        return f"about {said_time((now - self.begun) * ahead / (self.tokens + asked))} left"

    def show(self, ended: bool = False) -> None:
        with self.showing:
            now = time.monotonic()
            if self.bar:
                said = self.note(now - TROUBLE_SHOWN)
                self.bar.update(self.bar.task_ids[0], completed=self.done, description=said)
            elif ended or now - self.printed >= LINE_EVERY:
                since, self.printed = self.printed, now
                line = " · ".join(filter(None, (f"{self.done:,} of {self.total:,} answered", self.note(since))))
                self.console.print(line, soft_wrap=True)


def _tick(shown: Progress, over: Event) -> None:
    """Have progress shown while nothing happens: that is when people wonder."""
    while not over.wait(1.0 if shown.bar else 0.5):
        shown.show()


def preparing(tests: Sequence[T], console: Console | None = None) -> Iterator[T]:
    """The tests of a run, one after the other, while their prompts are prepared, of which there may be thousands."""
    console = console or make_console(quiet=True)
    columns = text_column("preparing prompts"), BarColumn(None), MofNCompleteColumn(), TimeElapsedColumn()
    begun, done, over = time.monotonic(), 0, Event()

    def tick() -> None:
        while not over.wait(LINE_EVERY):
            spent = said_time(time.monotonic() - begun)
            console.print(f"preparing prompts: {done} of {len(tests)} tests after {spent}", soft_wrap=True)

    clock = Thread(target=tick, daemon=True)
    if not console.is_terminal:
        clock.start()
    try:
        with Bar(*columns, console=console, expand=True, transient=True, disable=not console.is_terminal) as bar:
            for done, test in enumerate(bar.track(tests)):  # noqa: B007  # the clock reads it
                yield test
    finally:
        over.set()


@contextmanager
def progress(total: int, left: Mapping[str, int], about: str, console: Console | None = None) -> Iterator[Progress]:
    """Show progress on a console of its own while the shared one, which Inspect prints to, keeps quiet."""
    shared = rich.get_console()
    counter = Progress(total, left, console or make_console(quiet=True))
    counter.console.print(about, soft_wrap=True)
    before, shared.quiet = shared.quiet, True
    _SHOWN.append(counter)
    over = Event()
    clock = Thread(target=_tick, args=(counter, over), daemon=True)
    try:
        with counter.bar or nullcontext():
            clock.start()
            yield counter
    finally:
        over.set()
        clock.join()
        if counter.left:  # it was stopped
            counter.show(ended=True)
        _SHOWN.remove(counter)
        shared.quiet = before
