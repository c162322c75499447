"""Rows of tables in files: Parquet, CSV, a list in JSON, or JSON Lines. Rows are read one after the other."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from carrara.util.cache import cache_file, cache_folder
from carrara.util.errors import UsageError
from carrara.util.files import DATA, content, lines, open_binary, regular

SHORTEST = 4096
"""The upper end of the shortest bin of lengths."""
_LARGEST = 2**31 - 1
"""The longest cell that the csv module can be told to take everywhere."""
_AT_ONCE = 8
"""Rows of a Parquet file that are unpacked together: each may have megabytes."""


def bin_of(tokens: int, shortest: int = SHORTEST) -> int:
    """Return the upper end of the bin of a size. The end belongs to the bin.

    >>> bin_of(4000), bin_of(4097), bin_of(8192), bin_of(8193)
    (4096, 8192, 8192, 16384)
    """
    return max(shortest, 1 << max(0, tokens - 1).bit_length())


@lru_cache(maxsize=1024)
def file_hash(path: Path) -> str:
    hasher = blake2b(digest_size=8)
    with open_binary(path) as file:
        while block := file.read(1 << 22):
            hasher.update(block)
    return hasher.hexdigest()


def cached(path: Path, name: str, compute: Callable[[], Iterable[Any]]) -> list[Any]:
    """Return values for the rows of a file, which are computed once, because counting gigabytes takes a minute or two.

    Args:
        path: The file.
        name: The name of these values.
        compute: Computes them.
    """
    place = cache_folder("published") / f"{file_hash(path)}-{name}.json"
    try:
        values: list[Any] = json.loads(place.read_text("utf-8"))
    except (OSError, ValueError):
        values = list(compute())
        with cache_file(place) as file:
            file.write(json.dumps(values).encode())
    return values


def read_cells(path: Path, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a file, with at least the given columns that it has."""
    kinds = {".parquet": _parquet, ".csv": _csv, ".json": _json, ".jsonl": _jsonl}
    return kinds[_ending(path)](path, columns)


def _ending(path: Path) -> str:
    """Return the format of a file by its name. The hub's cache links to files whose name is a hash."""
    if path.suffix.lower() in (".parquet", ".csv", ".json", ".jsonl"):
        return path.suffix.lower()
    with open_binary(path) as file:
        return ".parquet" if file.read(4) == b"PAR1" else ".jsonl"


def column_names(path: Path) -> Sequence[str]:
    """Return the columns of a file. Those of a JSON object, such as a description of a data set, are its keys."""
    ending = _ending(path)
    if ending == ".parquet":
        with _open(path) as file:
            return list(file.schema_arrow.names)
    if ending == ".json":
        value = _json_value(path)
        first = next(iter(value), None) if isinstance(value, list) else value
        return list(first) if isinstance(first, dict) else []
    return list(next(read_cells(path, ()), {}))


def _parquet(path: Path, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    try:
        with _open(path) as file:
            known = [name for name in columns if name in file.schema_arrow.names]
            for batch in file.iter_batches(batch_size=_AT_ONCE, columns=known):
                yield from batch.to_pylist()
    except (OSError, ValueError) as error:  # pyarrow's own errors are one of these
        raise UsageError(f"{path} is not Parquet that can be read: {str(error).splitlines()[0]}") from None


def _open(path: Path) -> Any:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise UsageError(f"reading {path} needs pyarrow: `pip install 'carrara[parquet]'`") from None
    regular(path)
    try:
        return parquet.ParquetFile(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} is not Parquet that can be read: {str(error).splitlines()[0]}") from None


def _csv(path: Path, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    before = csv.field_size_limit(_LARGEST)
    try:
        with TextIOWrapper(open_binary(path), encoding="utf-8-sig", newline="") as file:
            table = csv.DictReader(file, strict=True)
            for row in table:
                if None in row or None in row.values():
                    raise UsageError(f"{path}:{table.line_num}: the row has more or fewer fields than the table")
                yield row
    except (OSError, ValueError, csv.Error) as error:
        raise UsageError(f"{path} is not CSV in UTF-8 that can be read: {error}") from None
    finally:
        csv.field_size_limit(before)


def _jsonl(path: Path, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of JSON Lines. Lines end at line feeds alone, because texts may have other separators in them."""
    for number, line in enumerate(lines(path), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}:{number}: not a line of JSON: {error}") from None
        if not isinstance(row, dict):
            raise UsageError(f"{path}:{number}: no JSON object with columns")
        yield row


def _json(path: Path, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a list of JSON objects."""
    rows = _json_value(path)
    if not isinstance(rows, list):
        raise UsageError(f"{path} is no list of JSON objects: give the file as it was published")
    for n, row in enumerate(rows):
        if not isinstance(row, dict):
            raise UsageError(f"row {n} of {path} is no JSON object with columns")
        yield row


def _json_value(path: Path) -> Any:
    try:
        return json.loads(content(path, DATA))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON that can be read: {error}") from None


def check_texts(cells: Mapping[str, Any], names: Iterable[str], where: str) -> None:
    """Raise `UsageError` for a column of a row that holds no text."""
    for name in names:
        if not is_text(cells.get(name)):
            raise UsageError(f"{where} has no text for its {name}: mend it, or take it out")


def is_text(cell: object) -> bool:
    """Return whether a cell is a text that is not blank, without halves of characters."""
    try:
        return isinstance(cell, str) and bool(cell.encode()) and not cell.isspace()
    except UnicodeEncodeError:  # half a character
        return False
