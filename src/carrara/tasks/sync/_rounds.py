"""Filler of a few sentences that are repeated in rounds: each once a round, in a new order every time."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

from carrara import tokenizers
from carrara.rng import Rng
from carrara.types import Segment, SegmentGroup

_CHUNK = 1 << 14
"""Tokens of one piece, at most."""


class Rounds:
    """A stream of sentences joined by spaces, none of which comes twice as often as another."""

    def __init__(self, sentences: Sequence[str], rng: Rng, tokenizer: str) -> None:
        self._rounds = chain.from_iterable(_repeat_rounds(_count_tokens(tuple(sentences), tokenizer), rng))
        self._next = next(self._rounds)

    def __call__(self, gap: int = 0) -> SegmentGroup:
        text, cost = self._next
        self._next = next(self._rounds)
        return (Segment(text, tokens=cost),)

    def several(self, groups: int) -> list[SegmentGroup]:
        return [self() for _ in range(groups)]

    def upto(self, tokens: int) -> SegmentGroup:
        texts: list[str] = []
        left = most = min(tokens, _CHUNK)
        while self._next[1] <= left:
            texts.append(self._next[0])
            left -= self._next[1]
            self._next = next(self._rounds)
        return (Segment(" ".join(texts), tokens=most - left),) if texts else ()

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
    counts = tokenizers.get(tokenizer).count_many([*twice, *sentences])
    pairs, alone = counts[: len(twice)], counts[len(twice) :]
    return [(text, both - one) for text, both, one in zip(sentences, pairs, alone, strict=True)]


def _repeat_rounds(sentences: Sequence[tuple[str, int]], rng: Rng) -> Iterator[list[tuple[str, int]]]:
    while True:
        yield rng.shuffled(sentences)
