"""Folders of one's own as packages, so that a test may import what stands beside it: `from ._help import sentences`.

A folder becomes the package `carrara_tasks.FOLDER`; nothing is put on `sys.path`. A folder's name need not be one of
Python's, and two folders may be called the same: the second package has a hash of its place behind its name.
"""

import importlib
import re
import sys
from hashlib import blake2b
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from carrara.core.errors import UsageError
from carrara.plugin_errors import not_loaded

_ALL = "carrara_tasks"


def module(file: Path) -> ModuleType:
    """The module of a test file in a folder of one's own."""
    if "." in file.stem:
        raise UsageError(f"{file} cannot be loaded: Python takes a dot for a folder; rename it, without that dot")
    try:
        return importlib.import_module(f"{_package(file.parent.resolve())}.{file.stem}")
    except (Exception, SystemExit) as error:
        raise not_loaded(file, error) from error


def _package(folder: Path) -> str:
    """The package of a folder, made when it is first asked for."""
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
    """A package with this folder's files, after its `__init__.py` if it has one."""
    importlib.invalidate_caches()  # the folder may be younger than the last look at what stands beside it
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
