"""Import official tasks, and find the one task in a module."""

import importlib
from pathlib import Path
from types import ModuleType
from typing import TypeGuard

from carrara.core.errors import UsageError
from carrara.task import Task


def load_official(name: str, file: Path) -> Task:
    """Return an official task."""
    return task_in(importlib.import_module(f"carrara.tasks.{name.replace('/', '.')}"), file)()


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


def task_in(module: ModuleType, file: Path) -> type[Task]:
    """Return the one task that a module defines."""
    found = [kind for kind in vars(module).values() if _is_task(kind) and kind.__module__ == module.__name__]
    if len(found) != 1:
        raise UsageError(
            f"{file} has {'several tasks' if found else 'no task'}: a file has one class that is a carrara.Task; see "
            f"docs/new-task.md"
        )
    return found[0]


def _is_task(one: object) -> TypeGuard[type[Task]]:
    return isinstance(one, type) and issubclass(one, Task) and one is not Task
