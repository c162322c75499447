"""Parts of a text: sentences, windows of words, and passages. Each is a slice without white space at its ends.

Everything here reads a text alone, as any text splitter does. No part ends where it does because of the facts and the
filler from which a context was made.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from carrara.corpora.sentences import split_text
from carrara.tokenizers.base import Tokenizer

_WORD = re.compile(r"\S+")
_LINE = re.compile(r"[^\n]+")
_CLAUSE_END = re.compile(r"[,;](?=\s)|[，；、]")
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
        first, *others = sentence.split()
        start = text.index(first, end)
        if text.startswith(sentence, start):
            end = start + len(sentence)
        else:  # the splitter turns all white space into single spaces, so each word is searched for
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
    sums = _count_up_to(text, [end for _, end in words], tokenizer)
    chunks: list[Chunk] = []
    first = stop = 0
    while stop < len(words):
        stop = max(first + 1, int(np.searchsorted(sums, sums[first] + size, "right")) - 1)
        chunks.append(Chunk(len(chunks), words[first][0], words[stop - 1][1]))
        first = max(first + 1, int(np.searchsorted(sums, sums[stop] - overlap, "left"))) if overlap else stop
    return chunks


def _count_up_to(text: str, ends: Sequence[int], tokenizer: Tokenizer) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Return the tokens of a text before its beginning and each of these positions, about: the words' own, added up."""
    # With the white space before it: a line break costs tokens, a space does not.
    segments = [text[last:end] for last, end in pairwise(ends)]
    if ends:
        segments.insert(0, " " + text[: ends[0]].lstrip())
    distinct = list(dict.fromkeys(segments))
    lead = tokenizer.count(_LEAD)
    counts = tokenizer.count_many([_LEAD + segment for segment in distinct])
    costs = {segment: max(0, count - lead) for segment, count in zip(distinct, counts, strict=True)}
    return np.cumsum([0, *(costs[segment] for segment in segments)])


class TextSplitter:
    """Divides a text into passages of whole sentences or lines, by the number of their tokens alone.

    Passages are as long as they may be. A sentence that is longer than a passage is divided between clauses, a longer
    clause between words, and a longer word between characters.

    Args:
        text: The text.
        tokenizer: Counts the tokens.

    Examples:
        >>> from carrara import tokenizers
        >>> splitter = TextSplitter("It rains. Mary sleeps. Nobody knows why.", tokenizers.get("o200k"))
        >>> splitter.passages(8)
        [(0, 22), (23, 40)]
        >>> splitter.passage(3, 8)
        (3, 22)
    """

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self._text, self._count = text, tokenizer.count
        sentences = [line.start() + chunk.end for line in _LINE.finditer(text) for chunk in by_sentences(line[0])]
        clauses = [match.end() for match in _CLAUSE_END.finditer(text)]
        words = sorted({*(match.end() for match in _WORD.finditer(text)), *sentences, *clauses})
        self._words = np.array(words, np.int64)
        """The ends of words. What a sentence or a clause ends in is a word of its own, in a script without spaces."""
        self._sums = _count_up_to(text, words, tokenizer)
        self._ends = [np.array(ends, np.int64) for ends in (sentences, clauses)]

    def passages(self, tokens: int) -> list[tuple[int, int]]:
        """Return the passages of the text in order.

        Args:
            tokens: The most tokens of a passage.

        Returns:
            The positions of the first character of each, and of the character after its last one.
        """
        return list(self._passages(tokens))

    def _passages(self, tokens: int) -> Iterator[tuple[int, int]]:
        end = 0
        last = int(self._words[-1]) if len(self._words) else 0
        while end < last:
            start, end = self.passage(end, tokens)
            yield start, end

    def passage(self, start: int, tokens: int) -> tuple[int, int]:
        """Return the passage that begins at a position.

        Args:
            start: The position. White space there is left out.
            tokens: The most tokens of the passage.

        Returns:
            The position of its first character, and of the character after its last one.
        """
        text, words, sums, count = self._text, self._words, self._sums, self._count
        first = int(np.searchsorted(words, start, "right"))
        if first == len(words):  # there is nothing but white space
            return len(text), len(text)
        word_end = int(words[first])
        start = word_end - len(text[start:word_end].lstrip())
        used = count(text[start:word_end])  # at the beginning of a text, a word may have other tokens
        if used > tokens:
            return start, start + self._fitting_characters(start, word_end, tokens)
        last = int(np.searchsorted(sums, sums[first + 1] + tokens - used, "right")) - 1
        while True:
            end = self._end(start, last, tokens)
            last = int(np.searchsorted(words, end))
            if last <= first or count(text[start:end]) <= tokens:
                return start, end

    def _end(self, start: int, last: int, tokens: int) -> int:
        """Return the end of a passage into which the words before number `last` fit."""
        limit = int(self._words[last - 1])
        if last == len(self._words):
            return limit
        for ends in self._ends:
            place = int(np.searchsorted(ends, limit, "right"))
            end = int(ends[place - 1]) if place else 0
            following = int(ends[place]) if place < len(ends) else int(self._words[-1])
            if end > start and self._tokens_before(following) - self._tokens_before(end) <= tokens:
                return end
        return limit

    def _tokens_before(self, end: int) -> int:
        """Return the tokens before the end of a word."""
        return int(self._sums[int(np.searchsorted(self._words, end)) + 1])

    def _fitting_characters(self, start: int, end: int, tokens: int) -> int:
        """Return the number of characters of a word that have at most this many tokens, at least one."""

        def count(size: int) -> int:
            return self._count(self._text[start : start + size])

        size = 1
        while start + size < end and count(size) <= tokens:
            size *= 2
        return max(1, bisect_right(range(1, min(size, end - start) + 1), tokens, key=count))
