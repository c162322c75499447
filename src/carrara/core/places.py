"""Folders and files by name: on this machine, or on object storage as fsspec knows it (`s3://bucket/runs/m`)."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, cast

from carrara.core.errors import RunError, UsageError

ADDRESS = re.compile(r"[a-z][a-z0-9+]+://")
BROKEN = re.compile(r"([a-z][a-z0-9+]+):/")
"""What a Path makes of one, and one itself."""


def place(name: str | PathLike[str]) -> Path:
    """A path on this machine, or one that does the same elsewhere."""
    _check(name)
    if isinstance(name, Path) and (begun := BROKEN.match(str(name))):
        raise UsageError(f"a pathlib.Path cannot hold an address ({name}): give {begun[1]}://… as a text")
    if not ADDRESS.match(str(name)):
        return here(name)
    from upath import UPath

    try:
        # Others write there as well, Inspect among them: no list of what is there is kept.
        path: Any = UPath(str(name).rstrip("/"), use_listings_cache=False)
        path.fs  # noqa: B018  # the package that knows these addresses is imported now
    except (ImportError, ValueError) as error:
        raise UsageError(f"{name} cannot be reached from here: {_line(error)}") from None
    return cast(Path, path)


def here(name: str | PathLike[str]) -> Path:
    """A path on this machine: an address is none, and no folder is made that is called like one."""
    _check(name)
    if BROKEN.match(str(name)):
        raise UsageError(f"{name} is an address: this has to be on this machine, so give a path")
    return Path(name)


def _check(name: object) -> None:
    if not isinstance(name, str | PathLike):
        raise UsageError(f"{name!r} is not a file or folder: give its path as a text")


def elsewhere(path: Path) -> bool:
    """Whether it is an address."""
    return not isinstance(path, Path)


def make(folder: Path) -> None:
    """A folder. Object storage has none, and needs none."""
    if not elsewhere(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def storage(place: object = "") -> Iterator[None]:
    """What object storage has to say, as a sentence."""
    try:
        yield
    except (RunError, UsageError):
        raise
    except Exception as error:
        if not any(_theirs(one) for one in (error, error.__cause__) if one and not getattr(one, "filename", None)):
            raise
        raise RunError(f"object storage failed{place and f' at {place}'}: {_line(error)}") from None


def _theirs(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] in ("botocore", "aiobotocore", "s3fs", "fsspec", "aiohttp")


def _line(error: BaseException) -> str:
    said = getattr(error, "strerror", None) or str(error)
    return said.strip().partition("\n")[0] or type(error).__name__


def cache_folder(kind: str) -> Path:
    """Return a folder of the cache, which is at `CARRARA_CACHE` or else `~/.cache/carrara`, and make it if need be."""
    path = Path(os.environ.get("CARRARA_CACHE") or "~/.cache/carrara").expanduser() / kind
    path.mkdir(parents=True, exist_ok=True)
    return path
