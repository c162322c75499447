"""A task's parameters, as users write them and as ids contain them: `complexity=1,5;view=sum`.

If a field has `reads` in its metadata, this function converts the text of a user: a path becomes the hash of its
content. If the function opens files, the field also has `built_in`, the names that open none. In an id, such a
parameter is one of these names or a hash.
"""

import ast
import inspect
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from carrara.util.errors import UsageError, nearest
from carrara.util.quantities import write_length

if TYPE_CHECKING:
    from carrara.task import Task

T = TypeVar("T", bound="Task")
ParamTexts = Mapping[str, str]


def defaults(task: "Task") -> dict[str, str]:
    """Return every parameter with its default as text."""
    return {field.name: _write(_default(field)) for field in fields(task)}


def build(task: T, name: str, texts: ParamTexts) -> T:
    """Return the task with given parameters."""
    known = {field.name: field for field in fields(task)}
    hints = _hints(type(task))
    values = {}
    for parameter, text in texts.items():
        if parameter not in known:
            raise UsageError(
                f"{name} has no parameter {parameter!r}{nearest(parameter, known)}; it has {', '.join(known) or 'none'}"
            )
        reads = known[parameter].metadata.get("reads")
        try:
            values[parameter] = reads(text) if reads else _read(hints[parameter], text)
        except ValueError:
            raise UsageError(
                f"{name}: {parameter}={text} is not {kind(hints[parameter])}; "
                f"the default is {defaults(task)[parameter]}"
            ) from None
    try:
        return type(task)(**values)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None


def build_canonical(task: T, name: str, text: str) -> T:
    """Return the task with the parameters of an id, which may come from somebody else.

    Raises:
        UsageError: A parameter names a file or a data set, where an id has its hash.
    """
    texts = read_canonical(text)
    check_no_files(task, name, texts, "an id")
    return build(task, name, texts)


def check_no_files(task: "Task", name: str, texts: ParamTexts, source: str) -> None:
    """Raise `UsageError` if parameters that a stranger may have written name a file or a data set."""
    for field in fields(task):
        value, built_in = texts.get(field.name), field.metadata.get("built_in")
        if value is None or built_in is None or value in built_in:
            continue
        if not _HASH.fullmatch(value):
            known = ", ".join(sorted(built_in)) or "nothing is"
            raise UsageError(
                f"{name}: {field.name}={value[:100]} in {source} is neither built in ({known}) nor a hash: {source} "
                f"cannot name a file, `-p {field.name}=FILE` can"
            )
        if os.path.lexists(value):
            raise UsageError(
                f"{name}: {field.name}={value} in {source} stands for a known text, and a file here has that name: "
                "rename the file, or move it away"
            )


_HASH = re.compile(r"[0-9a-f]{8,64}")
_hints = cache(get_type_hints)
"""The types of a task's parameters, cached because every id needs them."""


def of_instance(task: "Task") -> str:
    """Return the parameters that shape instances, without those that only present them (`PRESENTS`).

    >>> from carrara.items.registry import load
    >>> task = load("michelangelo/latent_list")
    >>> of_instance(build(task, "latent_list", {"view": "sum", "fillers": "print"}))
    'view=sum'
    """
    return ";".join(_changed_params(task, lambda field: not field.metadata.get("presents")))


def canonical(task: "Task") -> str:
    """Return the parameters that differ from the defaults, in a fixed order and form.

    >>> from carrara.items.registry import load
    >>> task = load("michelangelo/latent_list")
    >>> canonical(build(task, "latent_list", {"view": "sum", "complexity": "5"}))
    'complexity=5;view=sum'
    """
    return ";".join(_changed_params(task, lambda field: True))


def _changed_params(task: "Task", is_included: "Callable[[Field[Any]], bool]") -> list[str]:
    return [
        f"{field.name}={_write(getattr(task, field.name))}"
        for field in fields(task)
        if is_included(field) and getattr(task, field.name) != _default(field)
    ]


def check_unsized(task: "Task", name: str, length: int) -> None:
    """Raise if a length is requested and a parameter sets the size of instances without a length."""
    changed = _changed_params(task, lambda field: bool(field.metadata.get("unsized")))
    if length and changed:
        raise UsageError(
            f"{name}: {changed[0]} counts at length 0 alone, and {write_length(length)} is asked for: leave it out, or "
            f"ask for length 0"
        )


def read_canonical(text: str) -> dict[str, str]:
    return dict(part.partition("=")[::2] for part in text.split(";") if part)


def _default(field: "Field[Any]") -> Any:
    if field.default is MISSING:
        raise TypeError(f"parameter {field.name} needs a default")
    return field.default


def _write(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(_write, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def _read(hint: Any, text: str) -> Any:
    if several(hint):
        items = [item.strip() for item in text.replace("+", ",").split(",")]
        return tuple(_read(get_args(hint)[0], item) for item in items)
    if get_origin(hint) is Literal and text in get_args(hint):
        return text
    if hint is bool and text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    if hint in (int, float, str) and text and not any(c in text for c in ";/@\n"):
        return hint(text)
    raise ValueError(text)


def kind(hint: Any) -> str:
    """Return a description of the values of a type."""
    if several(hint):
        return f"{kind(get_args(hint)[0])}, or several A,B"
    if get_origin(hint) is Literal:
        return f"one of {', '.join(get_args(hint))}"
    return {int: "a whole number", float: "a number", str: "a plain word", bool: "true or false"}.get(hint, str(hint))


def several(hint: Any) -> bool:
    """Return whether a parameter of this type takes several values."""
    origin = get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, tuple)


def choices(hint: Any) -> tuple[str, ...]:
    """Return each value of a type, if they are few."""
    if several(hint):
        return choices(get_args(hint)[0])
    return tuple(get_args(hint)) if get_origin(hint) is Literal else (("true", "false") if hint is bool else ())


@dataclass(frozen=True)
class Parameter:
    """One parameter, as listings show it."""

    name: str
    default: str
    values: str
    """The values that its type allows: `one of chat, text`. Empty for a text, which the meaning describes."""
    choices: tuple[str, ...]
    """All values, if they are few."""
    several: bool
    """Whether it takes several values: `A,B`."""
    meaning: str


def parameters_of(task: "Task") -> tuple[Parameter, ...]:
    """Return the parameters of a task, documented.

    >>> from carrara.items.registry import load
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
            values="" if hints[name] in (str, tuple[str, ...]) else kind(hints[name]),
            choices=choices(hints[name]),
            several=several(hints[name]),
            meaning=meanings.get(name, ""),
        )
        for name, default in defaults(task).items()
    )


@cache
def meanings_of(parameters: type) -> dict[str, str]:
    """Return the text below each field, by name. A class overrides its base classes."""
    return {name: text for base in reversed(parameters.__mro__) for name, text in _own_meanings(base).items()}


@cache
def _own_meanings(parameters: type) -> dict[str, str]:
    """Return the text below each field that a class itself has. Many tasks share their base classes."""
    try:
        [defined] = ast.parse(dedent(inspect.getsource(parameters))).body
    except (OSError, TypeError, SyntaxError, ValueError):  # built in, or without its source
        return {}
    meanings = dict[str, str]()
    body = defined.body if isinstance(defined, ast.ClassDef) else []
    for field, after in pairwise(body):
        match field, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                meanings[name] = " ".join(text.split())
    return meanings
