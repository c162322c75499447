"""What a test's parameters mean: the string literal under each field of its class of parameters.

Python forgets these literals, so they are read from the source, of the class and of those it inherits from. Where
there is no source (a package that was compiled), nothing is said, and names and defaults are all there is.
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
    """One parameter, as people are told of it."""

    name: str
    default: str
    values: str
    """What may be given, where its type tells: `one of chat, text`. Of a text, that is left to its meaning."""
    choices: tuple[str, ...]
    """Each value that is possible, where there are few."""
    several: bool
    """Whether it takes several values, `A,B`."""
    meaning: str


def parameters_of(task: "Task") -> tuple[Parameter, ...]:
    """
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
    """What is said of each field, by name; a class says more than those it inherits from."""
    return {name: said for one in reversed(parameters.__mro__) for name, said in _said(one)}


def _said(parameters: type) -> Iterator[tuple[str, str]]:
    try:
        [defined] = ast.parse(dedent(inspect.getsource(parameters))).body
    except (OSError, TypeError, SyntaxError, ValueError):  # built in, without its source, or made otherwise
        return
    body = defined.body if isinstance(defined, ast.ClassDef) else []
    for field, after in pairwise(body):
        match field, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split())
