"""Keyed randomness: every item is a pure function of its key.

A key is hashed with BLAKE2b. Nothing is added to it: two published generators that seed with `seed + i` share 99 % of
their items between neighbouring seeds. `Rng` uses only `random.Random.random`, whose sequence Python guarantees across
versions. Shuffling and sampling are written out here because theirs are not guaranteed.
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
    """Return 64 bits that depend on every part and on the boundaries between parts."""
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())


class Rng:
    """A stream of random choices that is the same on every machine and Python version.

    `Task.generate` and `Task.filler` get one.

    Args:
        parts: Texts and numbers that the choices depend on.
        key: The key of the instance that the choices are for. `stream` needs it.

    Examples:
        >>> from carrara.task import Rng
        >>> rng = Rng("example", 7)
        >>> rng.below(100), rng.between(1, 6), rng.choice("abc")
        (89, 3, 'b')
    """

    __slots__ = ("_key", "random", "source")

    def __init__(self, *parts: str | int, key: "Key | None" = None) -> None:
        self._key = key
        self.source = random.Random(digest(*parts))
        self.random = self.source.random

    @property
    def key(self) -> "Key":
        """The key of the instance."""
        if self._key is None:
            raise TypeError("these random numbers were not made by the key of an instance")
        return self._key

    def stream(self, purpose: str, *more: str | int) -> "Rng":
        """Return a stream for one purpose. Drawing more numbers from it changes no other stream.

        Args:
            purpose: A name for the purpose.
            more: Further texts and numbers that the stream depends on.

        Returns:
            The stream.

        Examples:
            >>> from carrara.rng import Key
            >>> rng = Key("suite/task", 1, "", "test", seed=0, index=3).rng("instance")
            >>> rng.stream("names").below(1000) == rng.stream("names").below(1000)
            True
        """
        return self.key.rng(purpose, *more)

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n - 1, each with the same probability.

        Args:
            n: The number of possibilities.

        Returns:
            The number.

        Examples:
            >>> Rng("example").below(1)
            0
        """
        return int(self.random() * n)

    def between(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, each with the same probability.

        Args:
            low: The least number.
            high: The greatest number.

        Returns:
            The number.

        Examples:
            >>> 1 <= Rng("example").between(1, 6) <= 6
            True
        """
        return low + int(self.random() * (high - low + 1))

    def choice(self, options: Sequence[T]) -> T:
        """Return one of several options, each with the same probability.

        Args:
            options: The options, at least one.

        Returns:
            The option.

        Examples:
            >>> Rng("example").choice(["garden"])
            'garden'
        """
        return options[int(self.random() * len(options))]

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffle a list in place.

        Args:
            items: The list.

        Examples:
            >>> items = [1, 2, 3]
            >>> Rng("example").shuffle(items)
            >>> sorted(items)
            [1, 2, 3]
        """
        random = self.random
        for i in range(len(items) - 1, 0, -1):
            j = int(random() * (i + 1))
            items[i], items[j] = items[j], items[i]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in random order.

        Args:
            items: The items, which stay as they are.

        Returns:
            A new list.

        Examples:
            >>> sorted(Rng("example").shuffled("abc"))
            ['a', 'b', 'c']
        """
        copy = list(items)
        self.shuffle(copy)
        return copy

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """Return several different items, in random order.

        Args:
            items: The items to draw from. An item that stands in it twice may be drawn twice.
            k: How many to draw.

        Returns:
            A new list of `k` items.

        Raises:
            ValueError: There are fewer than `k` items.

        Examples:
            >>> len(set(Rng("example").sample(range(100), 5)))
            5
        """
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
        """Return True with a given probability.

        Args:
            p: The probability, from 0 to 1.

        Returns:
            Whether the chance came true.

        Examples:
            >>> Rng("example").chance(1.0)
            True
        """
        return self.random() < p


@dataclass(frozen=True)
class Key:
    """The key of one instance: everything that its bytes depend on.

    It does not contain the length or the tokenizer.
    """

    task: str
    version: int
    params: str
    split: Split
    seed: int
    index: int
    attempt: int = 0
    """The number of instances that were drawn before, and that another split owns."""

    @property
    def parts(self) -> tuple[str | int, ...]:
        return self.task, self.version, self.params, self.split, self.seed, self.index, self.attempt

    def rng(self, purpose: str, *more: str | int) -> Rng:
        """Return random numbers for one purpose. Drawing more of them changes no others."""
        return Rng(*self.parts, purpose, *more, key=self)
