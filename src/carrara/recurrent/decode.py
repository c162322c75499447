"""Answers of a model after what it has read: by greedy decoding, or the most probable of some options.

The models of this package read a question and its answer without changing their memory (`update=False`). Models that
implement only the protocol go on token by token.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from carrara.recurrent.protocol import State, device_of, map_tensors, takes_flags
from carrara.recurrent.vocabulary import IGNORED


def decode_answer(model: Any, state: State, question: Sequence[int], end: int, most: int) -> list[int]:
    """Return the tokens of one item's answer, up to the end or up to `most` of them."""
    answer: list[int] = []
    text, device = list(question), device_of(state)
    while len(answer) < most:
        if takes_flags(model):
            logits = model.step(state, torch.tensor([[*question, *answer]], device=device), update=False)[1]
        else:
            state, logits = model.step(state, torch.tensor([text], device=device))
        token = int(logits[0, -1].argmax())
        if token == end:
            break
        answer.append(token)
        text = [token]
    return answer


def room(model: Any, question: Sequence[int], most: int) -> int:
    """Return how many tokens an answer can have: `most`, or fewer if the model has fewer positions after a question."""
    longest = getattr(model, "longest", None)
    return most if longest is None else max(0, min(most, int(longest) - len(question)))


def likelihoods(model: Any, state: State, question: Sequence[int], options: Sequence[Sequence[int]]) -> list[float]:
    """Return the log-probability of each option as the answer of one item."""
    length = max(map(len, options))
    ids = torch.zeros(len(options), len(question) + length - 1, dtype=torch.long)
    targets = torch.full((len(options), ids.shape[1]), IGNORED)
    for row, option in enumerate(options):
        ids[row, : len(question) + len(option) - 1] = torch.tensor([*question, *option[:-1]])
        targets[row, len(question) - 1 : len(question) + len(option) - 1] = torch.tensor(option)
    ids, targets = ids.to(device_of(state)), targets.to(device_of(state))
    many = map_tensors(state, lambda tensor: tensor.expand(len(options), *tensor.shape[1:]))
    logits: Tensor = (model.step(many, ids, update=False) if takes_flags(model) else model.step(many, ids))[1]
    chances = logits.float().log_softmax(-1).gather(2, targets.clamp(min=0)[..., None])[..., 0]
    return [float(row) for row in (chances * (targets != IGNORED)).sum(1)]
