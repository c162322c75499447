"""The files of published MRCR data sets, and which of their rows have which length.

A file is Parquet, CSV or JSON Lines, and its columns tell whose it is:

| task | a row has | and may have |
|--|--|--|
| `published/mrcr-openai` | prompt (a JSON list of messages), answer, random_string_to_prepend | n_needles |
| `published/mrcr-gdm` | queries (the whole prompt), answer | num_relevant, context_len |

A row's length is its own, so lengths are the bins of published results, powers of two, by their upper end. Where a path
names one (`in_(4096,8192)`, `upto_128K`, `8k/`), it is that of all rows. In other files each row has the bin of its
size: OpenAI's by the tokens of its messages and answer in o200k, counted once and kept; MRCR v2's by its context_len.
Files of one length take turns, row by row, so that the first rows have 2, 4 and 8 needles where all of them do.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from carrara import tokenizers
from carrara.tasks.published_rows import PublishedFile, files_of, find_files, remembered_files, tell_left_out
from carrara.tasks.table_files import bin_of, cached, column_names, is_text, read_cells
from carrara.types import Message, Role
from carrara.util.errors import UsageError
from carrara.util.log import logger
from carrara.util.quantities import read_length, write_length

ENDINGS = (".parquet", ".csv", ".jsonl")
TOKENIZER = "o200k"
"""The tokenizer of OpenAI's bins."""
_BIN = re.compile(r"(?<![a-z0-9])(?:in_\(?[0-9]+[,_]([0-9]+)\)?|([0-9]+[km]))(?![a-z0-9])", re.IGNORECASE)
_UPTO = re.compile(r"upto_[0-9]+[km](?![a-z0-9])", re.IGNORECASE)
_ROLES: Mapping[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}


class Columns(NamedTuple):
    """The columns of a data set."""

    needed: tuple[str, ...]
    more: tuple[str, ...]
    """Those that a row can do without."""


OPENAI, GDM = "published/mrcr-openai", "published/mrcr-gdm"
COLUMNS = {
    OPENAI: Columns(("prompt", "answer", "random_string_to_prepend"), ("n_needles",)),
    GDM: Columns(("queries", "answer"), ("num_relevant", "context_len")),
}


class Row(NamedTuple):
    where: str
    """The description for messages."""
    cells: Mapping[str, str]
    """The values by column. Numbers are as written."""


# --- what a folder has ---


def sources(folder: Path) -> list[PublishedFile]:
    """Return the files of a folder, or a file, under each length that they have rows of."""
    if not os.path.exists(folder):
        raise UsageError(
            f"there is no folder {folder}: `published` takes one with files of MRCR, as they were published"
        )
    published_files = sorted(_find_sources(folder))
    if not published_files:
        raise UsageError(
            f"{folder} has no MRCR in {', '.join(ENDINGS)}: a file of it has the columns {_describe_columns()}"
        )
    _check_kind(published_files)
    return published_files


def _find_sources(folder: Path) -> Iterator[PublishedFile]:
    is_file = not folder.is_dir()
    parent_name = (folder.parent if is_file else folder).resolve().name
    others, empty = list[Path](), list[Path]()
    for path in files_of(folder, ENDINGS):
        relative_path = path.name if is_file else str(path.relative_to(folder))
        if path.suffix.lower() not in ENDINGS or any(part.startswith(".") for part in Path(relative_path).parts):
            continue  # cards and code, and what downloads keep beside the files
        task = _task_of_file(path)
        if task is None:
            others.append(path)
            continue
        length = _length_in(f"{parent_name}/{relative_path}" if _BIN.fullmatch(parent_name) else relative_path)
        lengths = {length} if length is not None else set(map(bin_of, _sizes(path, task)))
        if not lengths:
            empty.append(path)
        yield from (PublishedFile(task, length, path) for length in lengths)
    tell_left_out(others, f"a file of MRCR has the columns {_describe_columns()}")
    tell_left_out(empty, "there are no rows")


