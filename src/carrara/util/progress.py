"""Progress of long work: a bar on a terminal, or else a line every 30 seconds; and the consoles of rich that show it.

412 of 1,500 answered · 3 errors · 20 waiting, the longest for 34 s · about 12 min left

rich reads `[bold]` in a text as a style and `:x:` as a symbol. A path, a model's name or `carrara[demo]` would lose a
part of itself, so these consoles print text as it is.
"""

import time
from collections.abc import Iterable, Iterator
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Self, TextIO, TypeVar

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from carrara.util.quantities import duration

T = TypeVar("T")

LINE_EVERY = 30.0
"""Seconds between two lines."""
_TICK = 0.5
"""Seconds between two updates."""


class Progress:
    """A display of the progress of some work, used as a context manager.

    A subclass with more information overrides `notes`, `share` or `seconds_left`.

    Args:
        unit: What is counted, as it follows the count: with `answered`, "3 of 10 answered".
        total: The count at the end, where it is known.
        done: The count at the beginning.
        label: What is going on, before the count.
        console: Where to show it: standard error by default. A quiet console shows nothing.
        lasting: Whether the last state stays on a terminal, and is printed as a line elsewhere.
    """

    def __init__(
        self,
        unit: str,
        total: int | None = None,
        *,
        done: int = 0,
        label: str = "",
        console: Console | None = None,
        lasting: bool = False,
    ) -> None:
        self.unit, self.total, self.done, self.label = unit, total, done, label
        self.console = console or make_console()
        self.lasting = lasting
        self.started = self.shown_at = time.monotonic()
        self._first_share = 0.0
        self._is_over = self.console.quiet
        """Whether nothing more is shown."""
        self._lock = Lock()
        self._stop = Event()
        self._clock = Thread(target=self._tick, daemon=True)
        self._bar: Bar | None = None
        if self.console.is_terminal:
            columns = BarColumn(None), TimeElapsedColumn(), text_column()
            self._bar = Bar(*columns, console=self.console, expand=True, transient=not lasting)
            self._bar.add_task("", total=1.0)

    def advance(self, count: int = 1) -> None:
        """Count more work as done."""
        self.done += count

    def share(self) -> float | None:
        """Return the share of the work that is done, if known. The bar shows it."""
        return self.done / self.total if self.total else None

    def seconds_left(self) -> float | None:
        """Return the estimated seconds that are left, if known."""
        share = self.share()
        if share is None or share <= self._first_share:
            return None
        return self.seconds * (1 - share) / (share - self._first_share)

    def notes(self) -> Iterable[str]:
        """Return further text to show."""
        return ()

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.monotonic() - self.started

    @property
    def is_bar(self) -> bool:
        return self._bar is not None

    def line(self) -> str:
        """Return everything that is shown, as one line."""
        of = "" if self.total is None else f" of {self.total:,}"
        parts = [f"{self.label and f'{self.label}: '}{self.done:,}{of} {self.unit}", *self.notes()]
        if left := self.seconds_left():
            parts.append(f"about {duration(left)} left")
        return " · ".join(parts)

    def show(self, final: bool = False) -> None:
        """Update the bar, or print a line if one is due or this is the final state."""
        with self._lock:
            if self._is_over:
                return
            self._is_over = final
            if self._bar:
                share = self.share()
                total = None if share is None else 1.0
                self._bar.update(self._bar.task_ids[0], total=total, completed=share or 0.0, description=self.line())
            elif final or time.monotonic() - self.shown_at >= LINE_EVERY:
                self.console.print(self.line(), soft_wrap=True)
                self.shown_at = time.monotonic()

    def _tick(self) -> None:
        """Update the display also while nothing happens."""
        while not self._stop.wait(min(_TICK, LINE_EVERY)):
            self.show()

    def __enter__(self) -> Self:
        self.started = self.shown_at = time.monotonic()
        self._first_share = self.share() or 0.0
        if self._is_over:
            return self
        if self._bar:
            self._bar.start()
        self._clock.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._clock.is_alive():
            self._clock.join()
        if self.lasting:
            self.show(final=True)
        if self._bar:
            self._bar.stop()


def show_progress(
    steps: Iterable[T], total: int, unit: str, *, label: str = "", console: Console | None = None
) -> Iterator[T]:
    """Yield the steps, and show how many are done."""
    with Progress(unit, total, label=label, console=console) as progress:
        for step in steps:
            yield step
            progress.advance()


def make_console(file: TextIO | None = None, quiet: bool = False, lines_only: bool = False) -> Console:
    """Return a console that prints text without markup, symbols or highlighting.

    Args:
        file: Where it prints; standard error by default.
        quiet: Print nothing. Such a console is never a terminal.
        lines_only: Print plain lines, as to a file, also in a terminal or a notebook.
    """
    forced = False if quiet or lines_only else None
    return Console(
        file=file,
        stderr=file is None,
        quiet=quiet,
        force_terminal=forced,
        force_jupyter=forced,
        markup=False,
        emoji=False,
        highlight=False,
    )


def text_column(text: str = "{task.description}") -> TextColumn:
    """Return a column of a progress bar that shows its text without markup."""
    return TextColumn(text, markup=False)
