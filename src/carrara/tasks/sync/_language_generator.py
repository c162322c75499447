"""Draw the languages of an instance, whose letter coverage neither a guess nor greed should find."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np

from carrara.rng import Rng
from carrara.tasks.sync._languages import Dictionary, Languages, LanguageShape, WordRng, draw_languages
from carrara.util.errors import UsageError

RankedWord = tuple[int, int, int]
"""The number of letters of a word, its place in an order, and its letters. Among equals, greed takes the last place."""

Letters = Mapping[str, int]
"""A set of letters for each word, as bits."""


def choose_greedily(letters: Letters, words: Sequence[str]) -> tuple[str, ...]:
    """Return three words, each of which adds the most letters to those before it. Among equals, the first is taken.

    A greedy choice does not survey the languages, so most instances are chosen such that it misses the letter coverage.

    >>> letters = {"abc": 0b_0000_1111, "kloe": 0b_0001_0011, "wux": 0b_0010_1100, "xyz": 0b_1100_0000}
    >>> choose_greedily(letters, list(letters)), is_greed_wrong(rank_words(letters))
    (('abc', 'xyz', 'kloe'), True)
    """
    chosen, bits = list[str](), 0
    for _ in range(3):
        others = [word for word in words if word not in chosen]
        chosen.append(max(others, key=lambda word: (bits | letters[word]).bit_count()))
        bits |= letters[chosen[-1]]
    return tuple(chosen)


def rank_words(letters: Letters) -> list[RankedWord]:
    """Return words as `is_greed_wrong` takes them."""
    return sorted(((bits.bit_count(), -place, bits) for place, bits in enumerate(letters.values())), reverse=True)


def is_greed_wrong(ranked: Sequence[RankedWord]) -> bool:
    """Return whether greed finds fewer letters than there are, whether it takes the first or the last of equals."""
    if not _has_more(ranked, _greedy_size(ranked)):
        return False
    return _has_more(ranked, _greedy_size([(size, -order, bits) for size, order, bits in ranked]))


def _greedy_size(ranked: Sequence[RankedWord]) -> int:
    """Return how many letters greed finds."""
    covered = 0
    for _ in range(3):
        most, last, best = 0, 0, 0
        for size, order, bits in ranked:
            if covered.bit_count() + size < most:
                break  # no word from here on adds as many letters
            count = (covered | bits).bit_count()
            if count > most or (count == most and order > last):
                most, last, best = count, order, bits
        covered |= best
    return covered.bit_count()


def _has_more(ranked: Sequence[RankedWord], limit: int) -> bool:
    """Return whether three words have more letters together than `limit`.

    Words are tried together only if they have more letters than that when repetitions count.
    """
    for i, (size, _, bits) in enumerate(ranked):
        if 3 * size <= limit:
            break
        for j in range(i + 1, len(ranked)):
            second_size, _, second = ranked[j]
            if size + 2 * second_size <= limit:
                break
            for third_size, _, third in ranked[j + 1 :]:
                if size + second_size + third_size <= limit:
                    break
                if (bits | second | third).bit_count() > limit:
                    return True
    return False


_TRIPLES = 1 << 16
"""The most triples that are tried at once."""


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
    """Return how many letters some words cover together.

    >>> letters = first_letters([{"abc": "kloe", "def": "wux"}, {"kloe": "xyz"}])
    >>> count_letters(letters, ["abc"]), count_letters(letters, ["abc", "def"])
    (2, 3)
    """
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


GREEDY_DRAWS = 300
"""The most sets of languages that are drawn for one instance until greed misses the letter coverage."""
DRAWS = 300
"""The most sets that are drawn after these, whatever greed finds. The instance fails if none of them fits."""
LINKINGS = 200
"""The most links between the chained words of one set of languages that are tried."""


def generate_languages(
    rng: Rng, shape: LanguageShape, chance: float, against_greed: bool
) -> tuple[Languages, Coverage]:
    """Return languages and their letter coverage.

    Args:
        rng: Random numbers, of no use from then on.
        chance: How often a random guess at the letter coverage may be right, at most.
        against_greed: Whether greed should miss the letter coverage.

    Raises:
        UsageError: A random guess is right too often in all languages that were drawn.
    """
    rng = WordRng(rng)
    for draw in range(GREEDY_DRAWS + DRAWS):
        languages = draw_languages(rng, shape)
        if against_greed and draw < GREEDY_DRAWS:
            if (relinked := relink_against_greed(rng, languages)) is None:
                continue
            languages = relinked
        coverage = find_coverage(first_letters(languages.dictionaries))
        if coverage.chance <= chance:
            return languages, coverage
    raise UsageError(
        f"of {DRAWS} sets of {shape.languages} languages none has a letter coverage that a random guess finds in at "
        f"most {100 * chance:g} % of its tries: ask for more languages or entries, for fewer chained words, or for a "
        f"greater chance"
    )


def relink_against_greed(rng: WordRng, languages: Languages) -> Languages | None:
    """Link the chained words otherwise until greed does not find the most letters; None if no try achieves that.

    Greed errs in one of forty random sets of languages. Linking the same words otherwise is much faster than drawing
    all languages anew, and gives each word translations that are as random as before.
    """
    chains = [list(chain) for chain in languages.chains]
    letter = {word: letter_bit(word) for chain in chains for word in chain}
    letters = first_letters(languages.dictionaries)
    order = {word: -place for place, word in enumerate(letters)}
    chained = {order[word] for word in chains[0]}
    others = [word for word in rank_words(letters) if word[1] not in chained]
    for _ in range(LINKINGS):
        ranked = others.copy()
        for word, *translations in zip(*chains, strict=True):
            bits = 0
            for translation in translations:
                bits |= letter[translation]
            ranked.append((bits.bit_count(), order[word], bits))
        ranked.sort(reverse=True)
        if is_greed_wrong(ranked):
            return languages.relink(chains)
        rng.shuffle_each(chains[1:])
    return None
