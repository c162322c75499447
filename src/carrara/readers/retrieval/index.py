"""An index of a context: it is cut into parts once, and searched for each question.

Parts with equal scores come in the order of the text. A cache on disk keeps embeddings: each text is embedded once by
each embedder. The same sentences of books occur in many lengths, items and questions, so that after some contexts
little is left to embed. One SQLite file holds the vectors of one embedder. It survives a kill, and several processes
can use it.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import NamedTuple, Protocol

import numpy as np

from carrara import tokenizers
from carrara.corpora.chunks import Chunk, by_sentences, by_tokens
from carrara.readers.retrieval.embedders import Address, Embedder, Vectors, Watch, missing
from carrara.readers.retrieval.endpoint import Endpoint, load
from carrara.readers.retrieval.setting import BM25 as BY_WORDS
from carrara.readers.retrieval.setting import MINILM, Retrieval
from carrara.readers.spans import Span, covers, merge
from carrara.util.cache import cache_folder
from carrara.util.errors import RunError


class Recall(NamedTuple):
    """The evidence that was found.

    Examples:
        >>> Recall(complete=False, share=0.5).share
        0.5
    """

    complete: bool
    """Whether all evidence was found: the measure of BABILong."""
    share: float
    """The share of the pieces of evidence that were found, from 0 to 1. It is 1 if there is no evidence."""


def recall(context: str, evidence: Sequence[Span], chunks: Iterable[Chunk]) -> Recall:
    """Return the recall. A piece of evidence is found if chunks have each of its characters, white space aside.

    >>> recall("one two three", [(0, 7), (8, 13)], [Chunk(0, 0, 3), Chunk(1, 4, 7)])
    Recall(complete=False, share=0.5)
    """
    merged = merge(context, ((chunk.start, chunk.end) for chunk in chunks))
    covered = sum(covers(context, merged, piece) for piece in evidence)
    return Recall(covered == len(evidence), covered / len(evidence) if evidence else 1.0)


_AT_ONCE = 1 << 16
"""The characters that are embedded between two writes: about a second's work, which is all that a kill can lose."""
_ASKED = 500
_SECONDS = 120.0
_PAGE = 1 << 14
"""The size of a page in bytes. A vector takes 1.5 kB or more, and a page should hold several."""
_F32 = np.dtype("<f4")

_one_at_a_time = Lock()
"""A lock, because an embedder already uses all cores, and a second thread may be waiting for the same texts."""


def embed_texts(embedder: Embedder, texts: Sequence[str], watch: Watch | None = None) -> Vectors:
    """Return the vectors of texts. Only texts that are not in the cache are embedded."""
    keys = [blake2b(text.encode(), digest_size=16).digest() for text in texts]
    by_key = dict(zip(keys, texts, strict=True))
    with _open_store(embedder.name) as store:
        vectors = _read(store, list(by_key))
        left = [key for key in by_key if key not in vectors]
        done = 0
        for batch in _batches(left, by_key):
            with _one_at_a_time:
                vectors |= _add_missing(store, embedder, {key: by_key[key] for key in batch})
            done += len(batch)
            if watch:
                watch(done, len(left))
    return _to_vectors([vectors[key] for key in keys], embedder.name)


def _to_vectors(rows: Sequence[bytes], embedder: str) -> Vectors:
    """Return rows of the store as vectors. A row of another length, or without numbers, is ignored."""
    if not rows:
        return np.zeros((0, 0), np.float32)
    if len({len(row) for row in rows}) == 1 and rows[0] and len(rows[0]) % _F32.itemsize == 0:
        vectors = np.frombuffer(b"".join(rows), _F32).reshape(len(rows), -1)
        if np.isfinite(vectors).all():
            return vectors
    raise RunError(f"{store_file(embedder)} holds what is no vector of {embedder}: remove it to make all anew")


def _add_missing(store: sqlite3.Connection, embedder: Embedder, texts: dict[bytes, str]) -> dict[bytes, bytes]:
    """Add the vectors of missing texts. Another thread or process may have added them meanwhile."""
    stored = _read(store, list(texts))
    new = {key: text for key, text in texts.items() if key not in stored}
    if new:
        vectors = embedder.embed(list(new.values())).astype(_F32)
        rows = {key: vector.tobytes() for key, vector in zip(new, vectors, strict=True)}
        for (size,) in store.execute("SELECT length(vector) FROM vectors LIMIT 1").fetchall():
            if size != vectors.shape[1] * _F32.itemsize:
                path = store_file(embedder.name)
                raise RunError(f"{embedder.name} once made vectors of another length: remove {path} to make them anew")
        with store:
            store.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows.items())
        stored |= rows
    return stored


