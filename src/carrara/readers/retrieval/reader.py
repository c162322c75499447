"""The reader `retrieval`: the model sees only the parts of a context that are most similar to the question.

A context is cut and embedded once for all its questions. If the server for embeddings fails during a run, the run waits
for it, as for the model's own server.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from threading import Lock

import anyio
from anyio import NoEventLoopError
from anyio.from_thread import check_cancelled

from carrara.constants import WHOLE
from carrara.items.item_id import ItemId
from carrara.items.registry import load
from carrara.readers.context import Part, ReaderContext, context_of
from carrara.readers.reader import Estimate, Reader, ReaderModel
from carrara.readers.retrieval.embedders import EmbedderUnavailableError
from carrara.readers.retrieval.index import JOINT, FoundParts, Index, ready
from carrara.readers.retrieval.setting import Retrieval
from carrara.servers.retry import PATIENCE
from carrara.util.errors import UsageError
from carrara.util.log import logger
from carrara.util.progress import LINE_EVERY
from carrara.util.quantities import write_length

WITHHELD = "[The text is not shown. Give your best guess.]"
"""The text in place of the context for a closed-book answer."""


@dataclass(frozen=True)
class Whole(Reader):
    """The context stands in the prompt."""

    name = WHOLE
    converses = True

    async def read(self, context: ReaderContext, question: str, model: ReaderModel) -> str:
        return await model.answer()


@dataclass(frozen=True)
class ClosedBook(Reader):
    """The model sees the question alone, and guesses. Its score shows what can be known without the context."""

    name = "none"
    converses = True

    async def read(self, context: ReaderContext, question: str, model: ReaderModel) -> str:
        return await model.answer(WITHHELD)

    def estimate(self, prompt: int, around: int, answer: int) -> Estimate:
        return Estimate(1, around, answer)


@dataclass(frozen=True)
class Evidence(Reader):
    """The model sees only the facts that the answer needs, in order, as if a perfect retriever had found them."""

    name = "evidence"
    converses = True

    def check(self, first: ItemId) -> None:
        if not load(first.task).evidence_decides:
            raise UsageError(f"the evidence of {first.task} does not decide its answer without the rest: leave it out")

    async def read(self, context: ReaderContext, question: str, model: ReaderModel) -> str:
        return await model.answer(evidence_parts(context))

    def estimate(self, prompt: int, around: int, answer: int) -> Estimate:
        return Estimate(1, around, answer)


def evidence_parts(context: ReaderContext) -> Sequence[Part]:
    """Return the opening of the context and its needed facts as parts."""
    opening = [context.opening] if context.opening[1] else []
    return join_passages([*opening, *((fact.start, fact.end) for fact in context.needed)], context.separator)


def join_passages(passages: Sequence[tuple[int, int]], separator: str) -> list[Part]:
    """Return passages as parts with separators between them."""
    parts: list[Part] = []
    for start, end in passages:
        parts += ([separator] if parts else []) + [[start, end]]
    return parts


_KEPT = 4096
"""The number of shortened contexts in the cache, a few kilobytes each."""
_FINDING = Lock()
_STEP = 0.25
"""Seconds between two checks whether the run is being stopped."""


def retrieve_parts(id: str, retrieve: str) -> FoundParts:
    """Return the parts that an item's question finds in its context."""
    with _FINDING:  # one at a time: the work is bound by the processor, and the next question may share the context
        _stop_if_cancelled()
        return _retrieve(id, retrieve)


@dataclass
class Outage:
    """The attempts of the embedding server. All items share them, so that they wait for the server together."""

    first_pause: float = 2.0
    """Seconds before the server is asked again. The next pauses are longer."""
    longest_pause: float = 60.0
    began: float | None = None

    def waited_out(self, find: Callable[[], FoundParts]) -> FoundParts:
        pause = self.first_pause
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
                pause = min(2 * pause, self.longest_pause)
            else:
                if self.began is not None:
                    self.began = None
                    logger.warning("retrieval goes on")
                return result


OUTAGE = Outage()


def _sleep(seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(_STEP, left))
        _stop_if_cancelled()


def _stop_if_cancelled() -> None:
    """Raise if the run is being stopped. A thread cannot be interrupted, so it has to check."""
    with suppress(NoEventLoopError):
        check_cancelled()


@lru_cache(maxsize=_KEPT)
def _retrieve(id: str, retrieve: str) -> FoundParts:
    context = context_of(id)
    shared = str(replace(ItemId.parse(id), question=0))
    return OUTAGE.waited_out(lambda: _index(shared, retrieve).find(context.ask))


@lru_cache(maxsize=2)
def _index(id: str, retrieve: str) -> Index:
    """Return the index of an item's context, which all its questions share."""
    return Index(context_of(id).text, Retrieval.parse(retrieve), _Watch(ItemId.parse(id)))


class _Watch:
    """A function that reports the progress of a long embedding, and raises if the run is being stopped."""

    def __init__(self, item_id: ItemId) -> None:
        self.context = f"{item_id.task} at {write_length(item_id.length)}"
        self.last_report = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        _stop_if_cancelled()
        if time.monotonic() - self.last_report >= LINE_EVERY:
            self.last_report = time.monotonic()
            logger.info(f"{done:,} of {total:,} parts of a context of {self.context} are embedded")


SENTENCE = 30
"""Approximate tokens of a sentence."""


@dataclass(frozen=True)
class RetrievalReader(Reader):
    """The context is shortened to the parts that are most similar to the question."""

    setting: Retrieval = field(default_factory=Retrieval)
    """How the context is cut and searched."""

    name = "retrieval"

    @classmethod
    def parse(cls, options: str) -> "RetrievalReader":
        return cls(Retrieval.parse(options or "sentences"))

    def __str__(self) -> str:
        return f"{self.name}:{self.setting}"

    def ready(self) -> None:
        ready(self.setting)

    async def read(self, context: ReaderContext, question: str, model: ReaderModel) -> str:
        parts = await anyio.to_thread.run_sync(retrieve_parts, context.id, str(self.setting))
        return await model.answer(join_passages([(part.chunk.start, part.chunk.end) for part in parts.chunks], JOINT))

    def estimate(self, prompt: int, around: int, answer: int) -> Estimate:
        retrieved = self.setting.top * (self.setting.size or SENTENCE)
        return Estimate(1, min(prompt, around + retrieved), answer)
