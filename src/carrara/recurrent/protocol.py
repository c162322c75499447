"""What a model has to be for `carrara probe` and `carrara train`: three methods, and no other knowledge of this house.

    class Mine(torch.nn.Module):
        def init(self, batch: int) -> State: ...
        def step(self, state: State, tokens: Tensor) -> tuple[State, Tensor]: ...
        def nbytes(self, state: State) -> int: ...

A state is a tensor, or a tuple, list or dict of states, with the items of a batch along the first dimension. `step`
reads the tokens (batch × length) that come next and says for each of them what may follow it (batch × length ×
vocabulary); it leaves the state that it was given as it was.
"""

import inspect
from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor

State = Any


class Memory(Protocol):
    def init(self, batch: int) -> State:
        """What is known before anything was read."""

    def step(self, state: State, tokens: Tensor) -> tuple[State, Tensor]:
        """Read on."""

    def nbytes(self, state: State) -> int:
        """How large what is kept of one item is."""


def each(state: State, change: Callable[[Tensor], Tensor]) -> State:
    """A state with every tensor changed."""
    if isinstance(state, Tensor):
        return change(state)
    if isinstance(state, dict):
        return {name: each(part, change) for name, part in state.items()}
    parts = [each(part, change) for part in state]
    return type(state)(*parts) if hasattr(state, "_fields") else type(state)(parts)


def tensors(state: State) -> list[Tensor]:
    """Its tensors, in a fixed order."""
    if isinstance(state, Tensor):
        return [state]
    parts = state.values() if isinstance(state, dict) else state
    return [tensor for part in parts for tensor in tensors(part)]


def device_of(state: State) -> torch.device:
    """Return the device of a state's tensors, to which the model's tokens belong too."""
    return next((tensor.device for tensor in tensors(state)), torch.device("cpu"))


def rows(state: State, chosen: Tensor) -> State:
    """Return the states of some items of a batch."""
    return each(state, lambda tensor: tensor.index_select(0, chosen.to(tensor.device)))


def join_states(states: list[State]) -> State:
    """A batch of several batches."""
    first = states[0]
    if len(states) == 1:
        return first
    columns = list(zip(*(tensors(state) for state in states), strict=True))
    merged = iter([torch.cat(list(column)) for column in columns])
    return each(first, lambda _: next(merged))


def nbytes(state: State) -> int:
    """Of one item: all that its tensors hold."""
    return sum(tensor[:1].nbytes for tensor in tensors(state))


def read(model: Any, state: State, tokens: Tensor) -> State:
    """The state after some tokens. Models of this house are not asked what may follow: that takes time."""
    tokens = tokens.to(device_of(state))
    if telling(model):
        return model.step(state, tokens, tell=False)[0]
    return model.step(state, tokens)[0]


def telling(model: Any) -> bool:
    """Whether a model's step takes `tell` and `keep`, as those of this house do."""
    return {"tell", "keep"} <= inspect.signature(model.step).parameters.keys()
