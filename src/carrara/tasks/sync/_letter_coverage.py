"""Letter coverage: the first letters that the translations of three words have together.

>>> letters = first_letters([{"abc": "kloe", "def": "wux"}, {"kloe": "xyz"}])
>>> count_letters(letters, ["abc"]), count_letters(letters, ["abc", "def"])
(2, 3)
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np

from carrara.tasks.sync._languages import Dictionary

Letters = Mapping[str, int]
"""A set of letters for each word, as bits."""

_TRIPLES = 1 << 16
"""Triples that are tried at once, where there are so many."""


class Coverage(NamedTuple):
    """The most letters that three words can cover."""

    size: int
    best: tuple[str, str, str]
    """The first triple, in alphabetical order, that covers so many."""
    chance: float
    """The share of all triples of words in the first dictionary that cover so many."""


def letter_bit(word: str) -> int:
    """Return the first letter of a word as a bit."""
    return 1 << ord(word[0]) - ord("a")


def first_letters(dictionaries: Sequence[Dictionary]) -> dict[str, int]:
    """Return the first letters of all translations of each word of the first dictionary."""
    letters: dict[str, int] = {}
    for word in dictionaries[0] if dictionaries else ():
        last, bits = word, 0
        for dictionary in dictionaries:
            if last not in dictionary:
                break
            last = dictionary[last]
            bits |= letter_bit(last)
        letters[word] = bits
    return letters


def count_letters(letters: Letters, words: Iterable[str]) -> int:
    """Return how many letters some words cover together."""
    bits = 0
    for word in words:
        bits |= letters.get(word, 0)
    return bits.bit_count()


def find_coverage(letters: Letters) -> Coverage:
    """Return the letter coverage, found by trying all triples."""
    words = sorted(letters)
    bits = np.array([letters[word] for word in words], np.uint32)
    second, third = _pairs(len(words))
    size, ways, best = 0, 0, (0, 0, 0)
    rows = max(1, _TRIPLES // len(second))
    for start in range(0, len(words) - 2, rows):
        first = np.arange(start, min(start + rows, len(words) - 2), dtype=second.dtype)[:, None]
        begin = int(np.searchsorted(second, start, "right"))
        counts = np.bitwise_count(bits[first] | bits[second[begin:]] | bits[third[begin:]])
        counts *= second[begin:] > first
        most = int(counts.max())
        if most > size:
            row, pair = divmod(int(counts.argmax()), counts.shape[1])
            size, ways, best = most, 0, (start + row, int(second[begin + pair]), int(third[begin + pair]))
        if most == size:
            ways += int(np.count_nonzero(counts == most))
    return Coverage(size, (words[best[0]], words[best[1]], words[best[2]]), ways / comb(len(words), 3))


@lru_cache(maxsize=4)
def _pairs(count: int) -> "tuple[np.typing.NDArray[np.int32], np.typing.NDArray[np.int32]]":
    """Return all pairs of `count` places in order, as their first and their second places."""
    first, second = np.triu_indices(count, 1)
    return first.astype(np.int32), second.astype(np.int32)
