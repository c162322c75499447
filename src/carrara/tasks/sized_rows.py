"""Published data sets whose rows have lengths of their own: the files of a folder, and which rows have which length.

Files are Parquet, CSV or JSON Lines, and their columns tell which task they are for (`RowSet`). Lengths are the bins of
published results, powers of two, by their upper end. Where a path names one (`in_(4096,8192)`, `upto_128K`, `8k/`), it
is that of all rows. In other files each row has the bin of its size, which is counted once and kept. Files of one
length take turns, row by row, so that the first rows have 2, 4 and 8 needles where all of them do.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat, zip_longest
from pathlib import Path
from typing import NamedTuple

from carrara.tasks.published_rows import (
    PublishedFile,
    check_repeats,
    find_files,
    remembered_files,
    tables_of,
    tell_left_out,
)
from carrara.tasks.table_files import SHORTEST, bin_of, cached, check_texts, column_names, read_cells
from carrara.util.errors import UsageError
from carrara.util.log import logger
from carrara.util.quantities import read_length, write_length

ENDINGS = (".json", ".jsonl", ".parquet", ".csv")
_BIN = re.compile(r"(?<![a-z0-9])(?:in_\(?[0-9]+[,_]([0-9]+)\)?|([0-9]+[km]))(?![a-z0-9])", re.IGNORECASE)
_UPTO = re.compile(r"upto_[0-9]+[km](?![a-z0-9])", re.IGNORECASE)


class Columns(NamedTuple):
    """The columns of a data set."""

    needed: tuple[str, ...]
    more: tuple[str, ...]
    """Those that a row can do without."""
    sized_by: tuple[str, ...]
    """Those that tell the size of a row."""


class Row(NamedTuple):
    where: str
    """The description for messages."""
    cells: Mapping[str, str]
    """The values by column. Numbers are as written."""


@dataclass(frozen=True, eq=False)
class RowSet:
    """The files of a published data set, which may have several tasks."""

    name: str
    columns: Mapping[str, Columns]
    """The columns by task."""
    size: Callable[[Row, str], int]
    """Return the tokens of a row of a task, from the columns that tell its size."""
    shortest: int = SHORTEST
    """The upper end of the first bin."""

    def sources(self, folder: Path) -> list[PublishedFile]:
        """Return the files of a folder, or a file, under each length that they have rows of."""
        if not os.path.exists(folder):
            raise UsageError(
                f"there is no folder {folder}: `published` takes one with files of {self.name}, as they were published"
            )
        published_files = sorted(self._find_sources(folder))
        if not published_files:
            raise UsageError(
                f"{folder} has no {self.name} in {', '.join(ENDINGS)}: a file of it has the columns "
                f"{self._describe_columns()}"
            )
        _check_kind(published_files)
        return published_files

    def _find_sources(self, folder: Path) -> Iterator[PublishedFile]:
        is_file = not folder.is_dir()
        parent_name = (folder.parent if is_file else folder).resolve().name
        others, empty = list[Path](), list[Path]()
        for path in tables_of(folder, ENDINGS):
            relative_path = path.name if is_file else str(path.relative_to(folder))
            task = self._task_of_file(path)
            if task is None:
                others.append(path)
                continue
            length = _length_in(f"{parent_name}/{relative_path}" if _BIN.fullmatch(parent_name) else relative_path)
            lengths = {length} if length is not None else set(map(self._bin, self._sizes(path, task)))
            if not lengths:
                empty.append(path)
            yield from (PublishedFile(task, length, path) for length in lengths)
        tell_left_out(others, f"a file of {self.name} has the columns {self._describe_columns()}")
        tell_left_out(empty, "there are no rows")

    def _describe_columns(self) -> str:
        return " or ".join(", ".join(columns.needed) for columns in self.columns.values())

    def _task_of_file(self, path: Path) -> str | None:
        """Return the task that a file's columns are for."""
        names = set(column_names(path))
        return next((task for task, columns in self.columns.items() if names >= set(columns.needed)), None)

    @lru_cache(maxsize=2)  # noqa: B019  # a data set is one object of a module
    def rows(self, data: str, task: str, length: int) -> Sequence[Row]:
        """Return the rows of a task at a length, by the hash of all files (`remember_files`)."""
        sizes_by_path = Counter(where for _, _, _, where in remembered_files(data))
        rows_by_path = {
            path: list(self._rows_of(path, task, length if sizes_by_path[str(path)] > 1 else None))
            for path in find_files(data, task, length)
        }
        if not any(rows_by_path.values()):
            raise UsageError(f"the published files {data} have no rows of {task} at {write_length(length)}")
        needed = self.columns[task].needed
        check_repeats(
            (tuple(row.cells[name] for name in needed), path, row.where)
            for path, file_rows in rows_by_path.items()
            for row in file_rows
        )
        return [row for turn in zip_longest(*rows_by_path.values()) for row in turn if row is not None]

    @lru_cache(maxsize=1024)  # noqa: B019
    def number(self, data: str, task: str, length: int) -> int:
        """Return the number of rows. It is needed for every item, when the rows may no longer be in memory."""
        return len(self.rows(data, task, length))

    def _rows_of(self, path: Path, task: str, length: int | None) -> Iterator[Row]:
        """Yield the rows of a file, or those of one bin. Equal texts, such as a context of many rows, are kept once."""
        columns, texts = self.columns[task], dict[str, str]()
        sizes = repeat(0) if length is None else self._sizes(path, task)
        for row, size in zip(read(path, columns), sizes, strict=length is not None):
            if length is None or self._bin(size) == length:
                yield Row(row.where, {name: texts.setdefault(cell, cell) for name, cell in row.cells.items()})

    def _bin(self, tokens: int) -> int:
        return bin_of(tokens, self.shortest)

    def _sizes(self, path: Path, task: str) -> Sequence[int]:
        """Return the size of each row of a file."""

        def count() -> Iterator[int]:
            logger.info(f"{path} names no length: the sizes of its rows are looked up, once")
            needed, _, sized_by = columns = self.columns[task]
            sized = columns._replace(needed=tuple(name for name in needed if name in sized_by), more=sized_by)
            return (self.size(row, task) for row in read(path, sized))

        return cached(path, f"{task.rpartition('-')[2]}-sizes", count)


