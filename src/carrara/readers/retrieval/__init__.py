"""Retrieval: shorten a long context to the parts that are most similar to a question.

    >>> from carrara.readers.retrieval import Retrieval, retrieve
    >>> context = "John took the milk. It rained all day. Mary went to the garden. Nobody knew why."
    >>> found = retrieve(context, "Where is Mary?", Retrieval.parse("sentences", by="bm25"), evidence=[(39, 63)])
    >>> found.text
    'Mary went to the garden.'
    >>> found.recall
    Recall(complete=True, share=1.0)

It is the baseline of BABILong (section 3.2 and appendix G). Parts are sentences or windows of tokens, ranked by
embeddings or by BM25. Recall is the share of the evidence that is among the parts found. This package does not depend
on models, items or tasks: a context is a text, and evidence is given as positions in it.
"""

from carrara.corpora.chunks import Chunk
from carrara.readers.retrieval.embedders import EmbedderUnavailableError
from carrara.readers.retrieval.index import FoundParts, Index, Recall, ScoredChunk, ready, retrieve
from carrara.readers.retrieval.setting import Retrieval

__all__ = [
    "Chunk",
    "EmbedderUnavailableError",
    "FoundParts",
    "Index",
    "Recall",
    "Retrieval",
    "ScoredChunk",
    "ready",
    "retrieve",
]
