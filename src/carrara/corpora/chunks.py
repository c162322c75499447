"""Parts of a text: sentences, windows of words, and passages. Each is a slice without white space at its ends.

Everything here reads a text alone, as any text splitter does. No part ends where it does because of the facts and the
filler from which a context was made.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from carrara.corpora.sentences import split_text
from carrara.tokenizers.base import Tokenizer

_WORD = re.compile(r"\S+")
_LINE = re.compile(r"[^\n]+")
_LINE_BREAK = re.compile(r"(?<=\S)\s*\n")
_CLAUSE_END = re.compile(r"[,;](?=\s)|[，；、]")
MARGIN = 64
"""The tokens below the most that a passage may have, near which it ends. A shorter passage: an eighth of them."""


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
    """Return the tokens of a text before its beginning and each of these ends of words, about.

    They are the sums of what each word adds. As in most vocabularies, a space belongs to the word after it, and a line
    break to the word before it.
    """
    breaks = {match.start(): match.end() for match in _LINE_BREAK.finditer(text)}
    bounds = [breaks.get(end, end) for end in ends]
    segments = [text[last:bound] for last, bound in pairwise(bounds)]
    if bounds:
        segments.insert(0, " " + text[: bounds[0]].lstrip())
    # Vocabularies look at what stands beside white space.
    framed = {
        segment: ("A" if segment[0].isspace() else "\n", "A" if segment[-1] == "\n" else "")
        for segment in dict.fromkeys(segments)
    }
    counts = tokenizer.count_many([before + segment + after for segment, (before, after) in framed.items()])
    frames = {frame: sum(tokenizer.count_many(frame)) for frame in set(framed.values())}
    costs = {
        segment: max(0, count - frames[frame]) for (segment, frame), count in zip(framed.items(), counts, strict=True)
    }
    return np.cumsum([0, *(costs[segment] for segment in segments)])


def typical_size(most: int) -> int:
    """Return the tokens near which a passage ends that may have at most so many."""
    return most - min(MARGIN, most // 8)


class TextSplitter:
    """Divides a text into passages of whole sentences or lines, by the number of their tokens alone.

    A passage ends at the end of a sentence that is nearest to `MARGIN` tokens below the most that it may have. So it is
    as likely to end before a long sentence as after one. Short sentences, such as facts, are the first or the last of a
    passage no more often than others.

    A sentence that is longer than a quarter of a passage may be divided between clauses. Such a clause may be divided
    between words, and a word that is longer than a passage between characters.

    Examples:
        >>> from carrara import tokenizers
        >>> splitter = TextSplitter("It rains. Mary sleeps. Nobody knows why.", tokenizers.get("o200k"))
        >>> splitter.passages(8)
        [(0, 22), (23, 40)]
        >>> splitter.passage(3, 8)
        (3, 22)
    """

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self.text, self._count = text, tokenizer.count
        ends = (line.start() + chunk.end for line in _LINE.finditer(text) for chunk in by_sentences(line[0]))
        sentences = np.fromiter(ends, np.int64)
        clauses, words = (
            np.fromiter((match.end() for match in pattern.finditer(text)), np.int64) for pattern in (_CLAUSE_END, _WORD)
        )
        self._words = np.unique(np.concatenate([sentences, clauses, words]))
        """The ends of words. The end of a sentence or a clause is one, too, in a script without spaces."""
        self._ends = sentences, clauses, self._words
        self._sums = _count_up_to(text, self._words.tolist(), tokenizer)

    def passages(self, tokens: int) -> list[tuple[int, int]]:
        """Return where the passages of the text, which have at most so many tokens, start and stop, in order."""
        passages, end = list[tuple[int, int]](), 0
        last = int(self._words[-1]) if len(self._words) else 0
        while end < last:
            start, end = self.passage(end, tokens)
            passages.append((start, end))
        return passages

    def passage(self, start: int, tokens: int) -> tuple[int, int]:
        """Return where the passage that begins at a position starts and stops. White space is left out."""
        text = self.text
        first = int(np.searchsorted(self._words, start, "right"))
        if first == len(self._words):  # there is nothing but white space
            return len(text), len(text)
        end = int(self._words[first])
        start = end - len(text[start:end].lstrip())
        used = self._count(text[start:end])  # at the beginning of a text, a word may have other tokens
        if used > tokens:
            return start, start + self._fitting_characters(start, end, tokens)
        before, most = int(self._sums[first + 1]) - used, tokens
        while most > used:
            end = self._end(start, before, most, max(MARGIN, tokens // 4))
            if (over := self._count(text[start:end]) - tokens) <= 0:
                break
            most -= over
        else:
            end = int(self._words[first])
        return start, end

    def tokens_before(self, position: int) -> int:
        """Return the tokens of the words that end before a position or at it, about."""
        return int(self._sums[int(np.searchsorted(self._words, position, "right"))])

    def _end(self, start: int, before: int, most: int, longest: int) -> int:
        """Return the end of a passage, before which the text has so many tokens.

        It has at most `most` tokens, by the sums of the words' own. A sentence that is not its first is kept whole
        if it has no more tokens than `longest`.
        """
        if self._sums[-1] - before <= most:
            return int(self._words[-1])
        aim = typical_size(most)
        aimed = int(self._words[max(0, int(np.searchsorted(self._sums, before + aim, "right")) - 2)])
        for ends in self._ends:
            place = int(np.searchsorted(ends, aimed, "right"))
            near = int(ends[place - 1]) if place else 0
            far = int(ends[place]) if place < len(ends) else int(self._words[-1])
            low, high = self.tokens_before(near) - before, self.tokens_before(far) - before
            if near > start and high - low <= longest:
                return far if high <= most and high - aim < aim - low else near
            if near <= start and high <= most:
                return far
        return aimed

    def _fitting_characters(self, start: int, end: int, tokens: int) -> int:
        """Return the number of characters of a word that have at most this many tokens, at least one."""

        def count(size: int) -> int:
            return self._count(self.text[start : start + size])

        size = 1
        while start + size < end and count(size) <= tokens:
            size *= 2
        return max(1, bisect_right(range(1, min(size, end - start) + 1), tokens, key=count))
