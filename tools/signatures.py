"""For the site: show functions whose arguments are fields of an option class with these arguments.

The site reads the source without executing it, and a decorator makes these signatures and docstrings
(`carrara.signature`).
"""

import inspect
import re
from importlib import import_module
from typing import Any

import griffe

DECORATORS = ("takes", "documented_by")


class Signatures(griffe.Extension):
    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        if any(str(decorator.value).partition("(")[0] in DECORATORS for decorator in func.decorators):
            found = import_module(func.module.path)
            for name in func.path.removeprefix(f"{func.module.path}.").split("."):
                found = getattr(found, name)
            describe(func, found)


def describe(shown: griffe.Function, function: Any) -> None:
    """Give a function of the site the arguments and the docstring that it has when it is imported."""
    if shown.docstring:
        shown.docstring.value = inspect.getdoc(function) or ""
    parameters = inspect.signature(function).parameters
    if list(parameters) != [one.name for one in shown.parameters]:
        shown.parameters = griffe.Parameters(*map(parameter, parameters.values()))


def parameter(one: inspect.Parameter) -> griffe.Parameter:
    annotation = one.annotation if isinstance(one.annotation, str) else inspect.formatannotation(one.annotation)
    default = None if one.default is inspect.Parameter.empty else "..." if one.default is ... else repr(one.default)
    kind = griffe.ParameterKind(one.kind.description)
    annotation = re.sub(r"\b(?:[a-z_]+\.)+", "", annotation)  # without modules
    return griffe.Parameter(one.name, annotation=annotation, kind=kind, default=default)