def store_file(embedder: str) -> Path:
    plain = re.sub(r"[^\w.-]+", "-", embedder, flags=re.ASCII)[-40:]
    return cache_folder("embeddings") / f"{plain}-{blake2b(embedder.encode(), digest_size=4).hexdigest()}.sqlite"


@contextmanager
def _open_store(embedder: str) -> Iterator[sqlite3.Connection]:
    path = store_file(embedder)
    try:
        with closing(sqlite3.connect(path, timeout=_SECONDS)) as store:
            store.execute(f"PRAGMA page_size = {_PAGE}")
            store.execute("CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB NOT NULL)")
            yield store
    except sqlite3.Error as error:
        raise RunError(f"embeddings cannot be kept in {path} ({error}): remove it, or set CARRARA_CACHE") from error


def _read(store: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    vectors: dict[bytes, bytes] = {}
    for i in range(0, len(keys), _ASKED):
        batch = keys[i : i + _ASKED]
        marks = ", ".join("?" * len(batch))
        vectors.update(store.execute(f"SELECT text, vector FROM vectors WHERE text IN ({marks})", batch).fetchall())
    return vectors


def _batches(keys: Sequence[bytes], texts: dict[bytes, str]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for key in sorted(keys, key=lambda key: len(texts[key])):
        if batch and size + len(texts[key]) > _AT_ONCE:
            yield batch
            batch, size = [], 0
        batch.append(key)
        size += len(texts[key])
    if batch:
        yield batch


_WORD = re.compile(r"[^\W_]+")

Ranked = list[tuple[int, float]]
"""Numbers of texts with their scores, the best first."""


class Ranking(Protocol):
    def best(self, query: str, top: int) -> Ranked: ...


class Dense:
    """A ranking by the inner product of embeddings, searched exhaustively by FAISS."""

    def __init__(self, texts: Sequence[str], embedder: Embedder, watch: Watch | None = None) -> None:
        try:
            import faiss
        except ImportError:
            raise missing("faiss-cpu") from None
        self.embedder = embedder
        self.places: dict[str, list[int]] = {}
        """The positions of each text. Equal texts are one row, and so have one score."""
        for place, text in enumerate(texts):
            self.places.setdefault(text, []).append(place)
        self.rows = list(self.places.values())
        vectors = embed_texts(embedder, list(self.places), watch)
        self.index = faiss.IndexFlatIP(vectors.shape[1])
        self.index.add(vectors)

    def best(self, query: str, top: int) -> Ranked:
        vector = embed_texts(self.embedder, [query])
        limit = min(top, len(self.rows))
        while True:  # more than wanted, as long as the next one may be as good
            scores, rows = self.index.search(vector, min(limit + 1, len(self.rows)))
            if limit >= len(self.rows) or scores[0, -1] < scores[0, min(top, len(self.rows)) - 1]:
                break
            limit *= 2
        results = zip(scores[0].tolist(), rows[0].tolist(), strict=True)
        ranked = sorted((-score, place) for score, row in results for place in self.rows[row])
        return [(place, -score) for score, place in ranked[:top]]


class BM25:
    """A ranking by common words (Lucene's BM25, k1 = 1.5, b = 0.75). A text without a common word is not found."""

    def __init__(self, texts: Sequence[str]) -> None:
        try:
            from bm25s import BM25 as Scorer
        except ImportError:
            raise missing("bm25s") from None
        self.words: dict[str, int] = {}
        ids = [[self.words.setdefault(word, len(self.words)) for word in words_of(text)] for text in texts]
        self.scorer = Scorer(k1=1.5, b=0.75, method="lucene", backend="numpy")
        if self.words:
            self.scorer.index((ids, dict(self.words)), show_progress=False)

    def best(self, query: str, top: int) -> Ranked:
        ids = [self.words[word] for word in words_of(query) if word in self.words]
        if not ids:
            return []
        scores = self.scorer.get_scores_from_ids(ids)
        order = np.argsort(-scores, kind="stable")[:top]
        return [(int(place), float(scores[place])) for place in order if scores[place] > 0]


def words_of(text: str) -> list[str]:
    """
    >>> words_of("_Mary_ isn’t in the Garden.")
    ['mary', 'isn', 't', 'in', 'the', 'garden']
    """
    return _WORD.findall(text.lower())


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
        scored = [ScoredChunk(self.chunks[number], score) for number, score in ranked]
        if self.setting.order == "position":
            scored.sort(key=attrgetter("chunk"))
        chosen = [chunk for chunk, _ in scored]
        text = JOINT.join(self.context[chunk.start : chunk.end] for chunk in chosen)
        return FoundParts(text, tuple(scored), None if evidence is None else recall(self.context, evidence, chosen))


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


@cache
def embedder(by: str) -> Embedder:
    """Return the embedder of a name, which is built once."""
    if by == MINILM:
        return load()
    return Endpoint.at(Address.parse(by))
