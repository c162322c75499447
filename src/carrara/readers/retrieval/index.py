"""A context, made ready to be asked: cut, embedded, searched.

index = Index(context, Retrieval.parse("sentences"))
for question in questions:
    model_reads = index.find(question).text
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from carrara import tokenizers
from carrara.readers.retrieval.choosing import embedder
from carrara.readers.retrieval.chunks import Chunk, by_sentences, by_tokens
from carrara.readers.retrieval.embedders import Watch
from carrara.readers.retrieval.ranking import BM25, Dense, Ranking
from carrara.readers.retrieval.recall import Recall, Stretch, recall
from carrara.readers.retrieval.setting import BM25 as BY_WORDS
from carrara.readers.retrieval.setting import Retrieval

JOINT = "\n\n"


class Found(NamedTuple):
    chunk: Chunk
    score: float


@dataclass(frozen=True)
class Retrieved:
    text: str
    """The chunks, with a blank line between them: the shortened context."""
    chunks: tuple[Found, ...]
    """In the order in which they stand in the text."""
    recall: Recall | None
    """None where it was not said what is needed."""


class Index:
    """What of it was embedded once is not embedded again; `watch` is told how far the rest is."""

    def __init__(self, context: str, setting: Retrieval, watch: Watch | None = None) -> None:
        self.context = context
        self.setting = setting
        self.chunks = _cut(context, setting)
        texts = [context[chunk.start : chunk.end] for chunk in self.chunks]
        self.ranking: Ranking | None = None
        if texts:
            self.ranking = BM25(texts) if setting.by == BY_WORDS else Dense(texts, embedder(setting.by), watch)

    def find(self, question: str, evidence: Sequence[Stretch] | None = None) -> Retrieved:
        """The chunks most like a question; `needs` are the characters of what answers it."""
        ranked = self.ranking.best(question, self.setting.top) if self.ranking else []
        found = [Found(self.chunks[number], score) for number, score in ranked]
        if self.setting.order == "position":
            found.sort(key=attrgetter("chunk"))
        chosen = [chunk for chunk, _ in found]
        text = JOINT.join(self.context[chunk.start : chunk.end] for chunk in chosen)
        return Retrieved(text, tuple(found), None if evidence is None else recall(self.context, evidence, chosen))


def retrieve(context: str, question: str, setting: Retrieval, evidence: Sequence[Stretch] | None = None) -> Retrieved:
    """What a question finds in a context. With several questions on it, keep its `Index`."""
    return Index(context, setting).find(question, evidence)


def ready(setting: Retrieval) -> None:
    """Load what a setting needs, and ask it once, so that what is missing is said before a run begins."""
    if setting.by != BY_WORDS:  # asked itself: for what follows, the store may have the answer
        embedder(setting.by).check()
    retrieve("Ready.", "Ready?", setting)


def _cut(context: str, setting: Retrieval) -> list[Chunk]:
    if not setting.size:
        return by_sentences(context)
    return by_tokens(context, setting.size, tokenizers.get(setting.tokenizer), setting.overlap)
