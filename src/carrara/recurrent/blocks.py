"""Parts that all kinds share: normalized layers, attention over one segment, a short convolution."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from carrara.recurrent.vocabulary import PAD


def norm(x: Tensor) -> Tensor:
    return F.rms_norm(x, (x.shape[-1],))


class Mlp(nn.Module):
    """A feed-forward block: two matrices with ReLU² between them."""

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
    """Attention with a bias for each pair: explicit in training, and fused otherwise.

    On a processor the backward pass of the explicit form is three times as fast as that of the fused one.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.records = False
        self.weights: Tensor | None = None
        """The attention weights of the last pass, if they are recorded: batch × heads × from × to."""
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        shrink(self.out)

    def forward(self, x: Tensor, bias: Tensor, rows: slice = ALL) -> Tensor:
        """Return the output at some rows, which attend to all."""
        batch, length, width = x.shape
        q = (
            F.linear(x[:, rows], self.qkv.weight[:width])
            .view(batch, -1, self.heads, width // self.heads)
            .transpose(1, 2)
        )
        kv = F.linear(x, self.qkv.weight[width:]).view(batch, length, 2, self.heads, -1)
        k, v = kv.permute(2, 0, 3, 1, 4)
        bias = bias[:, rows].to(q.dtype)
        if torch.is_grad_enabled() or self.records:
            scores = torch.matmul(q * (width // self.heads) ** -0.5, k.transpose(-1, -2)) + bias
            weights = scores.softmax(-1, dtype=q.dtype)
            self.weights = weights if self.records else None
            mixed = torch.matmul(weights, v)
        else:
            mixed = F.scaled_dot_product_attention(q, k, v, bias[None])
        output: Tensor = self.out(mixed.transpose(1, 2).reshape(batch, -1, width))
        return output


class Layer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = Attention(width, heads)
        self.mlp = Mlp(width)

    def forward(self, x: Tensor, bias: Tensor, rows: slice = ALL) -> Tensor:
        x = x[:, rows] + self.attention(norm(x), bias, rows)
        output: Tensor = x + self.mlp(norm(x))
        return output


class Embedding(nn.Module):
    """Embeddings of tokens, mixed with those just before them by a causal convolution over each channel.

    The convolution reaches into the segment before, so that a fact can be read that is divided between two segments.
    """

    def __init__(self, vocabulary: int, width: int, reach: int = 7) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.mix = nn.Conv1d(width, width, reach, groups=width, bias=False)
        self.reach = reach
        nn.init.normal_(self.tokens.weight, std=0.5)
        nn.init.normal_(self.mix.weight, std=0.2)

    def init(self, batch: int) -> Tensor:
        """Return the tokens before the first one: padding."""
        return torch.full((batch, self.reach - 1), PAD, device=self.tokens.weight.device)

    def forward(self, ids: Tensor, last_tokens: Tensor | None = None) -> Tensor:
        last_tokens = self.init(len(ids)) if last_tokens is None else last_tokens
        x = self.tokens(torch.cat([last_tokens, ids], 1))
        mixed: Tensor = self.mix(x.transpose(1, 2)).transpose(1, 2)
        output: Tensor = x[:, self.reach - 1 :] + mixed
        return output

    def tail(self, ids: Tensor, last_tokens: Tensor) -> Tensor:
        """Return the tokens before the next one."""
        return torch.cat([last_tokens, ids], 1)[:, 1 - self.reach :]


def shrink(linear: nn.Linear) -> None:
    """Draw small first weights for a layer that adds to the residual stream. From zero it learns too slowly."""
    nn.init.normal_(linear.weight, std=0.1 * linear.in_features**-0.5)


def recency(heads: int, length: int) -> Tensor:
    """Return a bias against distant tokens, on half of the heads."""
    slopes = torch.tensor([0.0 if head % 2 else 2.0 ** -(1 + head) for head in range(heads)])
    far = (torch.arange(length)[:, None] - torch.arange(length)[None, :]).clamp(min=0)
    return -slopes[:, None, None] * far


def hard_gate(logit: Tensor) -> Tensor:
    """Return a gate that can be exactly 0 or 1, and learns there too: a stretched and clamped sigmoid.

    Its gradient is that of the sigmoid without the clamp.
    """
    stretched = 1.2 * torch.sigmoid(logit) - 0.1
    return stretched.clamp(0, 1).detach() + stretched - stretched.detach()
