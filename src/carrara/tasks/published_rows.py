"""Published data sets: files of rows (JSON, JSONL or Parquet) by task and length, identified by one hash of them all.

The location of the files is stored under that hash, so that an item's id identifies its text. The files themselves are
not copied.
"""

import json
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from carrara.tasks.table_files import check_texts, file_hash, read_cells
from carrara.util.cache import cache_file, cache_folder
from carrara.util.errors import UsageError
from carrara.util.files import Limit, regular
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


def files_of(place: Path, endings: Collection[str], limit: Limit | None = None) -> list[Path]:
    """Return a file, or all files below a folder. A file with a known ending that cannot be read is refused."""
    paths = [place] if not place.is_dir() else [path for path in place.rglob("*") if not path.is_dir()]
    for path in paths:
        if path is place or (path.suffix.lower() in endings and not path.name.startswith(".")):
            regular(path, limit)
    return [path for path in paths if path.is_file()]


def tables_of(place: Path, endings: Collection[str]) -> list[Path]:
    """Return a file, or the files of a folder that have a known ending. Downloads keep others beside them, hidden."""

    def is_table(path: Path) -> bool:
        hidden = any(part.startswith(".") for part in path.relative_to(place).parts)
        return path.suffix.lower() in endings and not hidden

    return [path for path in sorted(files_of(place, endings)) if path is place or is_table(path)]


def check_repeats(rows: Iterable[tuple[Hashable, Path, str]]) -> None:
    """Raise if two files have the same row: a copy of a file, or its rows in another form, would count items twice.

    Rows that one file repeats are told and asked, because the file is as it was published.

    Args:
        rows: What makes a row the same as another, its file, and its place for messages.
    """
    first_places: dict[Hashable, tuple[Path, str]] = {}
    repeated = list[str]()
    for key, path, where in rows:
        first_path, first_where = first_places.setdefault(key, (path, where))
        if first_path != path:
            raise UsageError(f"{where} stands in {first_path} too: leave one of the two files in the folder")
        if first_where != where:
            repeated.append(f"{where} repeats row {first_where.split()[1]}")
    if repeated:
        more = f", and {len(repeated) - 1:,} more are repeated" if repeated[1:] else ""
        warn_once(f"{repeated[0]}{more}: each row is an item of its own")


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
    files = [(path, [*_texts(path, columns)]) for path in find_files(data, task, length)]
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


def _texts(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    for n, cells in enumerate(read_cells(path, columns)):
        check_texts(cells, columns, f"row {n} of {path}")
        yield {column: cells[column] for column in columns}
