"""RMT, the recurrent memory transformer (Bulatov et al. 2022): memory tokens before and after each segment.

A segment stands between two copies of the memory: [read ; text ; write]. The read copy does not attend to the text, and
the write copy attends to everything. The output at the write copy is the next memory. As published, it replaces the old
one. Here, unless `gated` is false, a gate for each slot decides how much of it is taken. A gate can be exactly 0, so
that a memory stays the same to the bit over any number of segments.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from carrara.recurrent.blocks import Embedding, Layer, hard_gate, norm, recency

MARGIN = 64
"""The most tokens of a question with its answer after a segment."""


class State(NamedTuple):
    memory: Tensor
    last_tokens: Tensor
    """The last tokens, for the convolution."""
    gates: Tensor
    """The opening of each slot's gate in the last segment, on which a penalty may be."""


class RMT(nn.Module):
    def __init__(
        self,
        vocabulary: int,
        outputs: int,
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
        self.head = nn.Linear(width, outputs, bias=False)
        nn.init.eye_(self.value.weight)  # otherwise every segment would change the memory
        nn.init.normal_(self.gate.weight, std=0.02)
        bias, question_places = self._bias(heads), [*range(slots), *range(2 * slots, 2 * slots + self.longest)]
        self.register_buffer("keeping", bias, persistent=False)
        self.register_buffer("asking", bias[:, question_places][:, :, question_places], persistent=False)

    def _bias(self, heads: int) -> Tensor:
        """Return the attention bias between the parts [read ; write ; text]. The write copy attends to everything."""
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

    def step(
        self, state: State, ids: Tensor, *, predict: bool = True, update: bool = True
    ) -> tuple[State, Tensor | None]:
        """Return the state after some tokens, and the logits of the token after each."""
        memory, low = state.memory, self.slots
        read = self.embedding(ids, state.last_tokens if update else None) + self.places[: ids.shape[1]]
        copies = [memory + self.reading, memory + self.writing] if update else [memory + self.reading]
        x = torch.cat([*copies, read], 1)
        bias = (self.keeping if update else self.asking)[:, : x.shape[1], : x.shape[1]]
        # The last layer computes only what is used: the text for the logits, the write copy for the new memory.
        used = slice(low, None if predict else 2 * low)
        for layer in self.layers[:-1]:
            x = layer(x, bias)
        x = norm(self.layers[-1](x, bias, used))
        logits = self.head(x[:, -ids.shape[1] :]) if predict else None
        if not update:
            return state, logits
        memory, gates = self._update(memory, x[:, :low])
        return State(memory, self.embedding.tail(ids, state.last_tokens), gates), logits

    def _update(self, memory: Tensor, written: Tensor) -> tuple[Tensor, Tensor]:
        new = norm(self.value(written))
        if not self.gated:
            return new, new.new_ones(new.shape[:2])
        opening = (torch.cat([written, norm(memory)], -1) * self.gate.weight).sum(-1) + self.gate_bias
        gates = hard_gate(opening)
        return memory + gates[..., None] * (new - memory), gates

    def nbytes(self, state: State) -> int:
        return state.memory[:1].nbytes + state.last_tokens[:1].nbytes
