"""Paths on this machine, or on object storage by fsspec (`s3://bucket/runs/m`)."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, cast

from carrara.core.errors import RunError, UsageError

URL = re.compile(r"[a-z][a-z0-9+]+://")
BROKEN_URL = re.compile(r"([a-z][a-z0-9+]+):/")
"""What a `pathlib.Path` makes of a URL. It matches URLs too."""


def to_path(name: str | PathLike[str]) -> Path:
    """Return a path on this machine, or for a URL a path on object storage with the same methods.

    What this function returned is returned as it is.
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
        # Other programs write there as well, Inspect among them: listings must not be cached.
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


def is_remote(path: Path) -> bool:
    """Return whether a path is on object storage."""
    return not isinstance(path, Path)


def create_folder(folder: Path) -> None:
    """Make a folder with its parents. Object storage has no folders, and needs none."""
    if not is_remote(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def storage_errors(place: object = "") -> Iterator[None]:
    """Turn the errors of object storage into RunErrors of one sentence.

    Args:
        place: The path for the sentence.
    """
    try:
        yield
    except (RunError, UsageError):
        raise
    except Exception as error:
        causes = [one for one in (error, error.__cause__) if one and not getattr(one, "filename", None)]
        if not any(map(_is_of_storage, causes)):
            raise
        raise RunError(f"object storage failed{place and f' at {place}'}: {_first_line(error)}") from None


def _is_of_storage(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] in ("botocore", "aiobotocore", "s3fs", "fsspec", "aiohttp")


def _first_line(error: BaseException) -> str:
    message = getattr(error, "strerror", None) or str(error)
    return message.strip().partition("\n")[0] or type(error).__name__


def cache_folder(kind: str) -> Path:
    """Return a folder of the cache, which is at `CARRARA_CACHE` or else `~/.cache/carrara`, and make it if need be."""
    path = Path(os.environ.get("CARRARA_CACHE") or "~/.cache/carrara").expanduser() / kind
    path.mkdir(parents=True, exist_ok=True)
    return path
