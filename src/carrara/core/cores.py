"""Work on all cores: pure functions of things that can be sent to another process."""

import gc
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from carrara.core.errors import RunError
from carrara.core.log import logger, receive_records, send_records

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

T = TypeVar("T")
R = TypeVar("R")


AHEAD = 3
"""Jobs that are under way for each process: none of them waits, and what came of them takes little memory."""

RARELY = 100_000
"""New things after which cycles are looked for, in processes that make items: at 700 it takes a twelfth of the time."""


def on_all(work: Callable[[T], R], jobs: Sequence[T], workers: int | None = None) -> Iterator[R]:
    """What comes of each job, in order. Where there is one core, or one job, no process is started."""
    workers = min(len(jobs), workers or cores())
    if workers < 2:
        yield from map(work, jobs)
        return
    # spawned, not forked: tokenizers have threads, which do not survive a fork
    context = get_context("spawn")
    with (
        receive_records(context) as records,
        ProcessPoolExecutor(workers, context, initializer=begin, initargs=(records, logger.level)) as pool,
    ):
        under_way = deque[Future[R]]()
        try:
            for job in jobs:
                under_way.append(pool.submit(work, job))
                if len(under_way) > AHEAD * workers:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        except BrokenProcessPool:
            raise RunError("a process that worked on this was killed: is the machine short of memory?") from None
        finally:
            for job_under_way in under_way:  # where one failed, or nobody asks for more
                job_under_way.cancel()


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def begin(records: "Queue[Any]", level: int) -> None:
    """In a process that was started: Ctrl-C reaches all, and one of them says so, as it says what the others tell."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(RARELY)  # contexts are thousands of small things without a cycle, and die when they are let go
    Thread(target=_end_with_parent, daemon=True).start()
    send_records(records, level)


def _end_with_parent() -> None:
    """Nobody waits for the work of a process that was killed; on their own, its workers would go on for hours."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