def _describe_columns() -> str:
    return " or ".join(", ".join(columns.needed) for columns in COLUMNS.values())


def _task_of_file(path: Path) -> str | None:
    """Return the task that a file's columns are for."""
    names = set(column_names(path))
    return next((task for task, columns in COLUMNS.items() if names >= set(columns.needed)), None)


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


# --- the rows of a length ---


@lru_cache(maxsize=2)
def rows(data: str, task: str, length: int) -> Sequence[Row]:
    """Return the rows of a task at a length, by the hash of all files (`remember_files`)."""
    sizes_by_path = Counter(where for _, _, _, where in remembered_files(data))
    rows_by_path = {
        path: list(_rows_of(path, task, length if sizes_by_path[str(path)] > 1 else None))
        for path in find_files(data, task, length)
    }
    if not any(rows_by_path.values()):
        raise UsageError(f"the published files {data} have no rows of {task} at {write_length(length)}")
    _check_duplicates(rows_by_path, task)
    return [row for turn in zip_longest(*rows_by_path.values()) for row in turn if row is not None]


@lru_cache(maxsize=1024)
def number(data: str, task: str, length: int) -> int:
    """Return the number of rows. It is needed for every item, when the rows may no longer be in memory."""
    return len(rows(data, task, length))


def _check_duplicates(rows_by_path: Mapping[Path, Sequence[Row]], task: str) -> None:
    """Raise if two files have the same row: a copy of a file, or its rows in another form, would count items twice."""
    seen: dict[int, Path] = {}
    for path, file_rows in rows_by_path.items():
        for row in file_rows:
            row_hash = hash(tuple(row.cells[name] for name in COLUMNS[task].needed))
            if (first_path := seen.setdefault(row_hash, path)) != path:
                raise UsageError(f"{row.where} stands in {first_path} too: leave one of the two files in the folder")


def _rows_of(path: Path, task: str, length: int | None) -> Iterator[Row]:
    """Return the rows of a file, or those of one bin."""
    if length is None:
        return read(path, task)
    sizes = _sizes(path, task)
    return (row for row, size in zip(read(path, task), sizes, strict=True) if bin_of(size) == length)


def _sizes(path: Path, task: str) -> Sequence[int]:
    """Return the size of each row of a file."""

    def count() -> Iterator[int]:
        logger.info(f"{path} names no length: the sizes of its rows are looked up, once")
        return (_size(row, task) for row in read(path, task))

    return cached(path, f"{task.rpartition('-')[2]}-sizes", count)


def _size(row: Row, task: str) -> int:
    if task == OPENAI:
        count = tokenizers.get(TOKENIZER).count_many
        return sum(count([*(message.content for message in messages(row)), row.cells["answer"]]))
    context_length = row.cells.get("context_len", "")
    if not context_length.isdecimal():
        raise UsageError(f"{row.where} has no context_len, and its path names no length: put it in a folder such as 8k")
    return int(context_length)


def messages(row: Row) -> list[Message]:
    """Return the conversation of a row of OpenAI's."""
    try:
        entries = json.loads(row.cells["prompt"])
        conversation = [Message(_ROLES[message["role"]], message["content"]) for message in entries]
        "".join(message.content for message in conversation).encode()  # texts, and no halves of characters
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UsageError(f"the prompt of {row.where} is no JSON list of messages with role and content") from None
    if not conversation or conversation[-1].role != "user":
        raise UsageError(f"the prompt of {row.where} does not end with a message of the user, who asks for the draft")
    return conversation


# --- files ---


def read(path: Path, task: str) -> Iterator[Row]:
    """Yield the rows of a file."""
    needed, more = COLUMNS[task]
    columns = (*needed, *more)
    for n, cells in enumerate(read_cells(path, columns)):
        where = f"row {n} of {path}"
        for name in needed:
            if not is_text(cells.get(name)):
                raise UsageError(f"{where} has no text for its {name}: mend it, or take it out")
        yield Row(where, {name: str(cell) for name in columns if (cell := cells.get(name)) is not None})
