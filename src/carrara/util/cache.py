"""Caches: results in memory up to a total weight, and files and folders on this machine's disk.

A file or folder of the disk cache is complete or missing. It is written under a temporary name and then renamed, so
that a kill leaves nothing half-written. If two processes make the same thing at once, each makes a complete one, and
one of them stays.
"""

import os
import shutil
import socket
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import IO, Generic, ParamSpec, TypeVar
from uuid import uuid4

Args = ParamSpec("Args")
Result = TypeVar("Result")

_PARTIAL = ".partial-"


class WeightedCache(Generic[Args, Result]):
    """Cache the latest results of a function, up to a total weight. The last result is kept, whatever its weight.

    >>> squares = WeightedCache(lambda n: print("computed") or n * n, weigh=lambda n: n, limit=5)
    >>> squares(2), squares(3), squares(2)
    computed
    computed
    (4, 9, 4)
    >>> squares(1), squares(3)
    computed
    computed
    (1, 9)
    """

    def __init__(self, function: Callable[Args, Result], weigh: Callable[Args, int], limit: int) -> None:
        self._function, self._weigh, self._limit = function, weigh, limit
        self._results: OrderedDict[Hashable, tuple[Result, int]] = OrderedDict()
        self._weight = 0
        self._lock = RLock()

    def __call__(self, *args: Args.args, **kwargs: Args.kwargs) -> Result:
        key = (args, *kwargs.items())
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return self._results[key][0]
        result, weight = self._function(*args, **kwargs), self._weigh(*args, **kwargs)
        with self._lock:
            self._weight += weight - self._results.pop(key, (result, 0))[1]
            self._results[key] = result, weight
            while self._weight > self._limit and len(self._results) > 1:
                self._weight -= self._results.popitem(last=False)[1][1]
        return result

    def cache_clear(self) -> None:
        """Forget all results, like `cache_clear` of `functools.cache`."""
        with self._lock:
            self._results.clear()
            self._weight = 0


def cache_location() -> str:
    """Return the folder that the environment names for the disk cache, or nothing."""
    return os.environ.get("CARRARA_CACHE", "")


def cache_folder(kind: str) -> Path:
    """Return a folder of the disk cache, which is created if necessary.

    The cache is at `CARRARA_CACHE`, or else at `~/.cache/carrara`.
    """
    path = Path(cache_location() or "~/.cache/carrara").expanduser() / kind
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextmanager
def cache_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file of the disk cache. It appears complete, when it is closed."""
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
    """Make a temporary folder, which `settle` renames. Anything still there at the end is removed."""
    path = _partial(parent)
    path.mkdir()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def settle(partial: Path, path: Path) -> None:
    """Give a finished folder its name. If another process was faster, its folder stays, because it is the same."""
    for file in partial.iterdir():
        with file.open("rb") as written:
            os.fsync(written.fileno())
    try:
        os.rename(partial, path)
    except OSError:
        if not path.is_dir():
            raise


def _partial(parent: Path) -> Path:
    """Return a path for something unfinished. Files of killed processes are removed first."""
    for partial_path in parent.glob(f"{_PARTIAL}*"):
        if _is_abandoned(partial_path.name):
            partial_path.unlink() if partial_path.is_file() else shutil.rmtree(partial_path, ignore_errors=True)
    return parent / f"{_PARTIAL}{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"


def _is_abandoned(name: str) -> bool:
    """Return whether a partial folder belongs to a process of this machine that has ended."""
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
