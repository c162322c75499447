"""ARMT, the associative recurrent memory transformer (Rodkin et al. 2024): a memory of keys and values in every layer.

Memory tokens stand at the end of each segment. After every layer their outputs are written into that layer's matrix, as
values under keys. Before every layer all tokens of the next segment read from it. Nothing else passes from one segment
to the next.

`ARMT` writes as published: all memory tokens at once, with a normalizer, corrected by the old values of their keys.
`Delta` is our variant: keys of length one, no normalizer, the tokens of a segment written one after another (in one
triangular solve), and a strength that can be exactly zero.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from carrara.recurrent.blocks import ALL, Embedding, Layer, hard_gate, norm, recency, shrink
from carrara.recurrent.rmt import MARGIN

EPSILON = 1e-5


def dpfp(x: Tensor, nu: int = 3) -> Tensor:
    """Return the deterministic parameter-free projection (Schlag et al. 2021), which has 2·nu times the width."""
    both = torch.cat([F.relu(x), F.relu(-x)], -1)
    return torch.cat([both * both.roll(j, -1) for j in range(1, nu + 1)], -1)


class Store(NamedTuple):
    """The memory of one layer."""

    values: Tensor
    """Keys × width."""
    norms: Tensor
    """The norms of the keys. Unused without a normalizer."""


class State(NamedTuple):
    stores: tuple[Store, ...]
    last_tokens: Tensor
    """The last tokens, for the convolution."""
    gates: Tensor
    """The strength with which the last segment wrote each memory token of each layer."""


class Associative(nn.Module):
    """The memory of one layer, as published."""

    def __init__(self, width: int, keys: int = 64, nu: int = 3) -> None:
        super().__init__()
        self.nu, self.size = nu, 2 * nu * keys
        self.query = nn.Linear(width, keys, bias=False)
        self.key = nn.Linear(width, keys, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.strength = nn.Linear(width, 1)
        nn.init.zeros_(self.value.weight)

    def init(self, batch: int, width: int) -> Store:
        return Store(self.key.weight.new_zeros(batch, self.size, width), self.key.weight.new_zeros(batch, self.size))

    def read(self, store: Store, x: Tensor) -> Tensor:
        query = dpfp(self.query(x), self.nu).float()
        scale = query @ store.norms[..., None] + EPSILON
        return (query @ store.values / scale).to(x.dtype)

    def write(self, store: Store, written: Tensor) -> tuple[Store, Tensor]:
        key = dpfp(self.key(written), self.nu).float()
        strength = torch.sigmoid(self.strength(written).float())
        known = key @ store.norms[..., None]
        old = key @ store.values / (known + EPSILON)
        change = strength * (self.value(written).float() - old)
        fresh = (1 - (known + EPSILON) / (key.square().sum(-1, keepdim=True) + EPSILON)).clamp(0, 1).detach()
        # In the first segment every key is new, in spite of the epsilon.
        fresh = torch.where(store.norms.abs().sum(-1)[:, None, None] == 0, torch.ones_like(fresh), fresh)
        values = store.values + key.transpose(-1, -2) @ change
        return Store(values, store.norms + (fresh * key).sum(1)), strength[..., 0]


class Exact(Associative):
    """The memory of one layer by the exact delta rule, token after token."""

    def __init__(self, width: int, keys: int = 32, nu: int = 3) -> None:
        super().__init__(width, keys, nu)
        shrink(self.value)
        nn.init.ones_(self.strength.bias)

    def _features(self, x: Tensor) -> Tensor:
        return F.normalize(dpfp(x, self.nu).float(), dim=-1, eps=EPSILON)

    def read(self, store: Store, x: Tensor) -> Tensor:
        return (self._features(self.query(x)) @ store.values).to(x.dtype)

    def write(self, store: Store, written: Tensor) -> tuple[Store, Tensor]:
        key, value = self._features(self.key(written)), self.value(written).float()
        strength = hard_gate(self.strength(written).float())
        # Token i reads the old store and the changes of the tokens before it: a triangular system.
        overlap = torch.tril(key @ key.transpose(-1, -2), -1)
        system = torch.eye(key.shape[1], device=key.device) + strength * overlap
        change = torch.linalg.solve_triangular(system, strength * (value - key @ store.values), upper=False)
        return Store(store.values + key.transpose(-1, -2) @ change, store.norms), strength[..., 0]


class ARMT(nn.Module):
    memory: type[Associative] = Associative

    def __init__(
        self,
        vocabulary: int,
        outputs: int,
        segment: int = 128,
        width: int = 128,
        heads: int = 4,
        layers: int = 3,
        slots: int = 8,
        keys: int = 32,
    ) -> None:
        super().__init__()
        self.slots, self.width = slots, width
        self.longest = segment + MARGIN
        self.embedding = Embedding(vocabulary, width)
        self.places = nn.Parameter(0.1 * torch.randn(self.longest, width))
        self.writing = nn.Parameter(torch.randn(slots, width))
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.memories = nn.ModuleList(self.memory(width, keys) for _ in range(layers))
        self.head = nn.Linear(width, outputs, bias=False)
        self.bias: Tensor
        self.register_buffer("bias", self._bias(heads), persistent=False)

    def _bias(self, heads: int) -> Tensor:
        """Return the attention bias between the parts [text ; memory tokens]. Memory tokens attend to earlier ones."""
        size = self.slots + self.longest
        bias = torch.zeros(heads, size, size)
        bias[:, self.slots :, self.slots :] = recency(heads, self.longest)
        blocked = torch.ones(size, size, dtype=torch.bool).triu(1)
        blocked[: self.slots, self.slots :] = False
        blocked[self.slots :, : self.slots] = True
        return bias.masked_fill(blocked, float("-inf"))

    def init(self, batch: int) -> State:
        stores = tuple(memory.init(batch, self.width) for memory in self.memories)  # type: ignore[operator]
        return State(stores, self.embedding.init(batch), self.writing.new_zeros(batch, self.slots * len(self.layers)))

    def step(
        self, state: State, ids: Tensor, *, predict: bool = True, update: bool = True
    ) -> tuple[State, Tensor | None]:
        x = self.embedding(ids, state.last_tokens if update else None) + self.places[: ids.shape[1]]
        first = 0 if update else self.slots
        if update:
            x = torch.cat([self.writing.expand(len(ids), -1, -1), x], 1)
        bias = self.bias[:, first : first + x.shape[1], first : first + x.shape[1]]
        stores, gates = [], []
        for n, (layer, memory, store) in enumerate(zip(self.layers, self.memories, state.stores, strict=True), 1):
            # The output of the last layer at the text is unused without logits.
            rows = slice(0, self.slots) if n == len(self.layers) and not predict else ALL
            x = layer(x + memory.read(store, norm(x)), bias, rows)  # type: ignore[operator]
            if update:
                store, strength = memory.write(store, norm(x[:, : self.slots]))  # type: ignore[operator]
                gates.append(strength)
            stores.append(store)
        logits = self.head(norm(x[:, -ids.shape[1] :])) if predict else None
        if not update:
            return state, logits
        return State(tuple(stores), self.embedding.tail(ids, state.last_tokens), torch.cat(gates, -1)), logits

    def nbytes(self, state: State) -> int:
        return sum(part[:1].nbytes for store in state.stores for part in store) + state.last_tokens[:1].nbytes


class Delta(ARMT):
    memory = Exact
