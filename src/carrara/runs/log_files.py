"""Read Inspect's log files, which may come from somebody else, within limits and without Inspect's own reader.

A log is a zip archive with one member for each sample. Inspect writes it whole and moves it into place at each flush.
So the log of a run that was killed can be read too, up to its last flush. Inspect's reader validates every event of
every sample, none of which is needed here: 1,400 samples a second against 14,000. It also unpacks archives of any size.

| limit | on |
|--|--|
| `DIRECTORY` | the archive's list of members |
| `MEMBER` | the unpacked size of one member |
| `ARCHIVE` | the unpacked size of all members together |
"""

import errno
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import zipfile_zstd  # noqa: F401  # adds Inspect's compression to zipfile
from inspect_ai.log import EvalLog
from pydantic import ValidationError

from carrara.util.errors import RunError, UsageError
from carrara.util.files import is_remote, open_binary
from carrara.util.log import warn_skipped

DIRECTORY = 64 << 20
MEMBER = 64 << 20
"""The most bytes of all members. The parsed JSON of a member may take forty times as much memory."""
ARCHIVE = 4 << 30
CHUNK = 4096
"""Bytes that are unpacked at a time. zstandard unpacks them to at most 128 MB."""


class DamagedLogError(RunError):
    """A log that was changed after it was written, or that no run wrote."""

    def __init__(self, path: Path, reason: object) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"the log {path} is damaged ({reason}): move it away to read the rest of its folder")


def leave_out(damaged: DamagedLogError) -> None:
    """Report that a log is left out. For commands that continue without it."""
    warn_skipped(f"the log {damaged.path} is left out: {damaged.reason}")


def logs(folder: Path) -> list[Path]:
    """Return the logs of a folder and its subfolders, oldest first. Their names begin with their time.

    Inspect's own listing treats paths as URLs, and fails on `#` or `%`.
    """
    return sorted(folder.rglob("*.eval"), key=lambda path: (path.name, path))


def header(path: Path) -> EvalLog:
    """Return a log without its samples.

    Raises:
        DamagedLogError: It is not a log, or exceeds a limit.
    """
    with _archive(path) as archive:
        names = set(archive.namelist())
        if "header.json" in names:
            fields = _read(archive, archive.getinfo("header.json"))
        elif "_journal/start.json" in names:  # the run was killed, or is not finished
            fields = _read(archive, archive.getinfo("_journal/start.json"))
        else:
            raise ValueError("it has no header")
        try:
            return EvalLog.model_validate({name: fields[name] for name in fields if name in EvalLog.model_fields})
        except (ValidationError, TypeError):
            raise ValueError("its header is not one that Inspect writes") from None


def samples(path: Path, damaged: Callable[[ValueError], None] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the samples of a log, as they were written.

    Args:
        damaged: What to do with a sample that cannot be read. By default it is an error, as the log is damaged.

    Raises:
        DamagedLogError: It is not a log, or exceeds a limit.
    """
    with _archive(path) as archive:
        left = ARCHIVE
        for member in archive.infolist():
            left -= member.file_size
            if left < 0:
                raise ValueError(f"it unpacks to more than {ARCHIVE >> 30} GB")
            if not member.filename.startswith("samples/"):
                continue
            try:
                sample = _read(archive, member)
                if not isinstance(sample, dict):
                    raise ValueError(f"{member.filename[:100]} is not a sample")
            except ValueError as error:
                if damaged is None:
                    raise
                damaged(error)
                continue
            yield sample


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a log. A damaged log raises `DamagedLogError`; a missing one, `FileNotFoundError`."""
    try:
        with (
            path.open("rb") if is_remote(path) else open_binary(path) as file,
            zipfile.ZipFile(_BoundedFile(file)) as archive,
        ):
            yield archive
    except (OSError, DamagedLogError):
        raise
    except UsageError as error:  # a folder, a FIFO or a device
        if not os.path.lexists(path):  # another shard of the run may have removed it
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path)) from None
        raise DamagedLogError(path, str(error).partition(" cannot be read: ")[2] or error) from None
    except ValueError as error:
        raise DamagedLogError(path, _reason(error)) from None
    except zipfile.BadZipFile:
        raise DamagedLogError(path, "it is not a whole zip archive") from None
    except Exception as error:  # zipfile, pydantic and zstandard document none of their exceptions
        raise DamagedLogError(path, type(error).__name__) from None


def _reason(error: ValueError) -> str:
    """Return our own message unchanged, and only the type of another library's error, which may quote the log."""
    return str(error) if type(error) is ValueError else type(error).__name__


class _BoundedFile:
    """A file that limits a single read to the largest size of an archive's directory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.close = file.seek, file.tell, file.close
        self.seekable = lambda: True

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(min(size, DIRECTORY + 1) if size >= 0 else DIRECTORY + 1)
        if len(content) > DIRECTORY:
            raise ValueError(f"it lists more than {DIRECTORY >> 20} MB of members")
        return content


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Any:
    if member.file_size > MEMBER:
        raise ValueError(f"{member.filename[:100]} unpacks to {member.file_size >> 20:,} MB, more than {MEMBER >> 20}")
    with archive.open(member) as packed:
        # zipfile reads at most the declared size, and raises an error for less
        content = b"".join(iter(lambda: packed.read(CHUNK), b""))
    try:
        return json.loads(content, parse_constant=_refuse)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise ValueError(f"{member.filename[:100]} is not JSON") from None
    except _ConstantError as error:
        raise ValueError(f"{member.filename[:100]} has the number {error}") from None


class _ConstantError(Exception):
    """A number that JSON lacks, such as NaN."""


def _refuse(constant: str) -> NoReturn:
    raise _ConstantError(constant)
