"""An index of a context: it is cut into parts once, and searched for each question."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from carrara import tokenizers
from carrara.corpora.chunks import Chunk, by_sentences, by_tokens
from carrara.readers.retrieval.choosing import embedder
from carrara.readers.retrieval.embedders import Watch
from carrara.readers.retrieval.ranking import BM25, Dense, Ranking
from carrara.readers.retrieval.recall import Recall, recall
from carrara.readers.retrieval.setting import BM25 as BY_WORDS
from carrara.readers.retrieval.setting import Retrieval
from carrara.readers.spans import Span

JOINT = "\n\n"


class ScoredChunk(NamedTuple):
    """A part of a context that was found, with its score.

    Examples:
        >>> found = Index("It rains. Mary sleeps.", Retrieval.parse("sentences,by=bm25")).find("Who sleeps?").chunks[0]
        >>> found.chunk.start, found.score > 0
        (10, True)
    """

    chunk: Chunk
    """The part."""
    score: float
    """The similarity to the question; a higher score is more similar."""


@dataclass(frozen=True)
class FoundParts:
    """The parts of a context that a question finds.

    Examples:
        >>> context = "It rains. Mary sleeps."
        >>> retrieve(context, "Who sleeps?", Retrieval.parse("sentences,by=bm25", top=1)).text
        'Mary sleeps.'
    """

    text: str
    """The parts with a blank line between them: the shortened context."""
    chunks: tuple[ScoredChunk, ...]
    """The parts, in the order of `text`."""
    recall: Recall | None
    """The share of the evidence that was found. None if no evidence was given."""


class Index:
    """A context that is cut into parts, for several questions on it. Vectors are cached on disk.

    Args:
        context: The text.
        setting: How to cut and search it.
        watch: A function that is called with the number of parts embedded and the number of all parts.

    Examples:
        >>> index = Index("It rains. Mary sleeps.", Retrieval.parse("sentences,by=bm25", top=1))
        >>> [index.find(question).text for question in ("Does it rain?", "Who sleeps?")]
        ['It rains.', 'Mary sleeps.']
    """

    def __init__(self, context: str, setting: Retrieval, watch: Watch | None = None) -> None:
        self.context = context
        self.setting = setting
        self.chunks = _cut(context, setting)
        texts = [context[chunk.start : chunk.end] for chunk in self.chunks]
        self.ranking: Ranking | None = None
        if texts:
            self.ranking = BM25(texts) if setting.by == BY_WORDS else Dense(texts, embedder(setting.by), watch)

    def find(self, question: str, evidence: Sequence[Span] | None = None) -> FoundParts:
        """Return the parts that are most similar to a question.

        Args:
            question: The question.
            evidence: The positions of the evidence, as pairs of start and end characters. Needed for the recall.

        Returns:
            The parts, as a text and one by one, and the recall.

        Raises:
            EmbedderUnavailableError: The embedder cannot be reached.

        Examples:
            >>> index = Index("It rains. Mary sleeps.", Retrieval.parse("sentences,by=bm25", top=1))
            >>> index.find("Who sleeps?", evidence=[(10, 22)]).recall
            Recall(complete=True, share=1.0)
        """
        ranked = self.ranking.best(question, self.setting.top) if self.ranking else []
        found = [ScoredChunk(self.chunks[number], score) for number, score in ranked]
        if self.setting.order == "position":
            found.sort(key=attrgetter("chunk"))
        chosen = [chunk for chunk, _ in found]
        text = JOINT.join(self.context[chunk.start : chunk.end] for chunk in chosen)
        return FoundParts(text, tuple(found), None if evidence is None else recall(self.context, evidence, chosen))


def retrieve(context: str, question: str, setting: Retrieval, evidence: Sequence[Span] | None = None) -> FoundParts:
    """Return the parts of a context that are most similar to a question.

    Use an `Index` for several questions on one context.

    Args:
        context: The text.
        question: The question.
        setting: How to cut and search the text.
        evidence: The positions of the evidence, as pairs of start and end characters. Needed for the recall.

    Returns:
        The parts, as a text and one by one, and the recall.

    Raises:
        UsageError: A package is missing: `pip install 'carrara[retrieval]'`.
        EmbedderUnavailableError: The embedder cannot be reached.

    Examples:
        >>> retrieve("It rains. Mary sleeps.", "Who sleeps?", Retrieval.parse("sentences,by=bm25", top=1)).text
        'Mary sleeps.'
    """
    return Index(context, setting).find(question, evidence)


def ready(setting: Retrieval) -> None:
    """Load the models of a setting and use them once, so that anything missing is reported before a run begins.

    Args:
        setting: How to cut and search texts.

    Raises:
        UsageError: A package is missing.
        EmbedderUnavailableError: The embedder cannot be reached.

    Examples:
        >>> ready(Retrieval.parse("sentences,by=bm25"))
    """
    if setting.by != BY_WORDS:  # use the model itself: for the next line, the cache may have the answer
        embedder(setting.by).check()
    retrieve("Ready.", "Ready?", setting)


def _cut(context: str, setting: Retrieval) -> list[Chunk]:
    if not setting.size:
        return by_sentences(context)
    return by_tokens(context, setting.size, tokenizers.get(setting.tokenizer), setting.overlap)
