"""Tasks that installed packages offer, found by their entry points:

    [project.entry-points.carrara]
    harbours = "harbour_tests"    # the suite `harbours`

A name is a suite. Its value is one module, or a package whose files are tasks, except those that begin with `_`. No
code of a package runs before one of its tasks is loaded.
"""

import sys
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from carrara.core.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "carrara"


class Offer(NamedTuple):
    """What a package offers."""

    suite: str
    files: tuple[Path, ...]
    modules: tuple[str, ...]
    """Of each file."""
    package: str
    """As it is installed, and can be removed."""


def offers() -> list[Offer]:
    return [_offer(entry) for entry in _entries(tuple(sys.path))]


@lru_cache(maxsize=1)
def _entries(path: tuple[str, ...]) -> "list[EntryPoint]":
    from importlib.metadata import entry_points  # `carrara --help` does without

    return sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))


def _offer(entry: "EntryPoint") -> Offer:
    package = entry.dist.name if entry.dist else entry.value
    found = _spec(entry.value)
    if found is None or (found.origin is None and not found.submodule_search_locations):
        raise UsageError(
            f"the package {package} offers tests in {entry.value}, which is no module: reinstall or remove it"
        )
    if found.submodule_search_locations is None:
        return Offer(entry.name, (Path(str(found.origin)),), (entry.value,), package)
    files = sorted(file for place in found.submodule_search_locations for file in Path(place).glob("[!_]*.py"))
    return Offer(entry.name, tuple(files), tuple(f"{entry.value}.{file.stem}" for file in files), package)


def _spec(module: str) -> ModuleSpec | None:
    """Where a module stands, without running the packages that it is in."""
    first, *others = module.split(".")
    found, name = find_spec(first), first
    for part in others:
        name = f"{name}.{part}"
        found = PathFinder.find_spec(name, found.submodule_search_locations) if found else None
    return found
