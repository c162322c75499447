"""Published data sets: files of rows (JSON, JSONL or Parquet) by task and length, identified by one hash of them all.

The location of the files is stored under that hash, so that an item's id identifies its text. The files themselves are
not copied.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, overload

from carrara.util.cache import cache_file, cache_folder
from carrara.util.errors import UsageError
from carrara.util.files import DATA, content, lines, open_binary, regular
from carrara.util.log import warn_once

Row = Mapping[str, str]
ENDINGS = (".json", ".jsonl", ".parquet")


class PublishedFile(NamedTuple):
    """A file of published rows."""

    task: str
    """Our task with the same questions."""
    length: int
    """The length in its name. Published lengths count other tokens than ours, and less than the prompt."""
    path: Path


def files_of(place: Path, endings: Collection[str]) -> list[Path]:
    """Return a file, or all files below a folder. A file with a known ending that cannot be read is refused."""
    paths = [place] if not place.is_dir() else [path for path in place.rglob("*") if not path.is_dir()]
    for path in paths:
        if path is place or (path.suffix.lower() in endings and not path.name.startswith(".")):
            regular(path)
    return [path for path in paths if path.is_file()]


def tell_left_out(paths: Sequence[Path], why: str) -> None:
    """Warn in one sentence of files that are left out."""
    if paths:
        more = f" and {len(paths) - 1:,} more are" if paths[1:] else " is"
        warn_once(f"{min(paths)}{more} left out: {why}")


def remember_files(sources: Iterable[PublishedFile]) -> str:
    """Return the hash of several files together, by which they can be opened from now on."""
    rows = [
        (source.task, source.length, file_hash(source.path), str(source.path.absolute())) for source in sorted(sources)
    ]
    hasher = blake2b(digest_size=8)
    for task, length, content_hash, _ in rows:
        hasher.update(f"{task}\x1f{length}\x1f{content_hash}\x1e".encode())
    path, remembered = remembered_path(hasher.hexdigest()), json.dumps(rows).encode()
    if not path.is_file() or path.read_bytes() != remembered:
        with cache_file(path) as file:
            file.write(remembered)
    return hasher.hexdigest()


@dataclass(frozen=True)
class Rows:
    """The rows of several files, one file after the other."""

    files: Sequence[tuple[Path, Sequence[Row]]]

    def __len__(self) -> int:
        return sum(len(rows) for _, rows in self.files)

    def row(self, n: int) -> tuple[Row, str]:
        """Return the n-th row, and its location for messages."""
        for path, rows in self.files:
            if n < len(rows):
                return rows[n], f"row {n} of {path}"
            n -= len(rows)
        raise IndexError(n)


@lru_cache(maxsize=2)
def rows(data: str, task: str, length: int, columns: tuple[str, ...]) -> Rows:
    """Return the rows of a task at a length, by the hash of all files."""
    files: list[tuple[Path, Sequence[Row]]] = []
    for path in find_files(data, task, length):
        parquet = path.suffix.lower() == ".parquet"
        files.append((path, _table(path, columns) if parquet else _objects(path, columns)))
    if not any(rows for _, rows in files):
        raise UsageError(f"the published files {data} have no rows of {task} at {length}")
    if len(files) > 1:
        _check_duplicates(files)
    return Rows(files)


def find_files(data: str, task: str, length: int = 0) -> list[Path]:
    """Return the files of a task at a length, by the hash of all files. Raise if one has changed."""
    entries = [entry for entry in remembered_files(data) if entry[:2] == [task, length]]
    for _, _, stored_hash, where in entries:
        path = Path(where)
        if not path.is_file() or file_hash(path) != stored_hash:
            raise UsageError(f"{path} is gone or has changed: put the file back, or run its folder anew")
    return [Path(where) for *_, where in entries]


def remembered_files(data: str) -> list[list[Any]]:
    """Return the task, the length, the hash and the path of each file, by the hash of all files."""
    try:
        entries: list[list[Any]] = json.loads(remembered_path(data).read_text("utf-8"))
    except (OSError, ValueError):
        raise UsageError(f"no published files with hash {data} are known here: run their folder once more") from None
    return entries


def _check_duplicates(files: Sequence[tuple[Path, Sequence[Row]]]) -> None:
    """Raise for a copy of a file, or the same rows in another format, which would count every item twice."""
    row_hashes = [(path, {hash(tuple(sorted(row.items()))) for row in rows}) for path, rows in files]
    for (path, hashes), (other_path, other_hashes) in combinations(row_hashes, 2):
        if hashes and other_hashes and (hashes <= other_hashes or other_hashes <= hashes):
            raise UsageError(f"{path} and {other_path} hold the same rows: leave one of them in the folder")


def remembered_path(name: str) -> Path:
    return cache_folder("published") / f"{name}.json"


@lru_cache(maxsize=1024)
def file_hash(path: Path) -> str:
    hasher = blake2b(digest_size=8)
    with open_binary(path) as file:
        while block := file.read(1 << 22):
            hasher.update(block)
    return hasher.hexdigest()


def _objects(path: Path, columns: tuple[str, ...]) -> Sequence[Row]:
    if path.suffix.lower() == ".jsonl":
        objects = list(_lines(path))
    else:
        objects = _json(content(path, DATA), f"{path} is not JSON that can be read")
    if not isinstance(objects, list):
        raise UsageError(f"{path} is not a list of objects with {', '.join(columns)}")
    for n, row in enumerate(objects):
        if not isinstance(row, dict) or not all(isinstance(row.get(column), str) for column in columns):
            raise UsageError(f"row {n} of {path} lacks one of the texts {', '.join(columns)}")
        for column in columns:
            try:
                row[column].encode()
            except UnicodeEncodeError:
                raise UsageError(f"row {n} of {path}: its {column} holds half a character, which is no text") from None
    return [{column: row[column] for column in columns} for row in objects]


def _lines(path: Path) -> Iterator[Any]:
    """Yield the values of a JSONL file.

    Its lines end only at line feeds, because texts may contain other separators.
    """
    regular(path, DATA)
    for number, line in enumerate(lines(path), 1):
        if line.strip():
            yield _json(line, f"{path}:{number}: not a line of JSON")


def _json(text: bytes, complaint: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{complaint}: {error}") from None


@dataclass(frozen=True)
class _Columns(Sequence[Row]):
    """The rows of a Parquet file. They are made when they are accessed, because a text may have ten million tokens."""

    columns: Mapping[str, Any]
    length: int

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, n: int) -> Row: ...
    @overload
    def __getitem__(self, n: slice) -> Sequence[Row]: ...
    def __getitem__(self, n: int | slice) -> Row | Sequence[Row]:
        if isinstance(n, slice):
            return [self[i] for i in range(*n.indices(self.length))]
        return {name: values[n].as_py() for name, values in self.columns.items()}


def _table(path: Path, columns: tuple[str, ...]) -> Sequence[Row]:
    try:
        parquet, types = import_module("pyarrow.parquet"), import_module("pyarrow.types")
    except ImportError:
        raise UsageError(f"reading {path} needs pyarrow: `pip install 'carrara[parquet]'`") from None
    regular(path, DATA)
    try:
        names = parquet.read_schema(path).names
        if missing := [column for column in columns if column not in names]:
            raise UsageError(f"{path} has no column {missing[0]!r}; it has {', '.join(names) or 'none'}")
        table = parquet.read_table(path, columns=list(columns))
        table.validate(full=True)  # texts that are not UTF-8
    except (OSError, ValueError) as error:  # errors of pyarrow are subclasses of these
        raise UsageError(f"{path} is not Parquet that can be read: {str(error).splitlines()[0]}") from None
    for name in columns:
        column = table.column(name)
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        if not types.is_string(kind) and not types.is_large_string(kind):
            raise UsageError(f"the column {name!r} of {path} holds {kind} and no texts")
        if column.null_count:
            raise UsageError(f"row {column.is_null().index(True)} of {path} lacks its {name}")
    return _Columns({name: table.column(name) for name in columns}, table.num_rows)
