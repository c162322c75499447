"""Greedy choices of words: the one with the most letters, then twice the one that adds the most.

A greedy choice does not survey the languages, so most instances are chosen such that it misses the letter coverage.

>>> letters = {"abc": 0b_0000_1111, "kloe": 0b_0001_0011, "wux": 0b_0010_1100, "xyz": 0b_1100_0000}
>>> choose_greedily(letters, list(letters)), is_greed_wrong(rank_words(letters))
(('abc', 'xyz', 'kloe'), True)
"""

from collections.abc import Sequence

from carrara.tasks.sync._letter_coverage import Letters

RankedWord = tuple[int, int, int]
"""The number of letters of a word; its place in an order, of which greed takes the last among equals; its letters."""


def choose_greedily(letters: Letters, words: Sequence[str]) -> tuple[str, ...]:
    """Return three words, each of which adds the most letters to those before it; of equals the first one."""
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
    """Return whether greed finds fewer letters than there are, whether it takes the first or the last of equals.

    Args:
        ranked: The words, those with the most letters first.
    """
    if not _has_more(ranked, _greedy_size(ranked)):
        return False
    return _has_more(ranked, _greedy_size([(size, -order, bits) for size, order, bits in ranked]))


def _greedy_size(ranked: Sequence[RankedWord]) -> int:
    """Return how many letters greed finds."""
    found = 0
    for _ in range(3):
        most, last, best = 0, 0, 0
        for size, order, bits in ranked:
            if found.bit_count() + size < most:
                break  # no word from here on adds as many letters
            count = (found | bits).bit_count()
            if count > most or (count == most and order > last):
                most, last, best = count, order, bits
        found |= best
    return found.bit_count()


def _has_more(ranked: Sequence[RankedWord], limit: int) -> bool:
    """Return whether three words have more letters together than `limit`.

    Only words are tried together that have more letters than that, counted with repetitions.
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
