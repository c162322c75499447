"""Which split owns a world: decided by what the world says, so that no two splits ever share one.

Different keys give different worlds with near certainty where there are many, but some tests have few (a list that
one `pop` changes has six). So ownership goes by a hash of the text itself, and a world that belongs to another split
is drawn anew.
"""

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from carrara.core.errors import RunError
from carrara.core.keys import Key, Split, digest
from carrara.core.types import Instance

if TYPE_CHECKING:
    from carrara.task import Task

_SHARES: tuple[tuple[Split, int], ...] = (("test", 50), ("train", 40), ("few-shot", 10))
TRIES = 10_000
"""Attempts to draw an instance that a split owns."""


def owner(instance: Instance) -> Split:
    """Return the split that owns an instance, by what it says without filler.

    Where a task fills a length by itself, its instance of length 0 decides for those of its key at any length.
    """
    facts: Any = instance.facts
    if facts and isinstance(facts[0], str):
        texts = sorted(facts) if instance.unordered else facts
    else:
        chunks = sorted(facts) if instance.unordered else facts
        texts = [piece.text for piece in chain.from_iterable(chunks)]
    place = digest(*(piece.text for piece in instance.start), *texts) % 100
    for split, share in _SHARES:
        if place < share:
            return split
        place -= share
    raise AssertionError("the shares add up to 100")


def draw_owned(task: "Task", key: Key) -> tuple[Instance, Key]:
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
