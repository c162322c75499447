"""Every public name has a docstring in Google's style: what it does, arguments, result, errors and an example.

pytest executes the examples themselves (`--doctest-modules`).
"""

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from importlib import import_module
from textwrap import dedent
from types import FunctionType
from typing import Any

import pytest
from docstring_parser import Docstring, DocstringStyle, parse

from carrara.answers import AnswerType
from carrara.params import meanings_of
from carrara.task import Task
from tests.helpers.command_lines import ROOT

MODULES = (
    "carrara",
    "carrara.answers",
    "carrara.export",
    "carrara.export.verl_reward",
    "carrara.guard",
    "carrara.readers.retrieval",
)
"""Modules whose `__all__` is public."""
ALSO = ("carrara.operations.results.Table", "carrara.readers.retrieval.embedders.Embedder")
"""Further public names."""
BASES = (Task, AnswerType)
"""Base classes whose methods users write rather than call. The example of the class shows them."""
NOT_EXECUTED = {"make", "check", "compare", "train"}
"""Functions whose examples need a server or take long: guard/ and recurrent/ run them."""
VAGUE = re.compile(r"(?:Who|What|Whether|How|Of|That|Those|The same)\b")
"""First words that leave open what the first sentence is about."""


def public_names() -> dict[str, Any]:
    """Return every public function and class, by its full name."""
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md"))
    listed = re.findall(r"^::: (carrara\.[\w.]+\.[A-Z]\w+)", pages, re.M)
    offered = [f"{module}.{name}" for module in MODULES for name in import_module(module).__all__ if name[0] != "_"]
    found = dict[str, Any]()
    for full_name in (*offered, *listed, *ALSO):
        module, _, name = full_name.rpartition(".")
        found[full_name] = getattr(import_module(module), name)
    return found


PUBLIC = public_names()


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties that a class or its bases in Carrara add.

    A method that overrides another one has the arguments that are documented there.
    """
    for base in kind.__mro__:
        if not base.__module__.startswith("carrara"):
            continue
        for name, member in vars(base).items():
            is_method = isinstance(member, property | cached_property | classmethod | staticmethod | FunctionType)
            overrides = any(name in vars(other) for other in base.__mro__[1:])
            if name[0] != "_" and is_method and not overrides:
                yield name, member


@cache
def parsed(text: str) -> Docstring:
    return parse(text, style=DocstringStyle.GOOGLE)


def summary_faults(text: str) -> Iterator[str]:
    first = text.partition("\n")[0]
    if not first.endswith((".", ":")) or VAGUE.match(first):
        yield f"first line: {first!r}"


def function_faults(function: Callable[..., Any], needs_example: bool) -> Iterator[str]:
    """Yield what the docstring of a function lacks."""
    text = inspect.getdoc(function) or ""
    yield from summary_faults(text)
    signature = inspect.signature(function)
    documented = {one.arg_name.lstrip("*"): (one.description or "").strip() for one in parsed(text).params}
    names = [name for name in signature.parameters if name not in ("self", "cls") and not name.startswith("_")]
    yield from (f"Args: {name}" for name in names if not documented.get(name))
    yield from (f"Args: no argument {name}" for name in documented if name not in signature.parameters)
    returns_something = signature.return_annotation not in (None, "None", inspect.Signature.empty)
    is_said_at_once = not names and text.startswith(("Return ", "Yield "))
    if returns_something and not is_said_at_once and parsed(text).returns is None:
        yield "Returns"
    named = {one.type_name for one in parsed(text).raises}
    yield from (f"Raises: {name}" for name in raised(function) - named)
    if needs_example and ">>> " not in text:
        yield "Examples"
    if "+SKIP" in text and function.__name__ not in NOT_EXECUTED:
        yield "Examples: not executed"


def raised(function: Callable[..., Any]) -> set[str]:
    """Return the names of the exceptions that the code of a function raises itself."""
    tree = ast.parse(dedent(inspect.getsource(inspect.unwrap(function))))
    calls = (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call))
    names = {ast.unparse(call.func) for call in calls if isinstance(call, ast.Call)}
    return names - {"NotImplementedError", "AssertionError"}


def class_faults(kind: type) -> Iterator[str]:
    """Yield what the docstrings of a class and of its members lack."""
    text = inspect.getdoc(kind) or ""
    yield from summary_faults(text)
    if ">>> " not in text:
        yield "Examples"
    if is_dataclass(kind) and not issubclass(kind, Task):
        documented = {one.arg_name for one in parsed(text).params} | meanings_of(kind).keys()
        yield from (f"field {one.name}" for one in fields(kind) if one.name[0] != "_" and one.name not in documented)
    for name, member in members(kind):
        if isinstance(member, property | cached_property):
            faults: Iterator[str] = summary_faults(inspect.getdoc(member) or "")
        else:
            function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
            users_write_it = getattr(kind, "_is_protocol", False) or issubclass(kind, BASES)
            faults = function_faults(function, not users_write_it)
        yield from (f"{name}: {fault}" for fault in faults)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_is_documented(name: str) -> None:
    one = PUBLIC[name]
    faults: Sequence[str] = list(class_faults(one) if isinstance(one, type) else function_faults(one, True))
    assert not faults, "\n".join(faults)


def test_files_that_sentences_name_exist() -> None:
    files = [path.as_posix() for path in ROOT.glob("src/**/*.py")]
    for path in ROOT.glob("src/**/*.py"):
        for name in re.findall(r"\(([\w/]+\.py)\)", path.read_text("utf-8")):
            assert any(file.endswith(f"/{name}") for file in files), f"{path}: {name}"
