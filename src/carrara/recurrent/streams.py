"""Items as streams of segments: a context of ten million tokens is never held, nor any more of it than one segment.

A model gets the segments of the context in order, then the question. The template around them (instructions, examples,
the form of the reply) is for models that were never trained on the task.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from carrara.items.item import Item
from carrara.packing.prompt import PromptPart
from carrara.recurrent.stories import one_text
from carrara.recurrent.text_codec import TextCodec
from carrara.recurrent.vocabulary import Ids
from carrara.types import PromptTemplate


def segments(item: Item, tongue: TextCodec, size: int) -> Iterator[Ids]:
    """The context of an item, `size` tokens at a time."""
    return cut(texts(item.prompt.template, item.prompt.parts(counted=False)), tongue, size)


def texts(template: PromptTemplate, parts: Iterable[PromptPart]) -> Iterator[str]:
    """The segments of a context, each with the separator before it, of all parts of a prompt."""
    return _join(one_text(template).separator, (part.text for part in parts if part.segment))


def _join(separator: str, pieces: Iterable[str]) -> Iterator[str]:
    for number, piece in enumerate(pieces):
        yield separator + piece if number else piece


def cut(texts: Iterable[str], tongue: TextCodec, size: int) -> Iterator[Ids]:
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