def _length_in(path: str) -> int | None:
    """Return the length that a path names.

    >>> _length_in("mrcr_v2p1_8needle_in_(4096,8192)_dynamic_fewshot_text_style_fast.csv"), _length_in("upto_128K.csv")
    (8192, 131072)
    >>> _length_in("2needle/2needle_0.parquet")
    """
    bins = _BIN.findall(path)
    if not bins:
        return None
    until, short = bins[-1]
    return int(until) if until else read_length(short)


def _check_kind(published_files: Iterable[PublishedFile]) -> None:
    """Raise if some files have rows up to a length, and others of its bin alone: one mean would mix both."""
    first: dict[tuple[str, int], Path] = {}
    for task, length, path in published_files:
        first_path = first.setdefault((task, length), path)
        if bool(_UPTO.search(path.name)) != bool(_UPTO.search(first_path.name)):
            raise UsageError(
                f"{first_path} and {path} are both for {write_length(length)}, one up to it and one of its bin alone: "
                f"keep them in two folders"
            )


def read(path: Path, columns: Columns) -> Iterator[Row]:
    """Yield the rows of a file."""
    names = tuple(dict.fromkeys((*columns.needed, *columns.more)))
    for n, cells in enumerate(read_cells(path, names)):
        where = f"row {n} of {path}"
        check_texts(cells, columns.needed, where)
        yield Row(where, {name: str(cell) for name in names if (cell := cells.get(name)) is not None})
