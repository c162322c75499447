"""Rankings of texts by their similarity to a query. Of two texts with equal scores, the first comes first."""

import re
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from carrara.readers.retrieval.embedders import Embedder, Watch, missing
from carrara.readers.retrieval.store import embed_texts

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
        asked = min(top, len(self.rows))
        while True:  # more than wanted, as long as the next one may be as good
            scores, rows = self.index.search(vector, min(asked + 1, len(self.rows)))
            if asked >= len(self.rows) or scores[0, -1] < scores[0, min(top, len(self.rows)) - 1]:
                break
            asked *= 2
        found = zip(scores[0].tolist(), rows[0].tolist(), strict=True)
        ranked = sorted((-score, place) for score, row in found for place in self.rows[row])
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
