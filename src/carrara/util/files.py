"""Files and folders that users name, on this machine or on object storage by fsspec (`s3://bucket/runs/m`).

Only regular files are read, and only up to a limit, because a FIFO waits for its other end, and a device never ends.
The target of a path, with links followed, is checked before it is opened. It is checked again when it is open, because
it may have been replaced in between.
"""

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from carrara.util.errors import RunError, UsageError

URL = re.compile(r"[a-z][a-z0-9+]+://")
BROKEN_URL = re.compile(r"([a-z][a-z0-9+]+):/")
"""A pattern of what a `pathlib.Path` makes of a URL. It matches URLs too."""


def to_path(name: str | PathLike[str]) -> Path:
    """Return a path on this machine, or for a URL a path on object storage with the same methods.

    A path from this function is returned unchanged.
    """
    if hasattr(name, "protocol"):  # a UPath, which is slow to import
        return cast(Path, name)
    _check_type(name)
    if isinstance(name, Path) and (begins := BROKEN_URL.match(str(name))):
        raise UsageError(f"a pathlib.Path cannot hold an address ({name}): give {begins[1]}://… as a text")
    if not URL.match(str(name)):
        return local_path(name)
    from upath import UPath

    try:
        # Other programs, such as Inspect, write there as well, so listings must not be cached.
        path: Any = UPath(str(name).rstrip("/"), use_listings_cache=False)
        path.fs  # noqa: B018  # imports the package for this kind of storage
    except (ImportError, ValueError) as error:
        raise UsageError(f"{name} cannot be reached from here: {_first_line(error)}") from None
    return cast(Path, path)


def local_path(name: str | PathLike[str]) -> Path:
    """Return a path on this machine.

    Raises:
        UsageError: It is a URL. No folder is made that is called like one.
    """
    _check_type(name)
    if BROKEN_URL.match(str(name)):
        raise UsageError(f"{name} is an address: this has to be on this machine, so give a path")
    return Path(name)


def _check_type(name: object) -> None:
    if not isinstance(name, str | PathLike):
        raise UsageError(f"{name!r} is not a file or folder: give its path as a text")
    if "\0" in str(name):
        raise UsageError(f"{str(name)!r} names no file or folder: a path cannot hold a null character")


def is_remote(path: Path) -> bool:
    """Return whether a path is on object storage."""
    return not isinstance(path, Path)


def create_folder(folder: Path) -> None:
    """Make a folder with its parents. Object storage has no folders, and needs none."""
    if not is_remote(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def storage_errors(place: object = "") -> Iterator[None]:
    """Turn the errors of object storage into RunErrors of one sentence."""
    try:
        yield
    except (RunError, UsageError):
        raise
    except Exception as error:
        causes = [cause for cause in (error, error.__cause__) if cause and not getattr(cause, "filename", None)]
        if not any(map(_is_of_storage, causes)):
            raise
        raise RunError(f"object storage failed{place and f' at {place}'}: {_first_line(error)}") from None


def _is_of_storage(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] in ("botocore", "aiobotocore", "s3fs", "fsspec", "aiohttp")


def _first_line(error: BaseException) -> str:
    message = getattr(error, "strerror", None) or str(error)
    return message.strip().partition("\n")[0] or type(error).__name__


@dataclass(frozen=True)
class Limit:
    """The size that is read at once, and the remedy for larger files."""

    bytes: int
    mend: str

    def refusal(self, path: Path, size: int, what: str = "it") -> UsageError:
        return UsageError(
            f"{path} cannot be read: {what} has {_size(size)}, and at most {_size(self.bytes)} are read in one piece; "
            f"{self.mend}"
        )


TEXT = Limit(512 << 20, "part it into several files of one folder")
"""The limit of a document. Splitting it into sentences takes some thirteen times its size of memory (measured): 6.5 GB.
"""
LINE = Limit(512 << 20, "write a document a line")
DATA = Limit(8 << 30, "part it into several files")
"""The limit of rows in memory. A thousand of the longest published ones have a gigabyte."""
SMALL = Limit(64 << 20, "is it the file that is meant?")
"""The limit of files that users write: prompts, words, scores, item ids."""

_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def regular(path: Path, limit: Limit | None = None) -> os.stat_result:
    """Check a file before it is opened. Raise `UsageError` if it is not a regular file."""
    try:
        return _fit(path, path.stat(), limit)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def open_binary(path: Path, limit: Limit | None = None) -> BinaryIO:
    """Open a regular file for reading."""
    regular(path, limit)
    try:
        # Not blocking, in case it is a FIFO by now; files ignore the flag.
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        file = os.fdopen(number, "rb")
        try:
            _fit(path, os.fstat(number), limit)
        except BaseException:
            file.close()
            raise
        return file
    except OSError as error:
        raise _unreadable(path, error) from None


def content(path: Path, limit: Limit) -> bytes:
    """Return the content of a file, which may be longer than its size, as for those below /proc."""
    with open_binary(path, limit) as file:
        try:
            data = file.read(limit.bytes + 1)
        except OSError as error:
            raise _unreadable(path, error) from None
    if len(data) > limit.bytes:
        raise limit.refusal(path, len(data))
    return data


def lines(path: Path, limit: Limit = LINE) -> Iterator[bytes]:
    """Yield the lines of a file, which end only at line feeds. The file may have any size, its lines may not."""
    with open_binary(path) as file:
        number = 0
        while line := file.readline(limit.bytes + 1):
            number += 1
            if len(line) > limit.bytes:
                raise limit.refusal(path, len(line), f"its line {number}")
            yield line


def _fit(path: Path, status: os.stat_result, limit: Limit | None) -> os.stat_result:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "no file")
        raise UsageError(
            f"{path} cannot be read: it is {kind}, and only regular files are; write what it gives to a file, "
            "and name that"
        )
    if limit and status.st_size > limit.bytes:
        raise limit.refusal(path, status.st_size)
    return status


def _unreadable(path: Path, error: OSError | ValueError) -> UsageError:
    return UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}")


def _size(number: int) -> str:
    """
    >>> _size(64 << 20), _size(1_500_000_000), _size(1 << 40)
    ('67 MB', '1.5 GB', '1,099.5 GB')
    """
    return f"{number / 1e9:,.1f} GB" if number >= 1e9 else f"{number / 1e6:,.0f} MB"


@contextmanager
def whole_file(path: Path) -> Iterator[IO[str]]:
    """Open a text file that appears only when it is complete."""
    with atomic_path(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        yield file


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Return a temporary path for a file that appears only when it is complete.

    A full disk or a kill leaves no half of it.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder: give the name of a file")
    if is_remote(path):
        from shutil import copyfileobj  # `carrara --help` does not need these
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="carrara-") as temporary_folder:
            partial = Path(temporary_folder) / path.name
            yield partial
            with storage_errors(path), partial.open("rb") as written, path.open("wb") as sent:
                copyfileobj(written, sent, 1 << 24)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield partial
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        partial.replace(path)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename in (None, str(partial)):
            error.filename = str(path)
        partial.unlink(missing_ok=True)
        raise
