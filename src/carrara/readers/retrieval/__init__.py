"""Retrieval: a long context shortened to the parts that a question is most like, for a model to read in its stead.

    >>> from carrara.readers.retrieval import Retrieval, retrieve
    >>> context = "John took the milk. It rained all day. Mary went to the garden. Nobody knew why."
    >>> found = retrieve(context, "Where is Mary?", Retrieval.parse("sentences", by="bm25"), evidence=[(39, 63)])
    >>> found.text
    'Mary went to the garden.'
    >>> found.recall
    Recall(complete=True, share=1.0)

It is the baseline of BABILong (section 3.2 and appendix G): parts are sentences or windows of tokens, ranked by
embeddings or by BM25, and it is told whether what was needed is among those found. Nothing here knows of models, items
or tasks: a context is a text, and evidence are places in it.
"""

from carrara.readers.retrieval.chunks import Chunk
from carrara.readers.retrieval.embedders import EmbedderUnavailableError
from carrara.readers.retrieval.index import Found, Index, Retrieved, ready, retrieve
from carrara.readers.retrieval.recall import Recall
from carrara.readers.retrieval.setting import Retrieval

__all__ = [
    "Chunk",
    "EmbedderUnavailableError",
    "Found",
    "Index",
    "Recall",
    "Retrieval",
    "Retrieved",
    "ready",
    "retrieve",
]
