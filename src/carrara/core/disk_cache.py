"""The cache on this machine's disk. A file or folder in it is whole, or it is not there.

Everything is written beside its place and then renamed into it, so that a kill leaves nothing half. Of two processes
that make the same thing at once, each makes a whole one, and one of them stays.
"""

import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from uuid import uuid4

from carrara.core.paths import cache_folder

_PARTIAL = ".partial-"


def where() -> str:
    """What names the cache, where anything does."""
    return os.environ.get("CARRARA_CACHE", "")


def folder(kind: str) -> Path:
    """A folder of the cache."""
    return cache_folder(kind)


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears at once, with all that is written to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = _partial(path.parent)
    try:
        with partial.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def partial_folder(parent: Path) -> Iterator[Path]:
    """A new folder, to be renamed (settle); what is still there at the end is removed."""
    path = _partial(parent)
    path.mkdir()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def settle(partial: Path, path: Path) -> None:
    """Give a finished folder its name. Where another process was quicker its folder stays: it holds the same."""
    for file in partial.iterdir():
        with file.open("rb") as written:
            os.fsync(written.fileno())
    try:
        os.rename(partial, path)
    except OSError:
        if not path.is_dir():
            raise


def _partial(parent: Path) -> Path:
    """A place for something unfinished. What killed processes left there is removed first."""
    for left in parent.glob(f"{_PARTIAL}*"):
        if _abandoned(left.name):
            left.unlink() if left.is_file() else shutil.rmtree(left, ignore_errors=True)
    return parent / f"{_PARTIAL}{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"


def _abandoned(name: str) -> bool:
    """Whether a partial folder's process was on this machine and is gone."""
    host, _, process = name.removeprefix(_PARTIAL).rpartition("-")[0].rpartition("-")
    if host != socket.gethostname() or not process.isdigit():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
