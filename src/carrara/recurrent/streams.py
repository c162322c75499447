"""Items as streams of segments: no more than one segment of a context is in memory.

A model gets the segments of the context in order, then the question. The text around them (instructions, examples, the
rule of the answer) is for models that were never trained on the task, and is left out.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import torch
from torch import Tensor, nn

from carrara.items.item import Item
from carrara.items.prompt import PromptPart
from carrara.recurrent.blocks import Embedding, Layer, norm, recency
from carrara.recurrent.rmt import MARGIN
from carrara.recurrent.stories import one_text
from carrara.recurrent.text_codec import TextCodec
from carrara.recurrent.vocabulary import PAD, Ids
from carrara.types import PromptTemplate


class Window(nn.Module):
    """A transformer whose state is the tokens of the last segment."""

    def __init__(
        self, vocabulary: int, outputs: int, segment: int = 128, width: int = 128, heads: int = 4, layers: int = 3
    ) -> None:
        super().__init__()
        self.segment = segment
        self.embedding = Embedding(vocabulary, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, outputs, bias=False)
        self.longest = segment + MARGIN
        """The most tokens of a question with its answer."""
        longest = 2 * segment + MARGIN
        self.bias: Tensor
        blocked = torch.ones(longest, longest, dtype=torch.bool).triu(1)
        self.register_buffer("bias", recency(heads, longest).masked_fill(blocked, float("-inf")), persistent=False)

    def init(self, batch: int) -> Tensor:
        return torch.full((batch, self.segment), PAD, device=self.head.weight.device)

    def step(
        self, state: Tensor, ids: Tensor, *, predict: bool = True, update: bool = True
    ) -> tuple[Tensor, Tensor | None]:
        both = torch.cat([state, ids], 1)
        window = both[:, -self.segment :] if update else state
        if not predict:
            return window, None
        x = self.embedding(both)
        for layer in self.layers:
            x = layer(x, self.bias[:, : x.shape[1], : x.shape[1]])
        return window, self.head(norm(x[:, -ids.shape[1] :]))

    def nbytes(self, state: Tensor) -> int:
        return state[:1].nbytes


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
