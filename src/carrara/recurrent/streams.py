"""Items as streams of segments: a context of ten million tokens is never held, nor any more of it than one segment.

A model gets the pieces of the context, in order, and then the question. The frame around them (instructions, examples,
the form of the reply) is for models that were never trained on the test.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from carrara.core.errors import UsageError
from carrara.prompt.items import Item
from carrara.recurrent.vocabulary import ANSWER, PAD, Ids, Vocabulary


def segments(item: Item, vocabulary: Vocabulary, size: int) -> Iterator[Ids]:
    """The context of an item, `size` tokens at a time. The last is filled up."""
    if item.prompt.frame.turns:
        raise UsageError(
            f"{item.recipe.task} is a conversation, and a recurrent model reads a context that is one text"
        )
    return cut((part.text for part in item.prompt.parts(counted=False) if part.piece), vocabulary, size)


def cut(texts: Iterable[str], vocabulary: Vocabulary, size: int) -> Iterator[Ids]:
    """Texts, one after the other, `size` tokens at a time."""
    waiting: list[int] = []
    for text in texts:
        waiting += vocabulary.encode(text)
        start = 0
        while len(waiting) - start >= size:
            yield np.array(waiting[start : start + size], dtype=np.int64)
            start += size
        del waiting[:start]
    if waiting:
        yield np.array(waiting + [PAD] * (size - len(waiting)), dtype=np.int64)


def asked(item: Item, vocabulary: Vocabulary) -> list[int]:
    """The question of an item, as models are trained to be asked."""
    return [*vocabulary.encode(item.question.ask), ANSWER]
