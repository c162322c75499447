"""A small selective state space model (Mamba-2's form, Dao and Gu 2024), which runs chunked on a processor.

Every layer keeps, for each head, a matrix that decays by a factor that each token chooses, and takes up what the token
writes: S ← a·S + k vᵀ, read as q S. Over a chunk the same is a masked product of matrices, and nothing is done token by
token but between chunks.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from carrara.recurrent.blocks import Embedding, Mlp, norm, shrink


class State(NamedTuple):
    layers: tuple[Tensor, ...]
    """Heads × keys × values."""
    behind: Tensor
    """The last tokens, which the convolution looks back on."""
    opened: Tensor
    """How much each head of each layer forgot in the last segment."""


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
        """What comes out, unless `silent`; the state after it, and how much was forgotten."""
        batch, length, width = x.shape
        q, k = self.qk(x).view(batch, length, 2, self.heads, self.keys).permute(2, 0, 3, 1, 4)
        v = self.v(x).view(batch, length, self.heads, -1).transpose(1, 2).float()
        q, k = F.normalize(q.float(), dim=-1), F.normalize(k.float(), dim=-1)
        k = k * torch.sigmoid(self.take(x).float()).transpose(1, 2)[..., None]
        kept = F.logsigmoid(self.forget(x).float()).transpose(1, 2).cumsum(-1)  # of the state before, up to each token
        left = (kept[..., -1:] - kept).exp()[..., None]
        after, forgotten = (
            state * kept[..., -1:, None].exp() + (k * left).transpose(-1, -2) @ v,
            1 - kept[..., -1].exp(),
        )
        if silent:
            return None, after, forgotten
        decay = (kept[..., :, None] - kept[..., None, :]).tril().exp().tril()
        mixed = ((q @ k.transpose(-1, -2)) * decay) @ v + (q * kept.exp()[..., None]) @ state
        mixed = norm(mixed).transpose(1, 2).reshape(batch, length, width).to(x.dtype)
        return self.out(mixed * F.silu(self.gate(x))), after, forgotten


class SSM(nn.Module):
    def __init__(
        self,
        vocabulary: int,
        said: int,
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
        self.head = nn.Linear(width, said, bias=False)

    def init(self, batch: int) -> State:
        zeros = self.head.weight.new_zeros
        one = zeros(batch, self.heads, self.keys, self.width // self.heads)
        return State((one,) * len(self.mixers), self.embedding.init(batch), zeros(batch, self.heads * len(self.mixers)))

    def step(self, state: State, ids: Tensor, *, tell: bool = True, keep: bool = True) -> tuple[State, Tensor | None]:
        x = self.embedding(ids, state.behind if keep else None)
        layers, opened = [], []
        for n, (mixer, mlp, before) in enumerate(zip(self.mixers, self.mlps, state.layers, strict=True), 1):
            silent = n == len(self.mixers) and not tell  # behind the last layer nobody looks, where nothing is said
            mixed, after, forgotten = mixer(norm(x), before, silent)
            if not silent:
                x = x + mixed
                x = x + mlp(norm(x))
            layers.append(after)
            opened.append(forgotten)
        said = self.head(norm(x)) if tell else None
        if not keep:
            return state, said
        return State(tuple(layers), self.embedding.tail(ids, state.behind), torch.cat(opened, -1)), said

    def nbytes(self, state: State) -> int:
        return sum(layer[:1].nbytes for layer in state.layers) + state.behind[:1].nbytes
