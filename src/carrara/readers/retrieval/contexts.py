"""Retrieval in front of a model: an item's context, shortened to what its question finds.

A context is cut and embedded once for all its questions; what was found is kept until the reply is scored, because
recall is a result too. A server for embeddings that fails in mid-run is waited for, as the model's own is.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from threading import Lock

from anyio import NoEventLoopError
from anyio.from_thread import check_cancelled

from carrara.item_id import Recipe
from carrara.items.item import Item, item_of, messages_of
from carrara.readers.retrieval import EmbedderUnavailableError, Index, Retrieval, Retrieved
from carrara.servers.retry import PATIENCE
from carrara.util.errors import UsageError
from carrara.util.log import logger
from carrara.util.progress import LINE_EVERY
from carrara.util.quantities import write_length

_KEPT = 4096
"""Shortened contexts: a few kilobytes each."""
_FINDING = Lock()
_FIRST_PAUSE, _LONGEST_PAUSE, _STEP = 2.0, 60.0, 0.25
"""Seconds before a server is asked again, and between two looks whether the run is being stopped."""


def found(id: str, retrieve: str) -> Retrieved:
    """Return what an item's question finds in its context."""
    with _FINDING:  # one at a time: it is bound by the processor, and the next question may share the context
        _stop_if_cancelled()
        return _retrieve(id, retrieve)


class _Outage:
    """Of the server for embeddings. It is one for all items, so that they wait for it together and not in turn."""

    def __init__(self) -> None:
        self.began: float | None = None

    def waited_out(self, find: Callable[[], Retrieved]) -> Retrieved:
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
    """A thread is not interrupted: it has to look whether the run that it works for is being stopped."""
    with suppress(NoEventLoopError):
        check_cancelled()


@lru_cache(maxsize=_KEPT)
def _retrieve(id: str, retrieve: str) -> Retrieved:
    """Return what the question of an item retrieves."""
    item = item_of(id)
    if item.prompt.template.turns:
        raise UsageError(f"{item.recipe.task} is a conversation, and retrieval takes a context that is one text")
    shared = str(replace(item.recipe, question=0))
    return _OUTAGE.waited_out(lambda: _index(shared, retrieve).find(item.question.ask, _needs(item)))


@lru_cache(maxsize=2)
def _index(id: str, retrieve: str) -> Index:
    """Of the context of an item, which all its questions share."""
    template = item_of(id).prompt.template
    text = messages_of(id)[-1].content
    context = text[len(template.before) : len(text) - len(template.after)]
    return Index(context, Retrieval.parse(retrieve), _Watch(item_of(id).recipe))


class _Watch:
    """Says how far the embedding of a context is, where it takes long; and is where it can be stopped."""

    def __init__(self, recipe: Recipe) -> None:
        self.context = f"{recipe.task} at {write_length(recipe.length)}"
        self.told = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        _stop_if_cancelled()
        if time.monotonic() - self.told >= LINE_EVERY:
            self.told = time.monotonic()
            logger.info(f"{done:,} of {total:,} parts of a context of {self.context} are embedded")


def _needs(item: Item) -> list[tuple[int, int]] | None:
    """Where the context says what the answer is read from."""
    wanted = item.question.support or item.question.evidence
    start = len(item.prompt.template.before)
    return [(s.start - start, s.end - start) for s in item.survey.spans if s.fact in wanted] or None
