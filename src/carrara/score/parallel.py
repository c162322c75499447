"""Batches to all cores, and what came of them back in their order.

A world's lines go to one process, whatever stands between them, so that it is built once: which one, the id says.
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

from carrara.core.cores import cores
from carrara.core.hands import Hand, hands
from carrara.core.spread import Engine
from carrara.score.lines import Batch
from carrara.score.scored import Outcome, Scorer, Way
from carrara.tokens.permission import with_permissions

T = TypeVar("T")

ALONE = 0.5
"""Seconds after which other processes are started: a small file is done before they would be ready."""
AHEAD = 4
"""Batches that are under way for each process: none of them waits, and memory does not grow."""
_WORLD = re.compile(rb'"id"\s*:\s*"([^"\\]+?)\.\d+/\d+/')


class Crew:
    """This process, and later as many others as there are cores, or those of a Ray cluster at once."""

    def __init__(self, way: Way, workers: int | None = None, engine: Engine = "local") -> None:
        self._way, self._engine = way, engine
        self._count = workers or cores()
        """On this machine."""
        self._hands: Sequence[Hand] = []
        self._starting: list[Future[list[Outcome]]] = []
        self._scorer = Scorer(way)
        self._began = time.monotonic()
        self._turn = 0
        self._held = ExitStack()

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
        if self._hands:
            self._turn += 1
            return self._hands[self._turn % len(self._hands)].submit(work, *given)
        done: Future[T] = Future()
        done.set_result(work(*given))
        return done

    def start(self) -> None:
        """Have the others come, if they are not there."""
        if self._hands:
            return
        self._hands = self._held.enter_context(
            hands(with_permissions(partial(_begin, self._way)), self._count, self._engine)
        )
        self._starting = [hand.submit(_scored, []) for hand in self._hands]

    def __enter__(self) -> "Crew":
        if self._engine == "ray":
            self.start()
        return self

    def __exit__(self, *raised: Any) -> bool | None:
        return self._held.__exit__(*raised)

    def _ready(self) -> bool:
        """Whether they are here: until they are, this one goes on."""
        if not self._hands and self._count > 1 and time.monotonic() - self._began >= ALONE:
            self.start()
        if self._starting and all(started.done() for started in self._starting):
            self._starting = []
            self._scorer = Scorer(self._way)  # the worlds that it has kept are no longer of use
        return bool(self._hands) and not self._starting

    def _shared_out(self, batch: Batch) -> list[Future[list[Outcome]]]:
        shares: list[Batch] = [[] for _ in self._hands]
        for number, line in batch:
            world = _WORLD.search(line) if line else None
            shares[crc32(world[1]) % len(shares) if world else 0].append((number, line))
        return [hand.submit(_scored, share) for hand, share in zip(self._hands, shares, strict=True) if share]


def _gathered(shares: list[Future[list[Outcome]]]) -> list[Outcome]:
    return sorted((outcome for share in shares for outcome in share.result()), key=lambda outcome: outcome[0])


_SCORERS: list[Scorer] = []
"""Of a process that scores: its own."""


def _begin(way: Way) -> None:
    _SCORERS.append(Scorer(way))


def _scored(batch: Batch) -> list[Outcome]:
    return _SCORERS[0].batch(batch)
