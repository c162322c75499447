"""Text columns of JSONL and Parquet files: each row is a document."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

from carrara.core.errors import UsageError
from carrara.core.files import lines, regular
from carrara.text.corpus.clean import decode
from carrara.text.corpus.sources import files_below, state_of

_JSONL = (".jsonl", ".ndjson")
SUFFIXES = (*_JSONL, ".parquet")
_ROWS = 64
"""Read at once: a row may be a whole book."""

Choose = Callable[[Sequence[str], str], str]
"""The column that holds the text, of those there are in a file; raises UsageError."""


@dataclass(frozen=True)
class Table:
    """One column of one or more files."""

    spec: str
    paths: Sequence[Path]
    column: Choose

    @staticmethod
    def of(path: Path, column: str) -> "Table":
        path = path.absolute()
        paths = files_below(path, SUFFIXES) if path.is_dir() else [path]
        if not paths or paths[0].suffix.lower() not in SUFFIXES:
            raise UsageError(f"{path} is not a JSONL or Parquet file, nor a folder of such: only these have columns")

        def named(columns: Sequence[str], file: str) -> str:
            if column in columns:
                return column
            if not column:
                raise UsageError(f"which column of {file} is the text? It has {listed(columns)}; write {path}:COLUMN")
            raise UsageError(f"{file} has no column {column!r}; it has {listed(columns)}")

        return Table(f"{path}:{column}", paths, named)

    def state(self) -> str:
        return state_of(self.paths)

    def documents(self) -> Iterator[str]:
        for path in self.paths:
            yield from _json_lines(path, self.column) if path.suffix.lower() in _JSONL else _parquet(path, self.column)


def listed(columns: Sequence[str]) -> str:
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
    except (OSError, ValueError) as error:  # pyarrow's own errors are one of these
        raise UsageError(f"{path} is not a Parquet file that can be read: {str(error).splitlines()[0]}") from None


def _text(value: object, where: str) -> str:
    """A value of the column; a missing one is a document without sentences, and counted as such."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UsageError(f"{where} has {type(value).__name__} where text is wanted: name another column")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{where} has half a character (a lone surrogate) at character {error.start}") from None
    return value
