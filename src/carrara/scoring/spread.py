"""Batches to all cores, and what came of them back in their order.

A world's lines go to one process, whatever stands between them, so that it is built once: which one, the id says.
"""

import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.queues import Queue
from typing import Any, TypeVar
from zlib import crc32

from carrara.core.cores import begin, cores
from carrara.core.errors import RunError
from carrara.core.talk import overheard
from carrara.scoring.lines import Batch
from carrara.scoring.scored import Outcome, Scorer, Way

T = TypeVar("T")

ALONE = 0.5
"""Seconds after which other processes are started: a small file is done before they would be ready."""
AHEAD = 4
"""Batches that are under way for each process: none of them waits, and memory does not grow."""
_WORLD = re.compile(rb'"id"\s*:\s*"([^"\\]+?)\.\d+/\d+/')


class Crew:
    """This process, and later as many others as there are cores."""

    def __init__(self, way: Way, workers: int | None = None) -> None:
        self._way = way
        self._count = cores() if workers is None else workers
        self._workers: list[ProcessPoolExecutor] = []
        self._starting: list[Future[list[Outcome]]] = []
        self._scorer = Scorer(way)
        self._began = time.monotonic()
        self._turn = 0
        self._listening = ExitStack()

    def outcomes(self, batches: Iterator[Batch]) -> Generator[list[Outcome], None, None]:
        """What comes of each batch, in order. An empty batch says that the next may be long in coming."""
        ahead: deque[list[Future[list[Outcome]]]] = deque()
        for batch in batches:
            if batch and not self._ready():
                yield self._scorer.batch(batch)
            elif batch:
                ahead.append(self._shared_out(batch))
            while ahead and (not batch or len(ahead) > AHEAD):
                yield _gathered(ahead.popleft())
        while ahead:
            yield _gathered(ahead.popleft())

    def do(self, work: Callable[..., T], *given: object) -> Future[T]:
        """Something else, by whoever is next, or here and now."""
        if self._workers:
            self._turn += 1
            return self._workers[self._turn % len(self._workers)].submit(work, *given)
        done: Future[T] = Future()
        done.set_result(work(*given))
        return done

    def dismiss(self) -> None:
        for worker in self._workers:
            worker.shutdown(wait=True, cancel_futures=True)
        self._listening.close()

    def start(self) -> None:
        """Have the others come."""
        # spawned, not forked: tokenizers have threads, which do not survive a fork
        context = get_context("spawn")
        told = self._listening.enter_context(overheard(context))
        self._workers = [
            ProcessPoolExecutor(1, context, initializer=_begin, initargs=(self._way, told)) for _ in range(self._count)
        ]
        self._starting = [worker.submit(_scored, []) for worker in self._workers]

    def _ready(self) -> bool:
        """Whether they are here: until they are, this one goes on."""
        if not self._workers and self._count > 1 and time.monotonic() - self._began >= ALONE:
            self.start()
        if self._starting and all(started.done() for started in self._starting):
            self._starting = []
            self._scorer = Scorer(self._way)  # the worlds that it has kept are no longer of use
        return bool(self._workers) and not self._starting

    def _shared_out(self, batch: Batch) -> list[Future[list[Outcome]]]:
        shares: list[Batch] = [[] for _ in self._workers]
        for number, line in batch:
            world = _WORLD.search(line) if line else None
            shares[crc32(world[1]) % len(shares) if world else 0].append((number, line))
        return [worker.submit(_scored, share) for worker, share in zip(self._workers, shares, strict=True) if share]


@contextmanager
def crew(way: Way, workers: int | None = None) -> Iterator[Crew]:
    together = Crew(way, workers)
    try:
        yield together
    except BrokenProcessPool:
        raise RunError("a process that scored was killed: is the machine short of memory?") from None
    finally:
        together.dismiss()


def _gathered(shares: list[Future[list[Outcome]]]) -> list[Outcome]:
    return sorted((outcome for share in shares for outcome in share.result()), key=lambda outcome: outcome[0])


_SCORERS: list[Scorer] = []
"""Of a process that scores: its own."""


def _begin(way: Way, told: "Queue[Any]") -> None:
    begin(told)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _SCORERS.append(Scorer(way))


def _end_with_parent() -> None:
    """A process whose parent was killed would wait for work for ever."""
    if parent := parent_process():
        parent.join()
        os._exit(1)


def _scored(batch: Batch) -> list[Outcome]:
    return _SCORERS[0].batch(batch)
