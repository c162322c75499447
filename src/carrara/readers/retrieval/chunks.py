"""Chunks: the parts of a text that are ranked. Each is a slice of the text without white space at its ends."""

import re
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from carrara.corpora.sentences import split_text
from carrara.tokenizers.base import Tokenizer

_WORD = re.compile(r"\S+")
_LEAD = "A"


class Chunk(NamedTuple):
    """A part of a text: the characters from `start` to `end - 1`.

    Examples:
        >>> chunk = by_sentences("It rains. Mary sleeps.")[1]
        >>> chunk.number, chunk.start, chunk.end
        (1, 10, 22)
    """

    number: int
    """The position among the chunks of the text. Between neighbours there is only white space."""
    start: int
    """The first character."""
    end: int
    """The character after the last one."""


def by_sentences(text: str) -> list[Chunk]:
    """Return a chunk for each sentence.

    >>> [(start, end) for _, start, end in by_sentences("Mr. Stone\\ncame. He went.")]
    [(0, 15), (16, 24)]
    """
    chunks: list[Chunk] = []
    end = 0
    for sentence in split_text(text):
        # The splitter turns all white space into single spaces, so the words are searched for in the original text.
        first, *others = sentence.split()
        start = text.index(first, end)
        end = start + len(first)
        for word in others:
            end = text.index(word, end) + len(word)
        chunks.append(Chunk(len(chunks), start, end))
    return chunks


def by_tokens(text: str, size: int, tokenizer: Tokenizer, overlap: int = 0) -> list[Chunk]:
    """Return windows of whole words that have at most `size` tokens each.

    A word is a run of characters without white space, and its tokens are those that it adds after another word. A word
    that is longer than a window is a window of its own. Each window begins with the last words of the one before, as
    many as have at most `overlap` tokens.
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
