"""Where text comes from: every source gives documents, in an order of its own that is the same each time."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from carrara.core.data import data, packed
from carrara.core.errors import UsageError
from carrara.core.files import TEXT, Limit, content, regular
from carrara.text.corpus.clean import decode

SOTU = "sotu"
"""The built-in prose."""


class Source(Protocol):
    @property
    def spec(self) -> str:
        """As it is written down: a path from the root, `hf:…`, `sotu`."""

    def state(self) -> str:
        """Changes when the source does; cheap to tell."""

    def documents(self) -> Iterator[str]: ...


@dataclass(frozen=True)
class Texts:
    """Text files, each a document."""

    spec: str
    paths: Sequence[Path]

    @staticmethod
    def of_folder(folder: Path) -> "Texts":
        """All .txt files below a folder, by the names of their paths; hidden ones are not looked at."""
        folder = folder.absolute()
        paths = files_below(folder, (".txt",))
        if not paths:
            raise UsageError(f"{folder} has no .txt files; for JSONL or Parquet name the column, {folder}:COLUMN")
        return Texts(str(folder), paths)

    def state(self) -> str:
        return state_of(self.paths, TEXT)

    def documents(self) -> Iterator[str]:
        for path in self.paths:
            yield decode(content(path, TEXT), str(path))


@dataclass(frozen=True)
class BuiltIn:
    """Addresses of American presidents since 1790, which are in the package."""

    spec: str = SOTU

    def state(self) -> str:
        return blake2b(packed(SOTU), digest_size=16).hexdigest()

    def documents(self) -> Iterator[str]:
        yield from data(SOTU).decode().split("\0")


def files_below(folder: Path, suffixes: Sequence[str]) -> list[Path]:
    """In the order of their names. Links are followed, once each; a folder that cannot be read is an error."""

    def refused(error: OSError) -> None:
        raise UsageError(f"{error.filename} cannot be read: {error.strerror}; make it readable, or move it away")

    found: list[Path] = []
    seen: set[tuple[int, int]] = set()
    for place, folders, files in os.walk(folder, onerror=refused, followlinks=True):
        here = os.stat(place)
        if (here.st_dev, here.st_ino) in seen:
            folders.clear()
            continue
        seen.add((here.st_dev, here.st_ino))
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = [Path(place, name) for name in files if not name.startswith(".")]
        found += [path for path in paths if path.suffix.lower() in suffixes]
    return sorted(found, key=lambda path: path.relative_to(folder))


def state_of(paths: Sequence[Path], limit: Limit | None = None) -> str:
    """What changes when the files do. What is no file, or too large, is refused before any of them is read."""
    return "\n".join(
        f"{path} {found.st_size} {found.st_mtime_ns}" for path in paths for found in [regular(path, limit)]
    )
