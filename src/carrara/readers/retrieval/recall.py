"""Recall: the share of a question's evidence that is among the parts found."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from carrara.readers.retrieval.chunks import Chunk

Stretch = tuple[int, int]
"""The characters from start to end - 1 of a context."""


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


def recall(context: str, evidence: Sequence[Stretch], chunks: Iterable[Chunk]) -> Recall:
    """Return the recall. A piece of evidence is found if a chunk has each of its characters, white space aside.

    >>> recall("one two three", [(0, 7), (8, 13)], [Chunk(0, 0, 3), Chunk(1, 4, 7)])
    Recall(complete=False, share=0.5)
    """
    runs = _runs(chunks)
    found = 0
    for start, end in evidence:
        text = context[start:end]
        start, end = start + len(text) - len(text.lstrip()), start + len(text.rstrip())
        found += any(first <= start and end <= last for first, last in runs)
    return Recall(found == len(evidence), found / len(evidence) if evidence else 1.0)


def _runs(chunks: Iterable[Chunk]) -> list[Stretch]:
    """Return the stretches that the chunks cover, with neighbours merged."""
    runs: list[Stretch] = []
    last = -1
    for number, start, end in sorted(chunks):
        if runs and (number == last + 1 or start <= runs[-1][1]):
            runs[-1] = runs[-1][0], max(runs[-1][1], end)
        else:
            runs.append((start, end))
        last = number
    return runs
