"""Letter coverage: the first letters that the translations of three words have together.

>>> letters = first_letters([{"abc": "kloe", "def": "wux"}, {"kloe": "xyz"}])
>>> count_letters(letters, ["abc"]), count_letters(letters, ["abc", "def"])
(2, 3)
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from carrara.tasks.sync._languages import Dictionary

Letters = Mapping[str, int]
"""A set of letters for each word, as bits."""


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
    second, third = np.triu_indices(len(words), 1)
    two = bits[second] | bits[third]
    size, ways, best, behind = -1, 0, (0, 0, 0), 0
    for first in range(len(words) - 2):
        behind += len(words) - 1 - first  # so many pairs have words up to this one
        counts = np.bitwise_count(bits[first] | two[behind:])
        most = int(counts.max())
        if most > size:
            place = behind + int(counts.argmax())
            size, ways, best = most, 0, (first, int(second[place]), int(third[place]))
        if most == size:
            ways += int(np.count_nonzero(counts == most))
    n = len(words)
    total = n * (n - 1) * (n - 2) // 6
    return Coverage(size, (words[best[0]], words[best[1]], words[best[2]]), ways / total)
