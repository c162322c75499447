"""Tasks by name. A file `tasks/SUITE/NAME.py` with a task in it is the task `SUITE/NAME`.

Folders named in the environment variable CARRARA_TASKS (separated like PATH) are suites too, each under its own name:
a task of one's own is one file anywhere. So are the packages that offer tasks by an entry point:

    [project.entry-points.carrara]
    harbours = "harbour_tasks"    # the suite `harbours`

The value of an entry point is one module, or a package whose files are tasks, except those that begin with `_`. No code
of a package runs before one of its tasks is loaded.

Neither a folder nor a package may have the name of an official suite, because its tasks would replace official ones, or
join them in published grids. Listing and selecting tasks reads names of files. A task is imported when it is loaded
(`loader.py`).
"""

import os
import sys
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from carrara.util.errors import UsageError, nearest
from carrara.util.natsort import natural

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from carrara.task.suite import SuiteTask

FROM_FILES = ("classic/qa_1", "classic/qa_2")
"""Official tasks whose instances come from files that users download. Only their own names select them."""
_GROUP = "carrara"
"""The group of entry points by which packages offer tasks."""
_TASKS = Path(__file__).parents[1] / "tasks"


class _Offer(NamedTuple):
    """The tasks that a package offers."""

    suite: str
    files: tuple[Path, ...]
    modules: tuple[str, ...]
    """The names of the tasks, with the file of each."""
    package: str
    """The name of the package, as it was installed and can be removed."""


def names() -> list[str]:
    """Return the names of all tasks."""
    return list(_files())


def select(selection: str) -> list[str]:
    """Return the tasks that a selection names.

    Args:
        selection: Full names, short names, suites, patterns or `all`, separated by commas.

    >>> select("latent_list")
    ['michelangelo/latent_list']
    >>> select("qa2*")
    ['babilong/qa2', 'babilong/qa20']
    """
    if not isinstance(selection, str):
        raise UsageError(f"{selection!r} does not name tasks: give a text, such as 'qa1' or 'minerva,latent_list'")
    known = names()
    chosen: dict[str, None] = {}
    for word in (word.strip() for word in selection.split(",")):
        pattern = "*" if word == "all" else word
        found = [
            name
            for name in known
            for suite, short in [name.split("/")]
            if word == suite or fnmatchcase(name, pattern) or fnmatchcase(short, pattern)
        ] or [name for name in FROM_FILES if word in (name, name.split("/")[1])]
        if not word or not found:
            options = [*known, *(name.split("/")[1] for name in known), *(name.split("/")[0] for name in known)]
            raise UsageError(f"no task is called {word!r}{nearest(word, options)}; `carrara tasks` lists them all")
        chosen |= dict.fromkeys(found)
    return list(chosen)


def is_official(name: str) -> bool:
    """Return whether a task is one of the package's own."""
    return name in _official()


def load(name: str) -> "SuiteTask":
    """Return the task of a name, with its default parameters.

    Published items are tasks too. No list names them, because they need their files.
    """
    return _load_cached(name, os.environ.get("CARRARA_TASKS", ""))


@lru_cache(maxsize=1024)
def _load_cached(name: str, folders: str) -> "SuiteTask":
    """Return a task, which is cached as long as the environment names the same folders."""
    from carrara.items.loader import (  # names do without what tasks are made of
        load_official,
        load_plugin,
        load_published,
    )

    if published := load_published(name):
        return published
    file = _files().get(name)
    if file is None:
        raise UsageError(f"no task is called {name!r}{nearest(name, names())}; `carrara tasks` lists them all")
    if name in _official():
        return load_official(name, file)
    for offer in _offers():
        if file in offer.files:
            return load_plugin(file, offer.modules[offer.files.index(file)], offer.package)
    return load_plugin(file)


def _own_folders() -> list[Path]:
    own = [Path(folder) for folder in os.environ.get("CARRARA_TASKS", "").split(os.pathsep) if folder]
    for folder in own:
        if not folder.is_dir():
            raise UsageError(f"CARRARA_TASKS names {folder}, which is not a folder; correct it or unset it")
    return own


def _tasks_in(folder: Path) -> dict[str, Path]:
    suite = folder.resolve().name
    files = sorted(folder.glob("*.py"), key=lambda file: natural(file.stem))
    return {f"{suite}/{file.stem}": file for file in files if not file.stem.startswith("_")}


@cache
def _official() -> dict[str, Path]:
    """Return the files of official tasks. They do not change while Python runs, so they are looked up once."""
    suites = sorted(folder for folder in _TASKS.iterdir() if folder.is_dir())
    return {name: file for suite in suites for name, file in _tasks_in(suite).items()}


def _files() -> dict[str, Path]:
    files = dict(_official())
    official = {name.split("/")[0] for name in files}
    for offer in _offers():
        if offer.suite in official:
            raise UsageError(
                f"the package {offer.package} calls its suite {offer.suite}, as an official one is called: remove it, "
                f"or have its entry point renamed"
            )
        for file in offer.files:
            name = f"{offer.suite}/{file.stem}"
            if name in files:
                raise UsageError(f"{file} and {files[name]} are both the task {name}: remove one of their packages")
            files[name] = file
    for folder in _own_folders():
        for name, file in _tasks_in(folder).items():
            other = files.setdefault(name, file)
            if other.resolve() != file.resolve():
                raise UsageError(f"{file} and {other} are both the task {name}: rename the former, or its folder")
            suite = name.split("/")[0]
            if other is file and suite in official:
                raise UsageError(f"{file} would be part of the suite {suite} in {_TASKS / suite}: rename its folder")
    return files


def _offers() -> list[_Offer]:
    return [_offer(entry) for entry in _entries(tuple(sys.path))]


@lru_cache(maxsize=1)
def _entries(path: tuple[str, ...]) -> "list[EntryPoint]":
    from importlib.metadata import entry_points  # `carrara --help` does not need this

    return sorted(entry_points(group=_GROUP), key=lambda entry: (entry.name, entry.value))


def _offer(entry: "EntryPoint") -> _Offer:
    package = entry.dist.name if entry.dist else entry.value
    found = _spec(entry.value)
    if found is None or (found.origin is None and not found.submodule_search_locations):
        raise UsageError(
            f"the package {package} offers tasks in {entry.value}, which is no module: reinstall or remove it"
        )
    if found.submodule_search_locations is None:
        return _Offer(entry.name, (Path(str(found.origin)),), (entry.value,), package)
    files = sorted(file for place in found.submodule_search_locations for file in Path(place).glob("[!_]*.py"))
    return _Offer(entry.name, tuple(files), tuple(f"{entry.value}.{file.stem}" for file in files), package)


def _spec(module: str) -> ModuleSpec | None:
    """Return the location of a module, without importing the packages that contain it."""
    first, *others = module.split(".")
    found, name = find_spec(first), first
    for part in others:
        name = f"{name}.{part}"
        found = PathFinder.find_spec(name, found.submodule_search_locations) if found else None
    return found
