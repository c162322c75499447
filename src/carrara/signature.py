"""A decorator for Python functions whose arguments are the fields of an option class.

The text below each field of the class is the one place where an option is described. The help of the command line
(`carrara run --help`), the docstring (`help(carrara.run)`) and the API reference (`tools/signatures.py`) all show it.
"""

import inspect
from collections.abc import Callable, Iterable
from functools import reduce, wraps
from operator import or_
from textwrap import fill
from types import UnionType
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

from attrs import NOTHING
from docstring_parser import DocstringStyle, parse, parse_from_object

P = ParamSpec("P")
C = TypeVar("C")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])


def takes(config: Callable[P, C]) -> Callable[[Callable[[C], R]], Callable[P, R]]:
    """Decorate a function of a configuration so that it takes the configuration's fields as its arguments.

    The docstring gets a section `Args:` with the text below each field, before its section `Returns:`. The command line
    reads the class in the attribute `config` of the function.

    Args:
        config: The class of the configuration. A field whose metadata are `SEVERAL` is given as any number of
            positional arguments (`takes_several`).

    Returns:
        A decorator.
    """

    def decorate(function: Callable[[C], R]) -> Callable[P, R]:
        returned = inspect.signature(function).return_annotation
        parameters = parameters_of(config)
        signature = inspect.Signature(
            [_plain_parameter(parameter) for parameter in parameters], return_annotation=returned
        )
        kinds = [parameter.kind for parameter in parameters]
        before = kinds.index(_VAR) if _VAR in kinds else None

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> R:
            signature.bind(*args, **kwargs)  # its TypeError names the argument, not the class
            if before is None:
                return function(config(*args, **kwargs))
            return function(config(*args[:before], args[before:], **kwargs))  # type: ignore[arg-type]

        call.__signature__ = signature  # type: ignore[attr-defined]
        call.__doc__ = _document(inspect.getdoc(function) or "", config, signature.parameters)
        call.config = config  # type: ignore[attr-defined]
        return call

    return decorate


def takes_several(config: Callable[..., C]) -> Callable[[Callable[[C], R]], Callable[..., R]]:
    """Decorate as `takes` does a function that takes one field of the configuration as any number of arguments."""
    return takes(config)


SEVERAL = {"several": True}
"""The metadata of a field that is given as any number of positional arguments."""
_VAR = inspect.Parameter.VAR_POSITIONAL


def parameters_of(config: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the parameters of a function that takes the fields of a class."""
    attributes: Any = getattr(config, "__attrs_attrs__", ())
    several = {parameter.alias for parameter in attributes if parameter.metadata.get("several")}
    return [
        parameter.replace(kind=_VAR, default=inspect.Parameter.empty) if parameter.name in several else parameter
        for parameter in inspect.signature(config).parameters.values()
    ]


def _plain_parameter(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter without the annotations that only the command line needs."""
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


def documented_by(options: type) -> Callable[[F], F]:
    """Decorate a function, some of whose arguments are fields of an option class, with the text below these fields.

    The arguments that the docstring leaves out are added to its section `Args:`.
    """

    def decorate(function: F) -> F:
        text = inspect.getdoc(function) or ""
        documented = {parameter.arg_name for parameter in parse(text, style=DocstringStyle.GOOGLE).params}
        names = [name for name in inspect.signature(function).parameters if name not in documented]
        function.__doc__ = _document(text, options, names)
        return function

    return decorate


def _document(text: str, options: Callable[..., object], names: Iterable[str]) -> str:
    """Return a docstring with the fields of a class as further arguments. Its section `Returns:` comes after these."""
    described = {
        parameter.arg_name: " ".join((parameter.description or "").split())
        for base in reversed(inspect.getmro(options))  # type: ignore[arg-type]
        if base is not object
        for parameter in parse_from_object(base).params
    }
    meanings = {name: described.get(name) or described.get(f"{name}_or_function", "") for name in names}
    lines = "\n".join(
        fill(f"{name}: {meaning}", 120, initial_indent=" " * 4, subsequent_indent=" " * 8)
        for name, meaning in meanings.items()
        if meaning
    )
    head, marker, rest = text.partition("Returns:\n")
    head = head.rstrip() + ("\n" if "Args:\n" in head else "\n\nArgs:\n")
    return f"{head}{lines}\n\n{marker}{rest}"
