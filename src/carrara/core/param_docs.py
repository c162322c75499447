"""Documentation of a task's parameters: the string literal below each field of its class.

Python drops these literals, so they are read from the source of the class and of its base classes. Without the source,
as in a compiled package, there are only names and defaults.
"""

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import TYPE_CHECKING, get_type_hints

from carrara.core import params

if TYPE_CHECKING:
    from carrara.task import Task


@dataclass(frozen=True)
class Parameter:
    """One parameter, as listings show it."""

    name: str
    default: str
    values: str
    """The values that its type allows: `one of chat, text`. Empty for a text, whose meaning says it."""
    choices: tuple[str, ...]
    """All values, where there are few."""
    several: bool
    """Whether it takes several values: `A,B`."""
    meaning: str


def parameters_of(task: "Task") -> tuple[Parameter, ...]:
    """Return the parameters of a task, documented.

    >>> from carrara.registry import load
    >>> form = next(one for one in parameters_of(load("michelangelo/mrcr")) if one.name == "form")
    >>> form.default, form.values, form.meaning
    ('chat', 'one of chat, text', 'Turns of a conversation, or one text with `User:` and `Model:`; ...')
    """
    parameters: type = type(task)
    hints, meanings = get_type_hints(parameters), meanings_of(parameters)
    return tuple(
        Parameter(
            name=name,
            default=default,
            values="" if hints[name] in (str, tuple[str, ...]) else params.kind(hints[name]),
            choices=params.choices(hints[name]),
            several=params.several(hints[name]),
            meaning=meanings.get(name, ""),
        )
        for name, default in params.defaults(task).items()
    )


@cache
def meanings_of(parameters: type) -> dict[str, str]:
    """Return the text below each field, by name. A class overrides its base classes."""
    return {name: text for one in reversed(parameters.__mro__) for name, text in _read_literals(one)}


def _read_literals(parameters: type) -> Iterator[tuple[str, str]]:
    try:
        [defined] = ast.parse(dedent(inspect.getsource(parameters))).body
    except (OSError, TypeError, SyntaxError, ValueError):  # built in, or without its source
        return
    body = defined.body if isinstance(defined, ast.ClassDef) else []
    for field, after in pairwise(body):
        match field, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split())
