"""Dice that write words of random letters, many at once.

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


class Scribe(Dice):
    """Goes on with the stream of other dice, which are of no use from then on."""

    def __init__(self, dice: Dice) -> None:
        _, state, _ = dice.source.getstate()
        self._stream = np.random.RandomState()
        self._stream.set_state(("MT19937", np.array(state[:-1], np.uint32), state[-1], 0, 0.0))
        self._ahead = np.empty(0)
        """Numbers of the stream that have not been used."""
        self.random = lambda: float(self._next(1)[0])

    def words(self, count: int, least: int, most: int) -> list[str]:
        """Words of so many letters, each as `"".join(dice.choice(…) …)` would draw it."""
        self._look(count * (most + 1))
        numbers = self._ahead[: count * (most + 1)]
        letters = np.frombuffer(ALPHABET, np.uint8)[(numbers * len(ALPHABET)).astype(np.intp)].tobytes().decode()
        # The letters of a word that began at each number.
        sizes = ((numbers * (most - least + 1)).astype(np.uint8) + np.uint8(least)).tobytes()
        end, found = 0, list[str]()
        for _ in range(count):
            start = end + 1
            end = start + sizes[end]
            found.append(letters[start:end])
        self._ahead = self._ahead[end:]
        return found

    def shuffle(self, items: MutableSequence[T]) -> None:
        places = range(len(items) - 1, 0, -1)
        for i, number in zip(places, self._next(len(places)).tolist(), strict=True):
            j = int(number * (i + 1))
            items[i], items[j] = items[j], items[i]

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        if 4 * k >= len(items):
            return super().sample(items, k)
        seen: dict[int, None] = {}
        while len(seen) < k:
            seen.update(dict.fromkeys((self._next(k - len(seen)) * len(items)).astype(np.intp).tolist()))
        return [items[i] for i in seen]

    def _next(self, count: int) -> "np.typing.NDArray[np.float64]":
        self._look(count)
        numbers, self._ahead = self._ahead[:count], self._ahead[count:]
        return numbers

    def _look(self, count: int) -> None:
        """Have so many numbers ahead, at least."""
        if len(self._ahead) < count:
            self._ahead = np.concatenate([self._ahead, self._stream.random_sample(max(_BLOCK, count))])
