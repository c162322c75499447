"""Sweeps: parameters of a task with several values, which instances take in turn."""

from collections.abc import Mapping
from copy import copy
from dataclasses import fields
from functools import cache
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_origin, get_type_hints

from carrara.generators.round_robin import in_turn
from carrara.rng import Key

T = TypeVar("T")

if TYPE_CHECKING:

    class Sweep(Generic[T]):
        def __init__(self, *values: T) -> None: ...
        def __get__(self, task: Any, kind: Any) -> T: ...
        def __set__(self, task: Any, value: T | tuple[T, ...]) -> None: ...

else:

    class Sweep(tuple[T, ...], Generic[T]):
        """A parameter with several values, which instances take in turn: `size: Sweep[int] = Sweep(4, 8)`.

        In the methods of the task the parameter has one of the values. Results are sliced by it.

        Examples:
            >>> from carrara.task import Sweep
            >>> Sweep(4, 8)
            (4, 8)
        """

        __slots__ = ()

        def __new__(cls, *values):
            return super().__new__(cls, values)

        def __getnewargs__(self):
            return tuple(self)


def sweep_names(task: Any) -> tuple[str, ...]:
    """Return the names of a task's parameters that are a `Sweep`."""
    kind: Any = type(task)
    return _names(kind)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    hints = get_type_hints(kind)
    return tuple(field.name for field in fields(kind) if get_origin(hints[field.name]) is Sweep)


def sweep_values(task: object, name: str) -> tuple[Any, ...]:
    """Return all values of a sweep, of which the task may have one."""
    values: tuple[Any, ...] = vars(task).get("_all", vars(task))[name]
    return values


def sweep_labels(task: object) -> Mapping[str, str]:
    """Return the value of each sweep that has several."""
    names = (name for name in sweep_names(task) if len(sweep_values(task, name)) > 1)
    return {name: _write(getattr(task, name)) for name in names}


def count_cells(task: object) -> int:
    """Return the number of combinations of the values of a task's sweeps, which instances take in turn."""
    return prod(len(sweep_values(task, name)) for name in sweep_names(task))


def cells(task: T) -> list[T]:
    """Return the task with each combination of the values of its sweeps."""
    names = sweep_names(task)
    tasks = []
    for values in product(*(sweep_values(task, name) for name in names)):
        cell = copy(task)
        cell.__dict__["_all"] = {name: sweep_values(task, name) for name in names}
        cell.__dict__.update(zip(names, values, strict=True))
        tasks.append(cell)
    return tasks


def choose_values(task: T, key: Key) -> T:
    """Return the task with one value of each sweep. Instances take the values in turn."""
    names = sweep_names(task)
    return in_turn(key, names[0] if len(names) == 1 else "cell", cells(task)) if names else task


def _write(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
