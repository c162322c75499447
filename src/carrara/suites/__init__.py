"""Tests are found by being there: `suites/SUITE/NAME.py` with a `task` in it is the test `SUITE/NAME`.

Folders named in the environment variable CARRARA_TASKS (separated like PATH) are suites too, each under its own name,
so that a test of one's own is one file anywhere.
"""

import importlib
import importlib.util
import os
import sys
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import ModuleType

from carrara.errors import UsageError, nearest
from carrara.order import natural
from carrara.types import AnyTask, Task

_HERE = Path(__file__).parent


def _folders() -> list[Path]:
    own = [Path(folder) for folder in os.environ.get("CARRARA_TASKS", "").split(os.pathsep) if folder]
    for folder in own:
        if not folder.is_dir():
            raise UsageError(f"CARRARA_TASKS names {folder}, which is not a folder; correct it or unset it")
    return [folder for folder in sorted(_HERE.iterdir()) if folder.is_dir()] + own


def _files() -> dict[str, Path]:
    return {
        f"{folder.resolve().name}/{file.stem}": file
        for folder in _folders()
        for file in sorted(folder.glob("*.py"), key=lambda file: natural(file.stem))
        if not file.stem.startswith("_")
    }


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
            raise UsageError(f"no test is called {word!r}{nearest(word, options)}; `carrara tasks` lists them all")
        chosen |= dict.fromkeys(found)
    return list(chosen)


@cache
def load(name: str) -> AnyTask:
    """The test of this name. Published items are tests too, which no list names: they need their files."""
    if name.startswith("published/babilong-"):
        from carrara.published import babilong

        return babilong.load(name)
    if name.startswith("published/mrcr-"):
        from carrara.published import mrcr

        return mrcr.load(name)
    file = _files().get(name)
    if file is None:
        raise UsageError(f"no test is called {name!r}{nearest(name, names())}; `carrara tasks` lists them all")
    task = getattr(_module(name, file), "task", None)
    if not isinstance(task, Task):
        raise UsageError(f"{file} has no `task`: end it with `task = YourTask()`, see docs/new-task.md")
    return task


def _module(name: str, file: Path) -> ModuleType:
    if file.is_relative_to(_HERE):
        return importlib.import_module(f"carrara.suites.{name.replace('/', '.')}")
    spec = importlib.util.spec_from_file_location(f"carrara_tasks.{name.replace('/', '.')}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(f"{file} cannot be loaded: {type(error).__name__}: {error}") from error
    return module
