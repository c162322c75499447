"""Score batches of lines in all processes, and yield the outcomes in the order of the file.

All lines of an instance go to one process, which builds the instance once. The ids choose the process.
"""

import re
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
from typing import Any, TypeVar
from zlib import crc32

from carrara.runs.rescoring.lines import Batch
from carrara.runs.rescoring.scored import Outcome, Scorer, ScorerConfig
from carrara.tokenizers.permission import with_permissions
from carrara.util.parallel import Engine, Executor, count_cores, start_workers

T = TypeVar("T")

START_AFTER = 0.5
"""Seconds before worker processes are started. A small file is scored before they would be ready."""
BATCHES_AHEAD = 4
"""Batches submitted before the first result is awaited, so that no process waits for work and memory stays small."""
_INSTANCE = re.compile(rb'"id"\s*:\s*"([^"\\]+?)\.\d+/\d+/')


class ScorerPool:
    """Scores in this process at first, and later in one process for each core. With Ray, on the cluster at once."""

    def __init__(self, config: ScorerConfig, workers: int | None = None, engine: Engine = "local") -> None:
        self._config, self._engine = config, engine
        self._count = workers or count_cores()
        self._scorer = Scorer(config)
        self._workers: Sequence[Executor] = []
        self._starting: list[Future[list[Outcome]]] = []
        self._created = time.monotonic()
        self._submitted = 0
        self._resources = ExitStack()

    def score(self, batches: Iterator[Batch]) -> Generator[list[Outcome], None, None]:
        """Yield the outcomes of each batch, in order. An empty batch says that the next one may take long."""
        ahead: deque[list[Future[list[Outcome]]]] = deque()
        for batch in batches:
            if batch and not self._is_ready():
                yield self._scorer.batch(batch)
            elif batch:
                ahead.append(self._distribute(batch))
            while ahead and (not batch or len(ahead) > BATCHES_AHEAD):
                yield _collect(ahead.popleft())
        while ahead:
            yield _collect(ahead.popleft())

    def submit(self, work: Callable[..., T], *args: object) -> Future[T]:
        """Run a function in the next worker, or at once in this process if there are no workers."""
        if self._workers:
            self._submitted += 1
            return self._workers[self._submitted % len(self._workers)].submit(work, *args)
        done: Future[T] = Future()
        done.set_result(work(*args))
        return done

    def start(self) -> None:
        """Start the workers, unless they have been started."""
        if self._workers:
            return
        start = with_permissions(partial(_create_scorer, self._config))
        self._workers = self._resources.enter_context(start_workers(start, self._count, self._engine))
        self._starting = [worker.submit(_score, []) for worker in self._workers]

    def __enter__(self) -> "ScorerPool":
        if self._engine == "ray":
            self.start()
        return self

    def __exit__(self, *raised: Any) -> bool | None:
        return self._resources.__exit__(*raised)

    def _is_ready(self) -> bool:
        """Return whether the workers have started. This process scores until then."""
        if not self._workers and self._count > 1 and time.monotonic() - self._created >= START_AFTER:
            self.start()
        if self._starting and all(started.done() for started in self._starting):
            self._starting = []
            self._scorer = Scorer(self._config)  # frees the instances in its cache
        return bool(self._workers) and not self._starting

    def _distribute(self, batch: Batch) -> list[Future[list[Outcome]]]:
        shares: list[Batch] = [[] for _ in self._workers]
        for number, line in batch:
            instance = _INSTANCE.search(line) if line else None
            shares[crc32(instance[1]) % len(shares) if instance else 0].append((number, line))
        return [worker.submit(_score, share) for worker, share in zip(self._workers, shares, strict=True) if share]


def _collect(shares: list[Future[list[Outcome]]]) -> list[Outcome]:
    return sorted((outcome for share in shares for outcome in share.result()), key=lambda outcome: outcome[0])


_SCORERS: list[Scorer] = []
"""The scorer of a worker process."""


def _create_scorer(config: ScorerConfig) -> None:
    _SCORERS.append(Scorer(config))


def _score(batch: Batch) -> list[Outcome]:
    return _SCORERS[0].batch(batch)
