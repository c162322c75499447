"""A task's arguments, from whoever gives them: `carrara run`, or Inspect's `-T`, which reads YAML and splits at commas.

-T params=complexity=5,view=sum    arrives as  ["complexity=5", "view=sum"]
-T length=4096                     arrives as  4096
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from carrara.core.errors import UsageError, nearest


def text(value: Any) -> str:
    """
    >>> text(["a.toml", 5]), text(4096), text(True), text(None)
    ('a.toml,5', '4096', 'true', '')
    """
    if isinstance(value, list | tuple):
        return ",".join(map(text, value))
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def parameters(value: Any) -> dict[str, str]:
    """A test's parameters. A comma may stand between two of them and within one.

    >>> parameters(["complexity=1", 5, "view=sum"])
    {'complexity': '1,5', 'view': 'sum'}
    >>> parameters("complexity=1,5;view=sum")
    {'complexity': '1,5', 'view': 'sum'}
    """
    if isinstance(value, Mapping):
        return {str(name): text(inner) for name, inner in value.items()}
    found = {}
    for part in filter(None, re.split(r"[;,](?=\s*\w+=)|;", text(value))):
        name, equals, given = part.partition("=")
        if not equals or not name.strip() or not given.strip():
            raise UsageError(f"params={part} is not NAME=VALUE; write for example params=complexity=5")
        found[name.strip()] = given.strip()
    return found


def whole(name: str, value: Any, least: int) -> int:
    written = text(value)
    if not written.isascii() or not written.isdigit() or int(written) < least:
        raise UsageError(f"{name}={written} is not a whole number of at least {least}")
    return int(written)


def one_of(name: str, value: Any, kind: Any) -> Any:
    """A value of a literal type."""
    written, options = text(value), get_args(kind)
    if written not in options:
        raise UsageError(f"{name}={written} is not one of {', '.join(options)}{nearest(written, options)}")
    return written


def none_other(given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse arguments that mean nothing: a result would be taken for one that they had shaped."""
    names = list(known)
    for name in given:
        raise UsageError(f"a task has no argument {name!r}{nearest(name, names)}; it has {', '.join(names)}")
