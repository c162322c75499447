"""How far scoring is: a bar for people, and where stderr is no terminal a line every half a minute.

34,218 lines scored · 1,140 a second · 3 min 10 s left
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from rich.progress import BarColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

from carrara.core.console import console, text_column

EVERY = 30.0
"""Seconds between two lines."""


class Watch:
    """What has been done of a file whose size may be known."""

    def __init__(self, size: int | None, bar: Progress | None) -> None:
        self._size, self._bar = size, bar
        self._began = time.monotonic()
        self.lines = 0
        self.done = 0
        if bar:
            bar.add_task("", total=size)

    def seen(self, lines: int, done: int) -> None:
        """So many lines more, and so many bytes by now."""
        self.lines, self.done = self.lines + lines, done
        if self._bar:
            self._bar.update(self._bar.task_ids[0], completed=done, description=self.told(timed=False))

    def told(self, timed: bool = True) -> str:
        seconds = time.monotonic() - self._began
        parts = [f"{self.lines:,} lines scored", f"{self.lines / max(seconds, 1e-3):,.0f} a second"]
        if timed and self._size and self.done:
            parts.append(f"{_spoken(seconds * max(0, self._size - self.done) / self.done)} left")
        return " · ".join(parts)


@contextmanager
def watch(size: int | None, bar: bool) -> Iterator[Watch]:
    """Tell on stderr how it goes: with a `bar` if somebody is there to see it, and in lines if not."""
    stderr = console()
    if bar and stderr.is_terminal:
        columns = BarColumn(None), TimeElapsedColumn(), TimeRemainingColumn(), text_column()
        with Progress(*columns, console=stderr, expand=True, transient=True) as shown:
            yield Watch(size, shown)
        return
    watched, ended = Watch(size, None), Event()

    def tell() -> None:
        while not ended.wait(EVERY):
            stderr.print(watched.told())

    Thread(target=tell, daemon=True).start()
    try:
        yield watched
    finally:
        ended.set()


def _spoken(seconds: float) -> str:
    """
    >>> _spoken(5.2), _spoken(190), _spoken(7_300)
    ('5 s', '3 min 10 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
