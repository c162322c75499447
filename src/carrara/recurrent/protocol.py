"""The protocol of recurrent models, for `carrara recurrent probe` and `carrara recurrent train`: three methods.

    class Mine(torch.nn.Module):
        def init(self, batch: int) -> State: ...
        def step(self, state: State, tokens: Tensor) -> tuple[State, Tensor]: ...
        def nbytes(self, state: State) -> int: ...

A state is a tensor, or a tuple, list or dict of states, with the items of a batch along the first dimension. `step`
reads the next tokens (batch × length), and returns the new state and the logits of the token after each of them (batch
× length × vocabulary). It does not change the state that it was given.

The models of this package take two flags more: `predict=False` leaves out the logits, and `update=False` the new state.

An answer is decoded greedily, or is the most probable of some options. The models of this package read a question and
its answer without changing their memory; models that implement only the protocol go on token by token.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from carrara.recurrent.vocabulary import IGNORED

State = Any


class Memory(Protocol):
    """A recurrent model."""

    def init(self, batch: int) -> State:
        """Return the state before anything was read."""

    def step(self, state: State, tokens: Tensor) -> tuple[State, Tensor]:
        """Read the next tokens. Return the new state, and the logits of the token after each."""

    def nbytes(self, state: State) -> int:
        """Return the size of one item's state in bytes."""


def map_tensors(state: State, change: Callable[[Tensor], Tensor]) -> State:
    """Return a state with every tensor changed."""
    if isinstance(state, Tensor):
        return change(state)
    if isinstance(state, dict):
        return {name: map_tensors(part, change) for name, part in state.items()}
    parts = [map_tensors(part, change) for part in state]
    return type(state)(*parts) if hasattr(state, "_fields") else type(state)(parts)


def tensors(state: State) -> list[Tensor]:
    """Return the tensors of a state, in a fixed order."""
    if isinstance(state, Tensor):
        return [state]
    parts = state.values() if isinstance(state, dict) else state
    return [tensor for part in parts for tensor in tensors(part)]


def device_of(state: State) -> torch.device:
    """Return the device of a state's tensors, to which the model's tokens belong too."""
    return next((tensor.device for tensor in tensors(state)), torch.device("cpu"))


def rows(state: State, chosen: Tensor) -> State:
    """Return the states of some items of a batch."""
    return map_tensors(state, lambda tensor: tensor.index_select(0, chosen.to(tensor.device)))


def join_states(states: list[State]) -> State:
    """Return several batches as one."""
    first = states[0]
    if len(states) == 1:
        return first
    columns = list(zip(*(tensors(state) for state in states), strict=True))
    merged = iter([torch.cat(list(column)) for column in columns])
    return map_tensors(first, lambda _: next(merged))


def nbytes(state: State) -> int:
    """Return the size of all tensors of one item's state in bytes."""
    return sum(tensor[:1].nbytes for tensor in tensors(state))


def read(model: Any, state: State, tokens: Tensor) -> State:
    """Return the state after some tokens, without computing logits if the model can leave them out."""
    tokens = tokens.to(device_of(state))
    if takes_flags(model):
        return model.step(state, tokens, predict=False)[0]
    return model.step(state, tokens)[0]


def takes_flags(model: Any) -> bool:
    """Return whether a model's `step` takes `predict` and `update`, as those of this package do."""
    return {"predict", "update"} <= inspect.signature(model.step).parameters.keys()


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
