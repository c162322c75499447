"""What a model says to a question after what it has read: greedily, or which of some options it finds likeliest.

Models of this house read a question and its answer behind their memory, and leave the memory as it is (`keep=False`).
Models that only keep the protocol go on token by token.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from carrara.recurrent.protocol import State, device_of, each, telling
from carrara.recurrent.vocabulary import UNTOLD


def decode_answer(model: Any, state: State, question: Sequence[int], end: int, most: int) -> list[int]:
    """The tokens of the answer of one item, as far as the end or `most` of them."""
    found: list[int] = []
    text, device = list(question), device_of(state)
    while len(found) < most:
        if telling(model):
            logits = model.step(state, torch.tensor([[*question, *found]], device=device), keep=False)[1]
        else:
            state, logits = model.step(state, torch.tensor([text], device=device))
        token = int(logits[0, -1].argmax())
        if token == end:
            break
        found.append(token)
        text = [token]
    return found


def room(model: Any, question: Sequence[int], most: int) -> int:
    """How many tokens an answer can have: `most`, or fewer where a model has places for no more behind a question."""
    longest = getattr(model, "longest", None)
    return most if longest is None else max(0, min(most, int(longest) - len(question)))


def likelihoods(model: Any, state: State, question: Sequence[int], options: Sequence[Sequence[int]]) -> list[float]:
    """The log-probability of each option as the answer of one item."""
    length = max(map(len, options))
    ids = torch.zeros(len(options), len(question) + length - 1, dtype=torch.long)
    targets = torch.full((len(options), ids.shape[1]), UNTOLD)
    for row, option in enumerate(options):
        ids[row, : len(question) + len(option) - 1] = torch.tensor([*question, *option[:-1]])
        targets[row, len(question) - 1 : len(question) + len(option) - 1] = torch.tensor(option)
    ids, targets = ids.to(device_of(state)), targets.to(device_of(state))
    many = each(state, lambda tensor: tensor.expand(len(options), *tensor.shape[1:]))
    logits: Tensor = (model.step(many, ids, keep=False) if telling(model) else model.step(many, ids))[1]
    chances = logits.float().log_softmax(-1).gather(2, targets.clamp(min=0)[..., None])[..., 0]
    return [float(row) for row in (chances * (targets != UNTOLD)).sum(1)]
