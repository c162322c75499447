"""The order of prompts that share beginnings, such as rows of a data set on one text, and how much they share.

A server with a prefix cache reads a beginning again unless it has read it lately. So prompts with the longest common
beginning stand next to each other, and otherwise in the order in which they came.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from carrara.types import Message

BLOCK = 256
"""Characters that are compared at once. A beginning is shared by whole blocks, as in a server's cache."""


class Placed(NamedTuple):
    """The place of a prompt in the order."""

    number: int
    """The number of the prompt among those that were given."""
    shared: float
    """The share of its characters that the prompt before it in the order begins with, too."""


def by_prefix(prompts: Iterable[Sequence[Message]]) -> list[Placed]:
    """Return prompts in the order in which a prefix cache serves them best.

    >>> texts = ["a" * 600, "b" * 600, "a" * 512 + "c" * 88]
    >>> [place.number for place in by_prefix([[Message("user", text)] for text in texts])]
    [0, 2, 1]
    """
    first_with: dict[int, int] = {}
    keys, sizes = list[list[int]](), list[int]()
    for number, messages in enumerate(prompts):
        text = "".join(f"{message.role}\x1f{message.content}" for message in messages)
        beginning, key = 0, list[int]()
        for start in range(0, len(text), BLOCK):
            beginning = hash((beginning, text[start : start + BLOCK]))
            key.append(first_with.setdefault(beginning, number))
        keys.append(key)
        sizes.append(len(text))
    order = sorted(range(len(keys)), key=keys.__getitem__)
    shared = [0, *(_count_equal(keys[one], keys[other]) for one, other in pairwise(order))]
    return [
        Placed(number, min(1.0, BLOCK * blocks / max(1, sizes[number])))
        for number, blocks in zip(order, shared, strict=bool(order))
    ]


def _count_equal(one: Sequence[int], other: Sequence[int]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
