"""Greedy choices of words: the one with the most letters, then twice the one that adds the most.

A greedy choice does not survey the languages, so most instances are chosen such that it misses the letter coverage.

>>> letters = {"abc": 0b_0000_1111, "kloe": 0b_0001_0011, "wux": 0b_0010_1100, "xyz": 0b_1100_0000}
>>> choose_greedily(letters, list(letters)), is_greed_wrong(letters)
(('abc', 'xyz', 'kloe'), True)
"""

from collections.abc import Sequence

from carrara.tasks.sync._letter_coverage import Letters


def choose_greedily(letters: Letters, words: Sequence[str]) -> tuple[str, ...]:
    """Return three words, each of which adds the most letters to those before it; of equals the first one."""
    chosen, bits = list[str](), 0
    for _ in range(3):
        others = [word for word in words if word not in chosen]
        chosen.append(max(others, key=lambda word: (bits | letters[word]).bit_count()))
        bits |= letters[chosen[-1]]
    return tuple(chosen)


def is_greed_wrong(letters: Letters) -> bool:
    """Return whether greed finds fewer letters than there are, whether it takes the first or the last of equals.

    Only words are tried together that have more letters than greed found, counted with repetitions.
    """
    values = list(letters.values())
    found = max(_greedy_size(values), _greedy_size(values[::-1]))
    best = sorted(set(values), key=int.bit_count, reverse=True)
    sizes = [value.bit_count() for value in best]
    for i, one in enumerate(best):
        if 3 * sizes[i] <= found:
            break
        for j in range(i + 1, len(best)):
            if sizes[i] + 2 * sizes[j] <= found:
                break
            two = one | best[j]
            for k in range(j + 1, len(best)):
                if sizes[i] + sizes[j] + sizes[k] <= found:
                    break
                if (two | best[k]).bit_count() > found:
                    return True
    return False


def _greedy_size(values: Sequence[int]) -> int:
    bits = 0
    for _ in range(3):
        counts = [(bits | value).bit_count() for value in values]
        bits |= values[counts.index(max(counts))]
    return bits.bit_count()
