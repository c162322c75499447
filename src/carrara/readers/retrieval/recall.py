"""Recall: the share of a question's evidence that is among the parts found."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from carrara.corpora.chunks import Chunk
from carrara.readers.spans import Span, covers, merge


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
    found = sum(covers(context, merged, piece) for piece in evidence)
    return Recall(found == len(evidence), found / len(evidence) if evidence else 1.0)
