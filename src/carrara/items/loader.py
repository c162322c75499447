"""Import tasks: official ones, published items, those of other packages, and those in the user's folders.

A folder becomes the package `carrara_tasks.FOLDER`, so that a task may import from files beside it: `from ._help import
sentences`. Nothing is added to `sys.path`. A folder's name need not be a valid Python name. If two folders have one
name, the second package has a hash of its path after its name.
"""

import importlib
import re
import sys
from hashlib import blake2b
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TypeGuard

from carrara.items.plugin_errors import guard_methods, not_loaded
from carrara.task import Task
from carrara.task.suite import SuiteTask
from carrara.util.errors import UsageError

_ALL = "carrara_tasks"
_GUIDE = "docs/guides/write-a-task.md"
_REQUIRED = ("version", "title", "capability", "answer")
"""The attributes that a task of a plugin must set."""


def load_official(name: str, file: Path) -> SuiteTask:
    """Return an official task."""
    made = _task_in(importlib.import_module(f"carrara.tasks.{name.replace('/', '.')}"), file)()
    assert isinstance(made, SuiteTask)
    return made


def load_published(name: str) -> SuiteTask | None:
    """Return a task of published items or questions. None if the name is not one of them."""
    if name.startswith("published/babilong-"):
        from carrara.tasks.babilong import _published_items as babilong

        return babilong.load(name)()
    if name.startswith("published/mrcr-"):
        from carrara.tasks.michelangelo import _mrcr_given as mrcr

        return mrcr.load(name)()
    if name.startswith("published/minerva-"):
        from carrara.tasks.minerva import _snapshot as minerva

        return minerva.load(name)()
    if name.startswith("published/ruler-"):
        from carrara.tasks.classic import _ruler_items as ruler

        return ruler.load(name)()
    if name.startswith("classic/qa_"):
        from carrara.tasks.classic import _qa as qa

        return qa.TASKS[name]() if name in qa.TASKS else None
    return None


def load_plugin(file: Path, module: str = "", package: str = "") -> SuiteTask:
    """Return a task of a package or of a user's folder, whose errors name its file.

    Args:
        file: The file of the task.
        module: The module that the file is, if it is part of an installed package.
        package: The name of that package, as it is installed.
    """
    kind = _task_in(_package_module(module, package, file) if module else _own_module(file), file)
    missing = [name for name in _REQUIRED if not hasattr(kind, name)]
    if missing or not hasattr(kind, "wording"):
        names = ", ".join(missing or ["ask"])
        raise UsageError(f"{file} is not a complete task: {kind.__name__} does not set {names}; see {_GUIDE}")
    try:
        return guard_methods(kind, file)()
    except (TypeError, ValueError) as error:
        raise UsageError(f"{file} is not a complete task: {error}; see {_GUIDE}") from None


def _task_in(module: ModuleType, file: Path) -> type[Task]:
    """Return the one task that a module defines."""
    found = [kind for kind in vars(module).values() if _is_task(kind) and kind.__module__ == module.__name__]
    if len(found) != 1:
        raise UsageError(
            f"{file} has {'several tasks' if found else 'no task'}: a file has one class that is a carrara.Task; see "
            f"{_GUIDE}"
        )
    return found[0]


def _is_task(one: object) -> TypeGuard[type[Task]]:
    return isinstance(one, type) and issubclass(one, Task) and one not in (Task, SuiteTask)


def _package_module(name: str, package: str, file: Path) -> ModuleType:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise not_loaded(file, error, f"{name} of the package {package}") from error


def _own_module(file: Path) -> ModuleType:
    """Return the module of a task in a user's folder."""
    if "." in file.stem:
        raise UsageError(f"{file} cannot be loaded: Python takes a dot for a folder; rename it, without that dot")
    try:
        return importlib.import_module(f"{_package(file.parent.resolve())}.{file.stem}")
    except (Exception, SystemExit) as error:
        raise not_loaded(file, error) from error


def _package(folder: Path) -> str:
    """Return the package of a folder, which is made at the first request."""
    if _ALL not in sys.modules:
        sys.modules[_ALL] = module_from_spec(_without_file(_ALL, []))
    plain = f"{_ALL}.{re.sub(r'[^A-Za-z0-9_]', '_', folder.name)}"
    for name in (plain, f"{plain}_{blake2b(bytes(folder), digest_size=4).hexdigest()}"):
        there = sys.modules.get(name)
        if there is None:
            _make(name, folder)
        if there is None or list(there.__path__) == [str(folder)]:
            return name
    raise AssertionError("two folders with one hash")


def _make(name: str, folder: Path) -> None:
    """Return a package with this folder's files, after its `__init__.py` if it has one."""
    importlib.invalidate_caches()  # the folder may be newer than Python's cache of its parent
    own = folder / "__init__.py"
    spec = _without_file(name, [str(folder)])
    if own.is_file():
        found = spec_from_file_location(name, own, submodule_search_locations=[str(folder)])
        assert found is not None
        spec = found
    made = sys.modules[name] = module_from_spec(spec)
    if spec.loader is not None:
        try:
            spec.loader.exec_module(made)
        except BaseException:
            del sys.modules[name]
            raise


def _without_file(name: str, places: list[str]) -> ModuleSpec:
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = places
    return spec
