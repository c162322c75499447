"""Keyed randomness: every item is a pure function of its key.

A key is hashed with BLAKE2b, never added to: two published generators that seed with `seed + i` share 99 % of their
items between neighbouring seeds. Rng use only `random.Random.random`, whose sequence Python guarantees across
versions; shuffling and sampling are written out here because theirs is not.

A split owns an instance by what the instance says, so that no two splits ever share one. Different keys give different
instances with near certainty where there are many, but some tasks have few (a list that one `pop` changes has six). So
ownership goes by a hash of the text itself, and an instance that belongs to another split is drawn anew.
"""

import random
from collections.abc import MutableSequence, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from carrara.util.errors import RunError

if TYPE_CHECKING:
    from carrara.task import Task
    from carrara.types import Instance

Split = Literal["test", "train", "few-shot"]
SPLITS: tuple[Split, ...] = ("test", "train", "few-shot")

_SHARES: tuple[tuple[Split, int], ...] = (("test", 50), ("train", 40), ("few-shot", 10))
TRIES = 10_000
"""Attempts to draw an instance that a split owns."""

T = TypeVar("T")


def digest(*parts: str | int) -> int:
    """64 bits that depend on every part and on where one part ends and the next begins."""
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())


class Rng:
    """A stream of random choices that is the same on every machine and Python version.

    Args:
        parts: What the choices depend on.
        key: The key of the instance that they are for. Only with a key are there further streams.
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
        """Return a stream for one purpose: drawing more from it never shifts another one."""
        return self.key.rng(purpose, *more)

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
    """Names one instance: everything that its bytes depend on, and nothing else (not the length, not the tokenizer)."""

    task: str
    version: int
    params: str
    split: Split
    seed: int
    index: int
    attempt: int = 0
    """How often the instance was drawn anew because another split owns what came out."""

    @property
    def parts(self) -> tuple[str | int, ...]:
        return self.task, self.version, self.params, self.split, self.seed, self.index, self.attempt

    def rng(self, purpose: str, *more: str | int) -> Rng:
        """Return random numbers for one purpose: drawing more for one never shifts another."""
        return Rng(*self.parts, purpose, *more, key=self)


def owner(instance: "Instance") -> Split:
    """Return the split that owns an instance, by what it says without filler.

    Where a task fills a length by itself, its instance of length 0 decides for those of its key at any length.
    """
    facts: Any = instance.facts
    if facts and isinstance(facts[0], str):
        texts = sorted(facts) if instance.unordered else facts
    else:
        chunks = sorted(facts) if instance.unordered else facts
        texts = [segment.text for segment in chain.from_iterable(chunks)]
    place = digest(*(segment.text for segment in instance.start), *texts) % 100
    for split, share in _SHARES:
        if place < share:
            return split
        place -= share
    raise AssertionError("the shares add up to 100")


def draw_owned(task: "Task", key: Key) -> tuple["Instance", Key]:
    """Return the instance of a key, drawn until the key's split owns it, and the key that gave it.

    Few-shot examples are such instances, of the split `few-shot`.
    """
    if task.is_divided():
        return task.draw(key), key
    for attempt in range(TRIES):
        own = replace(key, attempt=attempt)
        instance = task.draw(own)
        if owner(instance) == key.split:
            return instance, own
    raise RunError(
        f"{key.task} has no instance of the {key.split} split with these parameters: it makes too few different ones"
    )
