"""RMT, the recurrent memory transformer (Bulatov et al. 2022): memory tokens that are read before and written after.

A segment is told between two copies of the memory: [read ; text ; write]. The read copy cannot see the text, and the
write copy sees everything. What the write copy became is the next memory. As published it replaces the old one; here,
unless `gated` is false, a gate for each slot decides how much of it is taken, and can be exactly shut: what is kept is
then kept to the bit, over any number of segments.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from carrara.recurrent.blocks import Embedding, Layer, norm, recency, shut

MARGIN = 64
"""Tokens of a question with its answer that may stand behind a segment."""


class State(NamedTuple):
    memory: Tensor
    behind: Tensor
    """The last tokens."""
    opened: Tensor
    """How far each slot was opened by the last segment: what is trained to be little."""


class RMT(nn.Module):
    def __init__(
        self,
        vocabulary: int,
        said: int,
        segment: int = 128,
        width: int = 128,
        heads: int = 4,
        layers: int = 3,
        slots: int = 8,
        gated: bool = True,
    ) -> None:
        super().__init__()
        self.slots, self.gated = slots, gated
        self.longest = segment + MARGIN
        self.embedding = Embedding(vocabulary, width)
        self.places = nn.Parameter(0.1 * torch.randn(self.longest, width))
        self.start = nn.Parameter(torch.randn(slots, width))
        self.reading = nn.Parameter(0.5 * torch.randn(slots, width))
        self.writing = nn.Parameter(0.5 * torch.randn(slots, width))
        self.keeping: Tensor
        self.asking: Tensor
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.value = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(2 * width, slots, bias=False)
        self.gate_bias = nn.Parameter(torch.ones(slots))
        self.head = nn.Linear(width, said, bias=False)
        nn.init.eye_(self.value.weight)  # or else every segment would stir what is remembered
        nn.init.normal_(self.gate.weight, std=0.02)
        bias, asked = self._bias(heads), [*range(slots), *range(2 * slots, 2 * slots + self.longest)]
        self.register_buffer("keeping", bias, persistent=False)
        self.register_buffer("asking", bias[:, asked][:, :, asked], persistent=False)

    def _bias(self, heads: int) -> Tensor:
        """Who sees whom, and how well, of [read ; write ; text]: the write copy sees everything."""
        low = 2 * self.slots
        size = low + self.longest
        bias = torch.zeros(heads, size, size)
        bias[:, low:, low:] = recency(heads, self.longest)
        blocked = torch.ones(size, size, dtype=torch.bool).triu(1)
        blocked[: self.slots, : self.slots] = False
        blocked[self.slots : low] = False
        blocked[low:, self.slots : low] = True
        return bias.masked_fill(blocked, float("-inf"))

    def init(self, batch: int) -> State:
        memory = norm(self.start).expand(batch, -1, -1)
        return State(memory, self.embedding.init(batch), self.start.new_zeros(batch, self.slots))

    def step(self, state: State, ids: Tensor, *, tell: bool = True, keep: bool = True) -> tuple[State, Tensor | None]:
        """The state after some tokens, and what may follow each. `tell` and `keep` leave out one or the other."""
        memory, low = state.memory, self.slots
        read = self.embedding(ids, state.behind if keep else None) + self.places[: ids.shape[1]]
        copies = [memory + self.reading, memory + self.writing] if keep else [memory + self.reading]
        x = torch.cat([*copies, read], 1)
        bias = (self.keeping if keep else self.asking)[:, : x.shape[1], : x.shape[1]]
        # Of the last layer, only what is used: the text says something, or the write copy is kept, or both.
        used = slice(low, None if tell else 2 * low)
        for layer in self.layers[:-1]:
            x = layer(x, bias)
        x = norm(self.layers[-1](x, bias, used))
        said = self.head(x[:, -ids.shape[1] :]) if tell else None
        if not keep:
            return state, said
        memory, opened = self._update(memory, x[:, :low])
        return State(memory, self.embedding.tail(ids, state.behind), opened), said

    def _update(self, memory: Tensor, written: Tensor) -> tuple[Tensor, Tensor]:
        new = norm(self.value(written))
        if not self.gated:
            return new, new.new_ones(new.shape[:2])
        opening = (torch.cat([written, norm(memory)], -1) * self.gate.weight).sum(-1) + self.gate_bias
        opened = shut(opening)
        return memory + opened[..., None] * (new - memory), opened

    def nbytes(self, state: State) -> int:
        return state.memory[:1].nbytes + state.behind[:1].nbytes
