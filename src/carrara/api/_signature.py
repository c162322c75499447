"""Python functions whose arguments are the fields of an option class."""

import inspect
from collections.abc import Callable
from functools import reduce, wraps
from operator import or_
from textwrap import indent
from types import UnionType
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

from attrs import NOTHING
from docstring_parser import parse_from_object

P = ParamSpec("P")
C = TypeVar("C")
R = TypeVar("R")


def takes(config: Callable[P, C]) -> Callable[[Callable[[C], R]], Callable[P, R]]:
    """Decorate a function of a configuration so that it takes the configuration's fields as its arguments.

    Args:
        config: The class of the configuration. Its fields, with the text below each, are documented as arguments.
    """

    def decorate(function: Callable[[C], R]) -> Callable[P, R]:
        returned = inspect.signature(function).return_annotation
        parameters = [_plain_parameter(one) for one in inspect.signature(config).parameters.values()]
        signature = inspect.Signature(parameters, return_annotation=returned)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            signature.bind(*args, **kwargs)  # its TypeError names the argument, not the class
            return function(config(*args, **kwargs))

        call.__signature__ = signature  # type: ignore[attr-defined]
        call.__doc__ = _document(inspect.getdoc(function) or "", config, signature)
        return call

    return decorate


def _plain_parameter(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter without what only the command line needs of it."""
    default = ... if parameter.default is NOTHING else parameter.default
    return parameter.replace(annotation=_plain(parameter.annotation), default=default)


def _plain(annotation: Any) -> Any:
    """Return a type without annotations.

    >>> _plain(Annotated[str, "PATH"] | None)
    str | None
    """
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _plain(inner[0])
    if origin in (Union, UnionType):
        return reduce(or_, map(_plain, inner))
    if origin in (Literal, Callable) or not inner:
        return annotation
    return origin[tuple(map(_plain, inner))]


def _document(text: str, config: Callable[..., object], signature: inspect.Signature) -> str:
    """Return a docstring with the arguments of a class after its first section."""
    described = {
        one.arg_name: " ".join((one.description or "").split())
        for base in reversed(inspect.getmro(config))  # type: ignore[arg-type]
        if base is not object
        for one in parse_from_object(base).params
    }
    lines = [
        f"{name}: {described.get(name) or described.get(f'{name}_or_function', '')}" for name in signature.parameters
    ]
    arguments = "Args:\n" + indent("\n".join(lines), "    ")
    head, marker, example = text.partition("\n>>> ")
    return f"{head.rstrip()}\n\n{arguments}\n{marker}{example}"
