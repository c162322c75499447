"""Random words, drawn many at once.

An instance in which greedy choices fail takes tens of thousands of words. NumPy's Mersenne Twister is Python's, so the
same numbers come in blocks from there. A block is read as text, a letter for each number, and split into words.
"""

from collections.abc import MutableSequence, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from carrara.rng import Rng

_BLOCK = 1 << 13
_SPACE = ord(" ")

T = TypeVar("T")


class _NoSeed(ISeedSequence):
    """A seed that takes no time. It is of no use but for a generator whose state is set next."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return [0] * n_words


class WordRng(Rng):
    """Random choices that continue the stream of other random numbers, with words of random letters among them.

    The others must not be used from then on.
    """

    def __init__(self, rng: Rng) -> None:
        self._key = rng._key
        _, (*key, position), _ = rng.source.getstate()
        self._stream = np.random.RandomState(np.random.MT19937(_NoSeed()))  # type: ignore[arg-type]  # it takes any seed
        self._stream.set_state(("MT19937", key, position, 0, 0.0))
        self._unused = np.empty(0)
        """Numbers that have been drawn from the stream and not used."""
        self.random = lambda: float(self._take(1)[0])

    def draw_words(self, count: int, least: int, most: int) -> list[str]:
        """Return words of `least` to `most` letters, each as `"".join(rng.choice(…) …)` would draw it."""
        self._fill(count * (most + 1))
        numbers = self._unused[: count * (most + 1)]
        text = bytearray((numbers * 26).astype(np.uint8) + np.uint8(ord("a")))
        # The numbers that a word takes which begins at each number: one for its length, and one for each letter.
        sizes = ((numbers * (most - least + 1)).astype(np.uint8) + np.uint8(least + 1)).tobytes()
        end = 0
        for _ in range(count):
            text[end] = _SPACE
            end += sizes[end]
        self._unused = self._unused[end:]
        return text[:end].decode().split()

    def shuffle(self, items: MutableSequence[T]) -> None:
        if items:
            self.shuffle_each([items])

    def shuffle_each(self, lists: Sequence[MutableSequence[T]]) -> None:
        """Shuffle one list after the other, none of which is empty."""
        numbers = iter(self._take(sum(map(len, lists)) - len(lists)).tolist())
        for items in lists:
            for i in range(len(items) - 1, 0, -1):
                j = int(next(numbers) * (i + 1))
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
