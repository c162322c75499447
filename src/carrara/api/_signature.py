"""Python functions whose arguments are the fields of an option class."""

import inspect
from collections.abc import Callable
from functools import wraps
from textwrap import indent
from typing import ParamSpec, TypeVar

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
        signature = inspect.signature(config).replace(return_annotation=returned)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            signature.bind(*args, **kwargs)  # its TypeError names the argument, not the class
            return function(config(*args, **kwargs))

        call.__signature__ = signature  # type: ignore[attr-defined]
        call.__doc__ = _document(inspect.getdoc(function) or "", config, signature)
        return call

    return decorate


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
