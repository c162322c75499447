"""Muon (Jordan et al. 2024): orthogonalized momentum for the matrices inside a model. AdamW trains the rest."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn


def orthogonal(matrix: Tensor, steps: int = 5) -> Tensor:
    """Return the nearest matrix whose singular values are all near 1, by Newton-Schulz iteration."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x: Tensor = matrix / (matrix.norm() + 1e-7)
    tall = x.shape[0] > x.shape[1]
    if tall:
        x = x.T
    for _ in range(steps):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if tall else x


class Muon(torch.optim.Optimizer):
    def __init__(self, params: Iterable[nn.Parameter], lr: float, momentum: float = 0.95) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["momentum"] = torch.zeros_like(p)
                kept = state["momentum"].mul_(group["momentum"]).add_(p.grad)
                update = orthogonal(p.grad.add(kept, alpha=group["momentum"]))
                p.add_(update, alpha=-group["lr"] * max(1, p.shape[0] / p.shape[1]) ** 0.5)
