"""Tests are found by being there: `tasks/SUITE/NAME.py` with a `task` in it is the test `SUITE/NAME`.

Folders named in the environment variable CARRARA_TASKS (separated like PATH) are suites too, each under its own name,
so that a test of one's own is one file anywhere; so are the packages that offer tests (`plugins.py`). Neither is ever
called like an official suite: its tests would stand in their place, or be run wherever the suite is, and published
grids among it.
"""

import importlib
import os
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from carrara import own, plugins
from carrara.core.errors import UsageError, nearest
from carrara.core.natsort import natural
from carrara.plugin_errors import checked
from carrara.task import Task

_TASKS = Path(__file__).parent / "tasks"
_SAID = ("version", "title", "capability", "answer")
"""What a task has to say of itself."""


def _own_folders() -> list[Path]:
    own = [Path(folder) for folder in os.environ.get("CARRARA_TASKS", "").split(os.pathsep) if folder]
    for folder in own:
        if not folder.is_dir():
            raise UsageError(f"CARRARA_TASKS names {folder}, which is not a folder; correct it or unset it")
    return own


def _tests(folder: Path) -> dict[str, Path]:
    suite = folder.resolve().name
    files = sorted(folder.glob("*.py"), key=lambda file: natural(file.stem))
    return {f"{suite}/{file.stem}": file for file in files if not file.stem.startswith("_")}


def _official() -> dict[str, Path]:
    suites = sorted(folder for folder in _TASKS.iterdir() if folder.is_dir())
    return {name: file for suite in suites for name, file in _tests(suite).items()}


def _files() -> dict[str, Path]:
    files = _official()
    official = {name.split("/")[0] for name in files}
    for offer in plugins.offers():
        if offer.suite in official:
            raise UsageError(
                f"the package {offer.package} calls its suite {offer.suite}, as an official one is called: remove it, "
                f"or have its entry point renamed"
            )
        for file in offer.files:
            name = f"{offer.suite}/{file.stem}"
            if name in files:
                raise UsageError(f"{file} and {files[name]} are both the test {name}: remove one of their packages")
            files[name] = file
    for folder in _own_folders():
        for name, file in _tests(folder).items():
            other = files.setdefault(name, file)
            if other.resolve() != file.resolve():
                raise UsageError(f"{file} and {other} are both the test {name}: rename the former, or its folder")
            suite = name.split("/")[0]
            if other is file and suite in official:
                raise UsageError(f"{file} would be part of the suite {suite} in {_TASKS / suite}: rename its folder")
    return files


def names() -> list[str]:
    """All tests, by name."""
    return list(_files())


def select(selection: str) -> list[str]:
    """The tests that a selection names: full names, short names, suites, patterns or `all`, separated by commas.

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
        ]
        if not word or not found:
            options = [*known, *(name.split("/")[1] for name in known), *(name.split("/")[0] for name in known)]
            raise UsageError(f"no task is called {word!r}{nearest(word, options)}; `carrara tasks` lists them all")
        chosen |= dict.fromkeys(found)
    return list(chosen)


def is_official(name: str) -> bool:
    """Return whether a task is one of the package's own."""
    return name in _official()


def load(name: str) -> Task:
    """The test of this name. Published items are tests too, which no list names: they need their files."""
    return _loaded(name, os.environ.get("CARRARA_TASKS", ""))


@lru_cache(maxsize=1024)
def _loaded(name: str, folders: str) -> Task:
    """Kept for as long as the environment names the same folders."""
    if name.startswith("published/babilong-"):
        from carrara.tasks.babilong import _published_items as babilong

        return babilong.load(name)()
    if name.startswith("published/mrcr-"):
        from carrara.tasks.michelangelo import _mrcr_given as mrcr

        return mrcr.load(name)()
    if name.startswith("published/minerva-"):
        from carrara.tasks.minerva import _snapshot as minerva

        return minerva.load(name)()
    file = _files().get(name)
    if file is None:
        raise UsageError(f"no task is called {name!r}{nearest(name, names())}; `carrara tasks` lists them all")
    return _task_of(_module(name, file), file)


def _task_of(module: ModuleType, file: Path) -> Task:
    """Return the one task of a file, with its default parameters."""
    own = [one for one in vars(module).values() if _is_task(one) and one.__module__ == module.__name__]
    if len(own) != 1:
        raise UsageError(
            f"{file} has {'several tasks' if own else 'no task'}: a file has one class that is a carrara.Task; see "
            f"docs/new-task.md"
        )
    if file.is_relative_to(_TASKS):
        return own[0]()  # type: ignore[no-any-return]
    missing = [name for name in _SAID if not hasattr(own[0], name)]
    if missing or not hasattr(own[0], "wording"):
        unsaid = ", ".join(missing or ["ask"])
        raise UsageError(f"{file} is no whole task: {own[0].__name__} does not say its {unsaid}; see docs/new-task.md")
    try:
        return checked(own[0], file)()
    except (TypeError, ValueError) as error:
        raise UsageError(f"{file} is no whole task: {error}; see docs/new-task.md") from None


def _is_task(one: object) -> bool:
    return isinstance(one, type) and issubclass(one, Task) and one is not Task


def _module(name: str, file: Path) -> ModuleType:
    if file.is_relative_to(_TASKS):
        return importlib.import_module(f"carrara.tasks.{name.replace('/', '.')}")
    for offer in plugins.offers():
        if file in offer.files:
            return plugins.module(offer, file)
    return own.module(file)
