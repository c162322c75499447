"""Processes that keep something from one job to the next: whoever has work says which of them is to do it."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from carrara.core.cores import begin
from carrara.core.errors import RunError
from carrara.core.log import logger, receive_records
from carrara.core.spread import Engine

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

T = TypeVar("T")

Start = Callable[[], object]
"""What a process does before anything else."""


class Hand(Protocol):
    """One process."""

    def submit(self, work: Callable[..., T], /, *given: Any) -> Future[T]: ...


def hands(start: Start, count: int, engine: Engine) -> AbstractContextManager[Sequence[Hand]]:
    """So many processes, or those of a cluster that is there; within it a process that dies is a RunError."""
    if engine == "ray":
        from carrara.core.clusters import hands_on_ray

        return hands_on_ray(start, count)
    return _here(start, count)


@contextmanager
def _here(start: Start, count: int) -> Iterator[Sequence[Hand]]:
    # spawned, not forked: tokenizers have threads, which do not survive a fork
    context = get_context("spawn")
    with receive_records(context) as records:
        pools = [
            ProcessPoolExecutor(1, context, initializer=_begin, initargs=(start, records, logger.level))
            for _ in range(count)
        ]
        try:
            yield pools
        except BrokenProcessPool:
            raise RunError("a process that worked on this was killed: is the machine short of memory?") from None
        finally:
            for pool in pools:
                pool.shutdown(wait=True, cancel_futures=True)


def _begin(start: Start, records: "Queue[Any]", level: int) -> None:
    begin(records, level)
    start()
