"""Keyed randomness: every item is a pure function of its key.

A key is hashed with BLAKE2b, never added to: two published generators that seed with `seed + i` share 99 % of their
items between neighbouring seeds. Dice use only `random.Random.random`, whose sequence Python guarantees across
versions; shuffling and sampling are written out here because theirs is not.
"""

import random
from collections.abc import MutableSequence, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, TypeVar

Split = Literal["test", "train", "few-shot"]
SPLITS: tuple[Split, ...] = ("test", "train", "few-shot")

T = TypeVar("T")


def digest(*parts: str | int) -> int:
    """64 bits that depend on every part and on where one part ends and the next begins."""
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())


class Dice:
    """A stream of random choices that is the same on every machine and Python version."""

    __slots__ = ("random", "source")

    def __init__(self, *parts: str | int) -> None:
        self.source = random.Random(digest(*parts))
        self.random = self.source.random

    def below(self, n: int) -> int:
        """Uniform over 0 … n-1."""
        return int(self.random() * n)

    def between(self, low: int, high: int) -> int:
        """Uniform over low … high, both included."""
        return low + int(self.random() * (high - low + 1))

    def choice(self, options: Sequence[T]) -> T:
        return options[int(self.random() * len(options))]

    def shuffle(self, items: MutableSequence[T]) -> None:
        random = self.random
        for i in range(len(items) - 1, 0, -1):
            j = int(random() * (i + 1))
            items[i], items[j] = items[j], items[i]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        copy = list(items)
        self.shuffle(copy)
        return copy

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """`k` different places of `items`, in random order."""
        if not 0 <= k <= len(items):
            raise ValueError(f"cannot draw {k} of {len(items)}")
        if 4 * k >= len(items):
            return self.shuffled(items)[:k]
        seen: dict[int, None] = {}
        random, size = self.random, len(items)
        while len(seen) < k:
            seen[int(random() * size)] = None
        return [items[i] for i in seen]

    def chance(self, p: float) -> bool:
        return self.random() < p


@dataclass(frozen=True)
class Key:
    """Names one world: everything that its bytes depend on, and nothing else (not the length, not the tokenizer)."""

    task: str
    version: int
    params: str
    split: Split
    seed: int
    index: int
    attempt: int = 0
    """How often the world was drawn anew because another split owns what came out (splits.py)."""

    @property
    def parts(self) -> tuple[str | int, ...]:
        return self.task, self.version, self.params, self.split, self.seed, self.index, self.attempt

    def dice(self, purpose: str, *more: str | int) -> Dice:
        """Independent dice for one purpose: drawing more for one never shifts another."""
        return Dice(*self.parts, purpose, *more)
