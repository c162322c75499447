"""The split that owns an instance, so that no two splits ever share one.

Different keys give different instances with near certainty if there are many, but some tasks have few (a list that one
`pop` changes has six). So a hash of the text decides, and an instance that belongs to another split is drawn again.
"""

from dataclasses import replace
from itertools import chain
from typing import Any, Protocol

from carrara.rng import Key, Split, digest
from carrara.types import Instance
from carrara.util.errors import RunError

_SHARES: tuple[tuple[Split, int], ...] = (("test", 50), ("train", 40), ("few-shot", 10))
TRIES = 10_000
"""The most attempts to draw an instance that a split owns."""


class Drawable(Protocol):
    """A task, as far as drawing goes."""

    def is_divided(self) -> bool: ...
    def draw(self, key: Key) -> Instance: ...


def owner(instance: Instance) -> Split:
    """Return the split that owns an instance, by its text without filler.

    If a task fills a length by itself, its instance of length 0 decides for all lengths of its key.
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


def draw_owned(task: Drawable, key: Key) -> tuple[Instance, Key]:
    """Return the instance of a key that the key's split owns, and the key that gave it.

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
