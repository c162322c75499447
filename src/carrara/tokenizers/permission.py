"""Tokenizers that an item's id may name, and models that a checkpoint may.

An id may come from a stranger: in a log, a line of replies, a guard or a data set. The tokenizer `server:URL` would
send requests to that address, and `hf:PATH` would read that file. Only bundled tokenizers, and those that this user
has named on this machine, are loaded for an id: by an option of a command, an argument in Python, or with `--allow`.
The same holds for the backbone of a recurrent model's checkpoint, which is `hf:NAME-OR-PATH` here.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from carrara.util.cache import cache_folder, cache_location
from carrara.util.errors import UsageError

PLACES = ("hf:", "gguf:", "server:")
"""Prefixes of the names of tokenizers outside of the package."""
_DIGEST = re.compile("gguf:sha256-[0-9a-f]{16}")
"""A local model's file by its digest. It is found only if this user has run that model."""
_ALLOWED = "CARRARA_ALLOWED_TOKENIZERS"
"""An environment variable with the names, one a line, which worker processes on this machine inherit."""

R = TypeVar("R")


def allow(name: str) -> None:
    """Allow ids to name a tokenizer from now on, also in later processes of this user."""
    if not isinstance(name, str):
        raise UsageError(f"{name!r} is not the name of a tokenizer: give a text, such as 'o200k'")
    if is_allowed(name):
        return
    if not name.isprintable():  # the names that are allowed are lines
        raise UsageError(f"{name!r} cannot name a tokenizer or model: give a name of printable characters")
    _allow_here([name])
    try:
        with _file().open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")
    except OSError:  # then it holds only for this process and its workers
        pass
    _stored_names.cache_clear()


def allow_all(names: Iterable[str] | None) -> None:
    """Allow ids to name several tokenizers, or none."""
    for name in names or ():
        allow(name)


def with_permissions(work: Callable[..., R]) -> Callable[..., R]:
    """Return a function that does the work with the names that are allowed here, for processes on other machines."""
    names = sorted({*_in_environment(), *_stored_names(cache_location())})
    return partial(_with_permission, names, work)


def _with_permission(names: Sequence[str], work: Callable[..., R], *args: object) -> R:
    _allow_here(names)
    return work(*args)


def _allow_here(names: Sequence[str]) -> None:
    if new := [name for name in names if name not in _in_environment()]:
        os.environ[_ALLOWED] = "\n".join([*_in_environment(), *new])


def _in_environment() -> list[str]:
    return os.environ.get(_ALLOWED, "").splitlines()


def is_allowed(name: str) -> bool:
    """Return whether ids may name a tokenizer."""
    if not name.startswith(PLACES) or _DIGEST.fullmatch(name) or name in _in_environment():
        return True
    where = cache_location()
    if name not in _stored_names(where):  # another process may have allowed it since
        _stored_names.cache_clear()
    return name in _stored_names(where)


def check(name: str, naming: str = "an id names the tokenizer") -> None:
    """Raise `UsageError` if an id, or another file, must not name a tokenizer."""
    if not is_allowed(name):
        raise UsageError(
            f"{naming} {name}, which you have not named on this machine: pass `--allow {shlex.quote(name)}` if you "
            "trust that file or address"
        )


def _file() -> Path:
    return cache_folder("tokenizers") / "allowed.txt"


@cache
def _stored_names(where: str) -> frozenset[str]:
    """Return the names that this user has allowed, from the cache at this path."""
    try:
        return frozenset(_file().read_text("utf-8").splitlines())
    except (OSError, ValueError):
        return frozenset()
