"""Chunks: a text cut into the parts that are ranked. Each is a slice of it, without the white space at its ends."""

import re
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from carrara.corpora.sentences import split_text
from carrara.tokenizers.base import Tokenizer

_WORD = re.compile(r"\S+")
_LEAD = "A"


class Chunk(NamedTuple):
    """The characters start … end-1 of a text."""

    number: int
    """Its place among the chunks of the text. Between neighbours there is nothing but white space."""
    start: int
    end: int


def by_sentences(text: str) -> list[Chunk]:
    """A chunk for each sentence.

    >>> [(start, end) for _, start, end in by_sentences("Mr. Stone\\ncame. He went.")]
    [(0, 15), (16, 24)]
    """
    chunks: list[Chunk] = []
    end = 0
    for sentence in split_text(text):
        # The splitter makes all white space single spaces; the words are found again in the text as it is.
        first, *others = sentence.split()
        start = text.index(first, end)
        end = start + len(first)
        for word in others:
            end = text.index(word, end) + len(word)
        chunks.append(Chunk(len(chunks), start, end))
    return chunks


def by_tokens(text: str, size: int, tokenizer: Tokenizer, overlap: int = 0) -> list[Chunk]:
    """Windows of whole words that cost at most `size` tokens together, each by what it adds behind another word.

    A word is what stands between white space; one that costs more than a window is a window of its own. A window
    begins with so many of the last words of the one before as cost at most `overlap` tokens.
    """
    words = [match.span() for match in _WORD.finditer(text)]
    # With the white space before it: a line break costs tokens, a space does not.
    ends = [end for _, end in words]
    segments = [text[last:end] for last, end in pairwise(ends)]
    segments[:0] = [" " + text[start:end] for start, end in words[:1]]
    distinct = list(dict.fromkeys(segments))
    lead = tokenizer.count(_LEAD)
    counts = tokenizer.count_many([_LEAD + segment for segment in distinct])
    costs = {segment: max(0, count - lead) for segment, count in zip(distinct, counts, strict=True)}
    sums = np.cumsum([0, *(costs[segment] for segment in segments)])
    chunks: list[Chunk] = []
    first = stop = 0
    while stop < len(words):
        stop = max(first + 1, int(np.searchsorted(sums, sums[first] + size, "right")) - 1)
        chunks.append(Chunk(len(chunks), words[first][0], words[stop - 1][1]))
        first = max(first + 1, int(np.searchsorted(sums, sums[stop] - overlap, "left"))) if overlap else stop
    return chunks
