"""Work on all cores: pure functions of things that can be sent to another process."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TypeVar

from carrara.core.errors import RunError

T = TypeVar("T")
R = TypeVar("R")


def on_all(work: Callable[[T], R], jobs: Sequence[T]) -> Iterator[R]:
    """What comes of each job, in order. Where there is one core, or one job, no process is started."""
    workers = min(len(jobs), cores())
    if workers < 2:
        yield from map(work, jobs)
        return
    # spawned, not forked: tokenizers have threads, which do not survive a fork
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=quietly_interrupted) as pool:
        try:
            yield from pool.map(work, jobs)
        except BrokenProcessPool:
            raise RunError("a process that worked on this was killed: is the machine short of memory?") from None


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def quietly_interrupted() -> None:
    """Ctrl-C reaches all processes: one of them says so."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
