"""Published sets whose files hold rows of several tasks and lengths, in any order.

A row has the length of its bin, as in MRCR's published results: powers of two, by their upper end, from 4,096 on. Its
size is that of its whole prompt, in tokens of o200k, whatever a column of the file says. It is counted once for each
file and kept. The tokens of the model's own tokenizer are counted for each item of a run.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from carrara import tokenizers
from carrara.tasks.published_rows import PublishedFile, check_repeats, find_files, tables_of, tell_left_out
from carrara.tasks.table_files import bin_of, cached, column_names, read_cells
from carrara.util.errors import UsageError
from carrara.util.log import logger
from carrara.util.quantities import write_length

ENDINGS = (".json", ".jsonl", ".parquet")
TOKENIZER = "o200k"


class BinnedRow(Protocol):
    @property
    def task(self) -> str:
        """The name of the task that the row is an item of."""

    @property
    def text(self) -> str:
        """The whole prompt."""

    @property
    def where(self) -> str:
        """The place of the row, for messages."""


R = TypeVar("R", bound=BinnedRow)


@dataclass(frozen=True)
class BinnedFiles(Generic[R]):
    """The files of a published set."""

    name: str
    """The name in `published = "NAME:FILE"`."""
    title: str
    columns: tuple[str, ...]
    """The columns that a file must have. Of `a|b`, one is enough."""
    parse: Callable[[Mapping[str, Any], str], R]
    """Makes a row of its cells and its place, or raises UsageError."""

    def sources(self, place: Path) -> list[PublishedFile]:
        """Return a file, or the files of a folder, under each task and length that they have rows of."""
        if not os.path.exists(place):
            raise UsageError(f"there is no file or folder {place}: `published` takes {self.title} as it was published")
        paths, others, published_files = list[Path](), list[Path](), list[PublishedFile]()
        for path in tables_of(place, ENDINGS):
            missing = self._missing(path)
            if missing and path is place:
                has = ", ".join(column_names(path)) or "none"
                raise UsageError(f"{path} has no column {missing[0]}, which {self.title} has; its columns: {has}")
            (others if missing else paths).append(path)
        for path in paths:
            keys = {(task, bin_of(tokens)) for task, tokens in self._index(path)}
            published_files += (PublishedFile(task, length, path) for task, length in sorted(keys))
        if not published_files:
            raise UsageError(
                f"{place} has no rows of {self.title} in {', '.join(ENDINGS)}: a file of it has the columns "
                f"{self._describe_columns()}"
            )
        tell_left_out(others, f"a file of {self.title} has the columns {self._describe_columns()}")
        return sorted(published_files)

    def rows(self, data: str, task: str, length: int) -> Sequence[R]:
        """Return the rows of a task at a length, by the hash of all files."""
        if not data:
            raise UsageError(f'{task} needs its files: give them by `published = "{self.name}:FILE"`')
        rows = [(row, path) for path in find_files(data, task, length) for row in self._rows_of(path, task, length)]
        if not rows:
            raise UsageError(f"the published files {data} have no rows of {task} at {write_length(length)}")
        check_repeats((row.text, path, row.where) for row, path in rows)
        return [row for row, _ in rows]

    def _rows_of(self, path: Path, task: str, length: int) -> Iterator[R]:
        for (row_task, tokens), row in zip(self._index(path), self._read(path), strict=True):
            if row_task == task and bin_of(tokens) == length:
                yield row

    def _read(self, path: Path) -> Iterator[R]:
        names = [name for group in self.columns for name in group.split("|")]
        for n, cells in enumerate(read_cells(path, names)):
            yield self.parse(cells, f"row {n} of {path}")

    def _index(self, path: Path) -> Sequence[tuple[str, int]]:
        """Return the task and the tokens of each row of a file."""

        def count() -> Iterator[tuple[str, int]]:
            logger.info(f"the tokens of each row of {path} are counted, once")
            tokenizer = tokenizers.get(TOKENIZER)
            return ((row.task, tokenizer.count(row.text)) for row in self._read(path))

        return cached(path, f"{self.name}-index", count)

    def _missing(self, path: Path) -> list[str]:
        names = set(column_names(path))
        return [group.replace("|", " or ") for group in self.columns if not names.intersection(group.split("|"))]

    def _describe_columns(self) -> str:
        return ", ".join(group.replace("|", " or ") for group in self.columns)
