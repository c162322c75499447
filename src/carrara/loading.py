"""Import a task's module, and find the one task in it."""

import importlib
from pathlib import Path
from types import ModuleType
from typing import TypeGuard

from carrara import own, plugins
from carrara.core.errors import UsageError
from carrara.plugin_errors import checked, not_loaded
from carrara.task import Task

_REQUIRED = ("version", "title", "capability", "answer")
"""The attributes that a task of a plugin must set."""


def load_official(name: str, file: Path) -> Task:
    """Return an official task."""
    return _task_in(importlib.import_module(f"carrara.tasks.{name.replace('/', '.')}"), file)()


def load_plugin(file: Path) -> Task:
    """Return a task of a package or a folder of one's own, whose errors name its file."""
    kind = _task_in(_module(file), file)
    missing = [name for name in _REQUIRED if not hasattr(kind, name)]
    if missing or not hasattr(kind, "wording"):
        unsaid = ", ".join(missing or ["ask"])
        raise UsageError(f"{file} is no whole task: {kind.__name__} does not say its {unsaid}; see docs/new-task.md")
    try:
        return checked(kind, file)()
    except (TypeError, ValueError) as error:
        raise UsageError(f"{file} is no whole task: {error}; see docs/new-task.md") from None


def load_published(name: str) -> Task | None:
    """Return a task of published items; None if the name is not one's."""
    if name.startswith("published/babilong-"):
        from carrara.tasks.babilong import _published_items as babilong

        return babilong.load(name)()
    if name.startswith("published/mrcr-"):
        from carrara.tasks.michelangelo import _mrcr_given as mrcr

        return mrcr.load(name)()
    if name.startswith("published/minerva-"):
        from carrara.tasks.minerva import _snapshot as minerva

        return minerva.load(name)()
    return None


def _task_in(module: ModuleType, file: Path) -> type[Task]:
    found = [kind for kind in vars(module).values() if _is_task(kind) and kind.__module__ == module.__name__]
    if len(found) != 1:
        raise UsageError(
            f"{file} has {'several tasks' if found else 'no task'}: a file has one class that is a carrara.Task; see "
            f"docs/new-task.md"
        )
    return found[0]


def _is_task(one: object) -> TypeGuard[type[Task]]:
    return isinstance(one, type) and issubclass(one, Task) and one is not Task


def _module(file: Path) -> ModuleType:
    for offer in plugins.offers():
        if file in offer.files:
            return _plugin_module(offer, file)
    return own.module(file)


def _plugin_module(offer: plugins.Offer, file: Path) -> ModuleType:
    name = offer.modules[offer.files.index(file)]
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise not_loaded(file, error, f"{name} of the package {offer.package}") from error
