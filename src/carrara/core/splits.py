"""Which split owns a world: decided by what the world says, so that no two splits ever share one.

Different keys give different worlds with near certainty where there are many, but some tests have few (a list that
one `pop` changes has six). So ownership goes by a hash of the text itself, and a world that belongs to another split
is drawn anew.
"""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import Any

from carrara.core.errors import RunError
from carrara.core.keys import Key, Split, digest
from carrara.core.types import A, L, P, Test, World

_SHARES: tuple[tuple[Split, int], ...] = (("test", 50), ("train", 40), ("few-shot", 10))
TRIES = 10_000
"""Attempts to draw an instance that a split owns."""


def owner(world: World[Any]) -> Split:
    """Of a `sized` test it is the world of length 0 that is owned, and with it those of its key at any length."""
    updates = sorted(world.updates) if world.timeless else world.updates
    return split_of(piece.text for piece in (*world.opening, *chain.from_iterable(updates)))


def split_of(texts: Iterable[str]) -> Split:
    """Return the split that owns an instance, by what it says without filler."""
    place = digest(*texts) % 100
    for split, share in _SHARES:
        if place < share:
            return split
        place -= share
    raise AssertionError("the shares add up to 100")


def owned_world(task: Test[P, L, A], key: Key, params: P) -> tuple[World[L], Key]:
    """The world of a key, drawn until the key's split owns it, and the key that gave it."""
    if task.divided(params):
        return task.world(key, params, None), key
    for attempt in range(TRIES):
        own = replace(key, attempt=attempt)
        world = task.world(own, params, None)
        if owner(world) == key.split:
            return world, own
    raise too_few(key)


def too_few(key: Key) -> RunError:
    """Return the error for a split that owns none of many instances."""
    return RunError(
        f"{key.task} has no world of the {key.split} split with these parameters: it makes too few different worlds"
    )
