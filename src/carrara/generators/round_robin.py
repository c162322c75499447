"""Values in turn: the cells of a grid of parameters, each as often as any other."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from carrara.rng import Key

T = TypeVar("T")


def in_turn(key: Key, purpose: str, options: Sequence[T], every: int = 1) -> T:
    """Return the option whose turn it is.

    Each option occurs once in a cycle, in a drawn order, and stays for `every` items.
    """
    block, place = divmod(key.index // every, len(options))
    return replace(key, index=block, attempt=0).rng(purpose).shuffled(options)[place]
