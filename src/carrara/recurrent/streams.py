"""Items as streams of segments: a context of ten million tokens is never held, nor any more of it than one segment.

A model gets the pieces of the context, in order, and then the question. The frame around them (instructions, examples,
the form of the reply) is for models that were never trained on the test.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from carrara.core.errors import UsageError
from carrara.prompt.items import Item
from carrara.recurrent.tongue import Tongue
from carrara.recurrent.vocabulary import Ids


def segments(item: Item, tongue: Tongue, size: int) -> Iterator[Ids]:
    """The context of an item, `size` tokens at a time."""
    if item.prompt.frame.turns:
        raise UsageError(
            f"{item.recipe.task} is a conversation, and a recurrent model reads a context that is one text"
        )
    return cut(texts(item), tongue, size)


def texts(item: Item) -> Iterator[str]:
    """The pieces of its context, each with the joint before it."""
    if item.prompt.frame.turns:
        raise UsageError(
            f"{item.recipe.task} is a conversation, and a recurrent model reads a context that is one text"
        )
    joint = ""
    for part in item.prompt.parts(counted=False):
        if part.piece:
            yield joint + part.text
            joint = item.prompt.frame.joint


def cut(texts: Iterable[str], tongue: Tongue, size: int) -> Iterator[Ids]:
    """Texts, one after the other, `size` tokens at a time. The last is filled up, where there is something to do so."""
    waiting: list[int] = []
    for text in texts:
        waiting += tongue.encode(text)
        start = 0
        while len(waiting) - start >= size:
            yield np.array(waiting[start : start + size], dtype=np.int64)
            start += size
        del waiting[:start]
    if waiting and tongue.pad is not None:
        waiting += [tongue.pad] * (size - len(waiting))
    if waiting:
        yield np.array(waiting, dtype=np.int64)
