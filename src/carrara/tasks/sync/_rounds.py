"""Filler of a few sentences that are repeated in rounds: each once a round, in a new order every time."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

from carrara import tokens
from carrara.core.keys import Dice
from carrara.core.types import Piece, Unit

_CHUNK = 1 << 14
"""Tokens of one piece, at most."""


class Rounds:
    """A stream of sentences joined by spaces, none of which comes twice as often as another."""

    def __init__(self, sentences: Sequence[str], dice: Dice, tokenizer: str) -> None:
        self._rounds = chain.from_iterable(_repeat_rounds(_count_tokens(tuple(sentences), tokenizer), dice))
        self._next = next(self._rounds)

    def __call__(self, gap: int = 0) -> Unit:
        text, cost = self._next
        self._next = next(self._rounds)
        return (Piece(text, tokens=cost),)

    def several(self, units: int) -> list[Unit]:
        return [self() for _ in range(units)]

    def upto(self, tokens: int) -> Unit:
        texts: list[str] = []
        left = most = min(tokens, _CHUNK)
        while self._next[1] <= left:
            texts.append(self._next[0])
            left -= self._next[1]
            self._next = next(self._rounds)
        return (Piece(" ".join(texts), tokens=most - left),) if texts else ()

    def gaps(self, tokens: int) -> Sequence[int]:
        found = [0]
        while (reached := found[-1] + self._next[1]) <= tokens:
            found.append(reached)
            self._next = next(self._rounds)
        return found


@lru_cache(maxsize=256)
def _count_tokens(sentences: tuple[str, ...], tokenizer: str) -> Sequence[tuple[str, int]]:
    """Return each sentence with the tokens that it adds behind itself, counted once for all streams of it."""
    twice = [f"{sentence} {sentence}" for sentence in sentences]
    counts = tokens.get(tokenizer).count_many([*twice, *sentences])
    pairs, alone = counts[: len(twice)], counts[len(twice) :]
    return [(text, both - one) for text, both, one in zip(sentences, pairs, alone, strict=True)]


def _repeat_rounds(sentences: Sequence[tuple[str, int]], dice: Dice) -> Iterator[list[tuple[str, int]]]:
    while True:
        yield dice.shuffled(sentences)
