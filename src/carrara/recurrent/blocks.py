"""The small parts that all kinds share: normalised layers, attention over one segment, a short convolution."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from carrara.recurrent.vocabulary import PAD


def norm(x: Tensor) -> Tensor:
    return F.rms_norm(x, (x.shape[-1],))


class Mlp(nn.Module):
    """Two matrices with ReLU² between them."""

    def __init__(self, width: int, factor: int = 4) -> None:
        super().__init__()
        self.up = nn.Linear(width, factor * width, bias=False)
        self.down = nn.Linear(factor * width, width, bias=False)
        shrink(self.down)

    def forward(self, x: Tensor) -> Tensor:
        mixed: Tensor = self.down(F.relu(self.up(x)).square())
        return mixed


ALL = slice(None)


class Attention(nn.Module):
    """Attention with a bias for each pair: plain where it is trained, and fused where it is not.

    On a processor the backward pass of the plain one is three times as fast as the fused one's.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.watched = False
        self.seen: Tensor | None = None
        """Of the last pass, who looked at whom, where it is watched: batch × heads × from × to."""
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        shrink(self.out)

    def forward(self, x: Tensor, bias: Tensor, rows: slice = ALL) -> Tensor:
        """What some rows see of all."""
        batch, length, width = x.shape
        q = (
            F.linear(x[:, rows], self.qkv.weight[:width])
            .view(batch, -1, self.heads, width // self.heads)
            .transpose(1, 2)
        )
        kv = F.linear(x, self.qkv.weight[width:]).view(batch, length, 2, self.heads, -1)
        k, v = kv.permute(2, 0, 3, 1, 4)
        bias = bias[:, rows].to(q.dtype)
        if torch.is_grad_enabled() or self.watched:
            scores = torch.matmul(q * (width // self.heads) ** -0.5, k.transpose(-1, -2)) + bias
            weights = scores.softmax(-1, dtype=q.dtype)
            self.seen = weights if self.watched else None
            mixed = torch.matmul(weights, v)
        else:
            mixed = F.scaled_dot_product_attention(q, k, v, bias[None])
        found: Tensor = self.out(mixed.transpose(1, 2).reshape(batch, -1, width))
        return found


class Layer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = Attention(width, heads)
        self.mlp = Mlp(width)

    def forward(self, x: Tensor, bias: Tensor, rows: slice = ALL) -> Tensor:
        x = x[:, rows] + self.attention(norm(x), bias, rows)
        found: Tensor = x + self.mlp(norm(x))
        return found


class Embedding(nn.Module):
    """Tokens with what stood just before them: a causal convolution over each channel.

    It looks back into the segment before as well, or else a fact that the cut goes through would be hard to read.
    """

    def __init__(self, vocabulary: int, width: int, reach: int = 7) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.mix = nn.Conv1d(width, width, reach, groups=width, bias=False)
        self.reach = reach
        nn.init.normal_(self.tokens.weight, std=0.5)
        nn.init.normal_(self.mix.weight, std=0.2)

    def init(self, batch: int) -> Tensor:
        """What stands before the first token: nothing."""
        return torch.full((batch, self.reach - 1), PAD, device=self.tokens.weight.device)

    def forward(self, ids: Tensor, behind: Tensor | None = None) -> Tensor:
        behind = self.init(len(ids)) if behind is None else behind
        x = self.tokens(torch.cat([behind, ids], 1))
        mixed: Tensor = self.mix(x.transpose(1, 2)).transpose(1, 2)
        found: Tensor = x[:, self.reach - 1 :] + mixed
        return found

    def tail(self, ids: Tensor, behind: Tensor) -> Tensor:
        """What stands before the next token."""
        return torch.cat([behind, ids], 1)[:, 1 - self.reach :]


def shrink(linear: nn.Linear) -> None:
    """What adds to the residual stream starts small, but not at nothing: from nothing it learns too slowly."""
    nn.init.normal_(linear.weight, std=0.1 * linear.in_features**-0.5)


def recency(heads: int, length: int) -> Tensor:
    """A bias against what is far, on half of the heads."""
    slopes = torch.tensor([0.0 if head % 2 else 2.0 ** -(1 + head) for head in range(heads)])
    far = (torch.arange(length)[:, None] - torch.arange(length)[None, :]).clamp(min=0)
    return -slopes[:, None, None] * far


def shut(logit: Tensor) -> Tensor:
    """A gate that can be exactly 0 or 1, and learns there too: stretched, cut, and its gradient as if it were not."""
    stretched = 1.2 * torch.sigmoid(logit) - 0.1
    return stretched.clamp(0, 1).detach() + stretched - stretched.detach()
