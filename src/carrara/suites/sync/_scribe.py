"""Dice that write words of random letters, many at once.

A world in which greed goes astray takes tens of thousands of words. NumPy's Mersenne Twister is Python's, so the same
numbers come in blocks from there, and a word is a slice of what a block's numbers are as letters.
"""

from collections.abc import Iterator

import numpy as np

from carrara.core.keys import Dice

ALPHABET = b"abcdefghijklmnopqrstuvwxyz"
_BLOCK = 1 << 13


class Scribe(Dice):
    """Goes on with the stream of other dice, which are of no use from then on."""

    def __init__(self, dice: Dice) -> None:
        _, state, _ = dice.source.getstate()
        self._stream = np.random.RandomState()
        self._stream.set_state(("MT19937", np.array(state[:-1], np.uint32), state[-1], 0, 0.0))
        self._numbers: list[float] = []
        self._letters = ""
        self._at = 0
        self.random = self._one

    def words(self, least: int, most: int) -> Iterator[str]:
        """Words without end of so many letters, each as `"".join(dice.choice(…) …)` would draw it."""
        span = most - least + 1
        while True:
            if self._at + most >= len(self._numbers):
                self._go_on()
            start = self._at + 1
            self._at = start + least + int(self._numbers[self._at] * span)
            yield self._letters[start : self._at]

    def _one(self) -> float:
        if self._at == len(self._numbers):
            self._go_on()
        self._at += 1
        return self._numbers[self._at - 1]

    def _go_on(self) -> None:
        values = np.concatenate([self._numbers[self._at :], self._stream.random_sample(_BLOCK)])
        self._numbers, self._at = values.tolist(), 0
        self._letters = np.frombuffer(ALPHABET, np.uint8)[(values * len(ALPHABET)).astype(np.intp)].tobytes().decode()
