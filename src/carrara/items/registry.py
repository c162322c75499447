"""Tasks by name. A file `tasks/SUITE/NAME.py` with a task in it is the task `SUITE/NAME`.

Folders named in the environment variable CARRARA_TASKS (separated like PATH) are suites too, each under its own name:
a task of one's own is one file anywhere. So are the packages that offer tasks by an entry point:

    [project.entry-points.carrara]
    harbours = "harbour_tasks"    # the suite `harbours`

The value of an entry point is one module, or a package whose files are tasks, except those that begin with `_`. No code
of a package runs before one of its tasks is loaded.

Neither a folder nor a package may have the name of an official suite, because its tasks would replace official ones, or
join them in published grids. Listing and selecting tasks reads names of files. A task is imported when it is loaded.
A folder becomes the package `carrara_tasks.FOLDER`, so that a task may import from files beside it: `from ._help import
sentences`. Nothing is added to `sys.path`. A folder's name need not be a valid Python name. If two folders have one
name, the second package has a hash of its path after its name.
"""

import importlib
import os
import re
import sys
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from hashlib import blake2b
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from carrara.items.plugin_errors import guard_methods, not_loaded
from carrara.task import Task
from carrara.task.suite import SuiteTask
from carrara.util.errors import UsageError, nearest
from carrara.util.quantities import natural

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from carrara.task.suite import SuiteTask


_ALL = "carrara_tasks"
_GUIDE = "docs/guides/write-a-task.md"
_REQUIRED = ("version", "title", "capability", "answer")
"""The attributes that a task of a plugin must set."""


def load_official(name: str, file: Path) -> SuiteTask:
    """Return an official task."""
    task = _task_in(importlib.import_module(f"carrara.tasks.{name.replace('/', '.')}"), file)()
    assert isinstance(task, SuiteTask)
    return task


def load_published(name: str) -> SuiteTask | None:
    """Return a task of published items or questions. None if the name is not one of them."""
    if name.startswith("published/babilong-"):
        from carrara.tasks.babilong import _published_items as babilong

        return babilong.load(name)()
    if name.startswith("published/graphwalks-"):
        from carrara.tasks import published_graphwalks

        return published_graphwalks.load(name)()
    if name.startswith("published/longbench-"):
        from carrara.tasks import published_longbench2

        return published_longbench2.load(name)()
    if name.startswith("published/mrcr-"):
        from carrara.tasks import published_mrcr

        return published_mrcr.load(name)()
    if name.startswith("published/minerva-"):
        from carrara.tasks.minerva import _snapshot as minerva

        return minerva.load(name)()
    if name.startswith("published/nolima"):
        from carrara.tasks import published_nolima

        return published_nolima.load(name)()
    if name.startswith("published/oolong-"):
        from carrara.tasks import published_oolong

        return published_oolong.load(name)()
    if name.startswith("published/ruler-"):
        from carrara.tasks.classic import _ruler_items as ruler

        return ruler.load(name)()
    if name.startswith("classic/qa_"):
        from carrara.tasks.classic import _qa as qa

        return qa.TASKS[name]() if name in qa.TASKS else None
    return None


def load_plugin(file: Path, module: str = "", package: str = "") -> SuiteTask:
    """Return a task of a package or of a user's folder, whose errors name its file."""
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
    kinds = [kind for kind in vars(module).values() if _is_task(kind) and kind.__module__ == module.__name__]
    if len(kinds) != 1:
        raise UsageError(
            f"{file} has {'several tasks' if kinds else 'no task'}: a file has one class that is a carrara.Task; see "
            f"{_GUIDE}"
        )
    return kinds[0]


def _is_task(value: object) -> TypeGuard[type[Task]]:
    return isinstance(value, type) and issubclass(value, Task) and value not in (Task, SuiteTask)


def _package_module(name: str, package: str, file: Path) -> ModuleType:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise not_loaded(file, error, f"{name} of the package {package}") from error


def _own_module(file: Path) -> ModuleType:
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
        loaded = sys.modules.get(name)
        if loaded is None:
            _make(name, folder)
        if loaded is None or list(loaded.__path__) == [str(folder)]:
            return name
    raise AssertionError("two folders with one hash")


def _make(name: str, folder: Path) -> None:
    """Make a package of a folder's files, and run its `__init__.py` if it has one."""
    importlib.invalidate_caches()  # the folder may be newer than Python's cache of its parent
    init_file = folder / "__init__.py"
    spec = _without_file(name, [str(folder)])
    if init_file.is_file():
        file_spec = spec_from_file_location(name, init_file, submodule_search_locations=[str(folder)])
        assert file_spec is not None
        spec = file_spec
    module = sys.modules[name] = module_from_spec(spec)
    if spec.loader is not None:
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise


def _without_file(name: str, places: list[str]) -> ModuleSpec:
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = places
    return spec


FROM_FILES = ("classic/qa_1", "classic/qa_2")
"""Official tasks whose instances come from files that users download. Only their own names select them."""
BY_NAME = (
    *FROM_FILES,
    *("published/graphwalks-bfs", "published/graphwalks-parents", "published/longbench-v2"),
    *(f"published/nolima{variant}" for variant in ("", "-choice", "-cot", "-direct", "-hard")),
    *("published/oolong-real", "published/oolong-synth"),
)
"""All tasks that only their own names select, because they need files."""
_GROUP = "carrara"
"""The group of entry points by which packages offer tasks."""
_TASKS = Path(__file__).parents[1] / "tasks"


class _Offer(NamedTuple):
    """The tasks that a package offers."""

    suite: str
    files: tuple[Path, ...]
    modules: tuple[str, ...]
    """The module of each file."""
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
        matching = [
            name
            for name in known
            for suite, short in [name.split("/")]
            if word == suite or fnmatchcase(name, pattern) or fnmatchcase(short, pattern)
        ] or [name for name in BY_NAME if word in (name, name.split("/")[1])]
        if not word or not matching:
            options = [*known, *(name.split("/")[1] for name in known), *(name.split("/")[0] for name in known)]
            raise UsageError(f"no task is called {word!r}{nearest(word, options)}; `carrara tasks` lists them all")
        chosen |= dict.fromkeys(matching)
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
    folders = [Path(folder) for folder in os.environ.get("CARRARA_TASKS", "").split(os.pathsep) if folder]
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"CARRARA_TASKS names {folder}, which is not a folder; correct it or unset it")
    return folders


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
            first_file = files.setdefault(name, file)
            if first_file.resolve() != file.resolve():
                raise UsageError(f"{file} and {first_file} are both the task {name}: rename the former, or its folder")
            suite = name.split("/")[0]
            if first_file is file and suite in official:
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
    location = _spec(entry.value)
    if location is None or (location.origin is None and not location.submodule_search_locations):
        raise UsageError(
            f"the package {package} offers tasks in {entry.value}, which is no module: reinstall or remove it"
        )
    if location.submodule_search_locations is None:
        return _Offer(entry.name, (Path(str(location.origin)),), (entry.value,), package)
    files = sorted(file for place in location.submodule_search_locations for file in Path(place).glob("[!_]*.py"))
    return _Offer(entry.name, tuple(files), tuple(f"{entry.value}.{file.stem}" for file in files), package)


def _spec(module: str) -> ModuleSpec | None:
    """Return the location of a module, without importing the packages that contain it."""
    first, *others = module.split(".")
    location, name = find_spec(first), first
    for part in others:
        name = f"{name}.{part}"
        location = PathFinder.find_spec(name, location.submodule_search_locations) if location else None
    return location
