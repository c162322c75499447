"""Retrieval for items: a context shortened to the parts that its question finds.

A context is cut and embedded once for all its questions. If the server for embeddings fails during a run, the run waits
for it, as for the model's own server.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from threading import Lock

from anyio import NoEventLoopError
from anyio.from_thread import check_cancelled

from carrara.items.item_id import ItemId
from carrara.readers.context import context_of
from carrara.readers.retrieval import EmbedderUnavailableError, FoundParts, Index, Retrieval
from carrara.servers.retry import PATIENCE
from carrara.util.log import logger
from carrara.util.progress import LINE_EVERY
from carrara.util.quantities import write_length

_KEPT = 4096
"""The number of shortened contexts in the cache, a few kilobytes each."""
_FINDING = Lock()
_FIRST_PAUSE, _LONGEST_PAUSE, _STEP = 2.0, 60.0, 0.25
"""Seconds before a server is asked again, and between two checks whether the run is being stopped."""


def retrieve_parts(id: str, retrieve: str) -> FoundParts:
    """Return the parts that an item's question finds in its context."""
    with _FINDING:  # one at a time: the work is bound by the processor, and the next question may share the context
        _stop_if_cancelled()
        return _retrieve(id, retrieve)


class _Outage:
    """The attempts of the embedding server. All items share them, so that they wait for the server together."""

    def __init__(self) -> None:
        self.began: float | None = None

    def waited_out(self, find: Callable[[], FoundParts]) -> FoundParts:
        pause = _FIRST_PAUSE
        while True:
            try:
                result = find()
            except EmbedderUnavailableError as error:
                if self.began is None:
                    self.began = time.monotonic()
                    logger.warning(f"retrieval waits, for up to {PATIENCE // 3600} hours: {error}")
                left = self.began + PATIENCE - time.monotonic()
                if left <= 0:
                    raise
                _sleep(min(pause, left))
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                if self.began is not None:
                    self.began = None
                    logger.warning("retrieval goes on")
                return result


_OUTAGE = _Outage()


def _sleep(seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(_STEP, left))
        _stop_if_cancelled()


def _stop_if_cancelled() -> None:
    """Return whether the run is being stopped. A thread cannot be interrupted, so it has to check."""
    with suppress(NoEventLoopError):
        check_cancelled()


@lru_cache(maxsize=_KEPT)
def _retrieve(id: str, retrieve: str) -> FoundParts:
    """Return the parts that the question of an item retrieves."""
    context = context_of(id)
    shared = str(replace(ItemId.parse(id), question=0))
    return _OUTAGE.waited_out(lambda: _index(shared, retrieve).find(context.ask))


@lru_cache(maxsize=2)
def _index(id: str, retrieve: str) -> Index:
    """Return the index of an item's context, which all its questions share."""
    return Index(context_of(id).text, Retrieval.parse(retrieve), _Watch(ItemId.parse(id)))


class _Watch:
    """A function that reports the progress of a long embedding, and raises if the run is being stopped."""

    def __init__(self, item_id: ItemId) -> None:
        self.context = f"{item_id.task} at {write_length(item_id.length)}"
        self.told = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        _stop_if_cancelled()
        if time.monotonic() - self.told >= LINE_EVERY:
            self.told = time.monotonic()
            logger.info(f"{done:,} of {total:,} parts of a context of {self.context} are embedded")
