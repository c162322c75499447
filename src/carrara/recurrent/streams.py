"""Items as streams of segments: no more than one segment of a context is in memory.

A model gets the segments of the context in order, then the question. The text around them (instructions, examples, the
rule of the answer) is for models that were never trained on the task, and is left out.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from carrara.items.item import Item
from carrara.items.prompt import PromptPart
from carrara.recurrent.stories import one_text
from carrara.recurrent.text_codec import TextCodec
from carrara.recurrent.vocabulary import Ids
from carrara.types import PromptTemplate


def segments(item: Item, codec: TextCodec, size: int) -> Iterator[Ids]:
    """Yield the context of an item, `size` tokens at a time."""
    return cut(texts(item.prompt.template, item.prompt.parts(counted=False)), codec, size)


def texts(template: PromptTemplate, parts: Iterable[PromptPart]) -> Iterator[str]:
    """Yield the segments of a context, each with the separator before it, from all parts of a prompt."""
    return _join(one_text(template).separator, (part.text for part in parts if part.segment))


def _join(separator: str, segments: Iterable[str]) -> Iterator[str]:
    for number, segment in enumerate(segments):
        yield separator + segment if number else segment


def cut(texts: Iterable[str], codec: TextCodec, size: int) -> Iterator[Ids]:
    """Yield texts, one after the other, `size` tokens at a time. The last segment is padded if the codec can do so."""
    waiting: list[int] = []
    for text in texts:
        waiting += codec.encode(text)
        start = 0
        while len(waiting) - start >= size:
            yield np.array(waiting[start : start + size], dtype=np.int64)
            start += size
        del waiting[:start]
    if waiting and codec.pad is not None:
        waiting += [codec.pad] * (size - len(waiting))
    if waiting:
        yield np.array(waiting, dtype=np.int64)
