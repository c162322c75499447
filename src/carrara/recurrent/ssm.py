"""A small selective state space model (in the form of Mamba-2, Dao and Gu 2024), computed in chunks.

Every layer has a matrix for each head. It decays by a factor that each token chooses, and the token adds to it:
S ← a·S + k vᵀ, read as q S. Over a chunk this is a masked product of matrices. Only chunks are computed one after the
other.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from carrara.recurrent.blocks import Embedding, Mlp, norm, shrink


class State(NamedTuple):
    layers: tuple[Tensor, ...]
    """Heads × keys × values."""
    last_tokens: Tensor
    """The last tokens, for the convolution."""
    gates: Tensor
    """The share that each head of each layer forgot in the last segment."""


class Mixer(nn.Module):
    def __init__(self, width: int, heads: int, keys: int) -> None:
        super().__init__()
        self.heads, self.keys = heads, keys
        self.qk = nn.Linear(width, 2 * heads * keys, bias=False)
        self.v = nn.Linear(width, width, bias=False)
        self.forget = nn.Linear(width, heads)
        self.take = nn.Linear(width, heads)
        self.gate = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        shrink(self.out)
        nn.init.normal_(self.forget.weight, std=0.02)
        with torch.no_grad():  # from a few tokens to some hundred
            self.forget.bias.copy_(torch.linspace(1.0, 6.0, heads))

    def forward(self, x: Tensor, state: Tensor, silent: bool = False) -> tuple[Tensor | None, Tensor, Tensor]:
        """Return the output (None if `silent`), the new state, and the share that was forgotten."""
        batch, length, width = x.shape
        q, k = self.qk(x).view(batch, length, 2, self.heads, self.keys).permute(2, 0, 3, 1, 4)
        v = self.v(x).view(batch, length, self.heads, -1).transpose(1, 2).float()
        q, k = F.normalize(q.float(), dim=-1), F.normalize(k.float(), dim=-1)
        k = k * torch.sigmoid(self.take(x).float()).transpose(1, 2)[..., None]
        # The logarithm of the share of the state before that is kept, up to each token.
        log_kept = F.logsigmoid(self.forget(x).float()).transpose(1, 2).cumsum(-1)
        left = (log_kept[..., -1:] - log_kept).exp()[..., None]
        after, forgotten = (
            state * log_kept[..., -1:, None].exp() + (k * left).transpose(-1, -2) @ v,
            1 - log_kept[..., -1].exp(),
        )
        if silent:
            return None, after, forgotten
        decay = (log_kept[..., :, None] - log_kept[..., None, :]).tril().exp().tril()
        mixed = ((q @ k.transpose(-1, -2)) * decay) @ v + (q * log_kept.exp()[..., None]) @ state
        mixed = norm(mixed).transpose(1, 2).reshape(batch, length, width).to(x.dtype)
        return self.out(mixed * F.silu(self.gate(x))), after, forgotten


class SSM(nn.Module):
    def __init__(
        self,
        vocabulary: int,
        outputs: int,
        segment: int = 128,
        width: int = 128,
        heads: int = 4,
        layers: int = 3,
        keys: int = 32,
    ) -> None:
        super().__init__()
        self.heads, self.keys, self.width = heads, keys, width
        self.embedding = Embedding(vocabulary, width)
        self.mixers = nn.ModuleList(Mixer(width, heads, keys) for _ in range(layers))
        self.mlps = nn.ModuleList(Mlp(width) for _ in range(layers))
        self.head = nn.Linear(width, outputs, bias=False)

    def init(self, batch: int) -> State:
        zeros = self.head.weight.new_zeros
        memory = zeros(batch, self.heads, self.keys, self.width // self.heads)
        return State(
            (memory,) * len(self.mixers), self.embedding.init(batch), zeros(batch, self.heads * len(self.mixers))
        )

    def step(
        self, state: State, ids: Tensor, *, predict: bool = True, update: bool = True
    ) -> tuple[State, Tensor | None]:
        x = self.embedding(ids, state.last_tokens if update else None)
        layers, gates = [], []
        for n, (mixer, mlp, before) in enumerate(zip(self.mixers, self.mlps, state.layers, strict=True), 1):
            silent = n == len(self.mixers) and not predict  # the last output is unused without logits
            mixed, after, forgotten = mixer(norm(x), before, silent)
            if not silent:
                x = x + mixed
                x = x + mlp(norm(x))
            layers.append(after)
            gates.append(forgotten)
        logits = self.head(norm(x)) if predict else None
        if not update:
            return state, logits
        return State(tuple(layers), self.embedding.tail(ids, state.last_tokens), torch.cat(gates, -1)), logits

    def nbytes(self, state: State) -> int:
        return sum(layer[:1].nbytes for layer in state.layers) + state.last_tokens[:1].nbytes
