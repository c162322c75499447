"""The control without a memory: attention over this segment and the one before it."""

import torch
from torch import Tensor, nn

from carrara.recurrent.blocks import Embedding, Layer, norm, recency
from carrara.recurrent.rmt import MARGIN
from carrara.recurrent.vocabulary import PAD


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
