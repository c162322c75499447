"""Random words, drawn many at once.

An instance in which greedy choices fail takes tens of thousands of words. NumPy's Mersenne Twister is Python's, so the
same numbers come in blocks from there, and a word is a slice of what a block's numbers are as letters.
"""

from collections.abc import MutableSequence, Sequence
from typing import TypeVar

import numpy as np

from carrara.core.keys import Dice

ALPHABET = b"abcdefghijklmnopqrstuvwxyz"
_BLOCK = 1 << 13

T = TypeVar("T")


class WordDice(Dice):
    """Random choices that continue the stream of other dice, with words of random letters among them.

    The other dice must not be used from then on.
    """

    def __init__(self, dice: Dice) -> None:
        _, state, _ = dice.source.getstate()
        self._stream = np.random.RandomState()
        self._stream.set_state(("MT19937", np.array(state[:-1], np.uint32), state[-1], 0, 0.0))
        self._unused = np.empty(0)
        """Numbers that have been drawn from the stream and not used."""
        self.random = lambda: float(self._take(1)[0])

    def draw_words(self, count: int, least: int, most: int) -> list[str]:
        """Return words of `least` to `most` letters, each as `"".join(dice.choice(…) …)` would draw it."""
        self._fill(count * (most + 1))
        numbers = self._unused[: count * (most + 1)]
        letters = np.frombuffer(ALPHABET, np.uint8)[(numbers * len(ALPHABET)).astype(np.intp)].tobytes().decode()
        # The length of a word that begins at each number.
        sizes = ((numbers * (most - least + 1)).astype(np.uint8) + np.uint8(least)).tobytes()
        end, words = 0, list[str]()
        for _ in range(count):
            start = end + 1
            end = start + sizes[end]
            words.append(letters[start:end])
        self._unused = self._unused[end:]
        return words

    def shuffle(self, items: MutableSequence[T]) -> None:
        places = range(len(items) - 1, 0, -1)
        for i, number in zip(places, self._take(len(places)).tolist(), strict=True):
            j = int(number * (i + 1))
            items[i], items[j] = items[j], items[i]

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        if 4 * k >= len(items):
            return super().sample(items, k)
        places: dict[int, None] = {}
        while len(places) < k:
            places.update(dict.fromkeys((self._take(k - len(places)) * len(items)).astype(np.intp).tolist()))
        return [items[i] for i in places]

    def _take(self, count: int) -> "np.typing.NDArray[np.float64]":
        self._fill(count)
        numbers, self._unused = self._unused[:count], self._unused[count:]
        return numbers

    def _fill(self, count: int) -> None:
        """Have `count` unused numbers, at least."""
        if len(self._unused) < count:
            self._unused = np.concatenate([self._unused, self._stream.random_sample(max(_BLOCK, count))])
