"""BABILong's published items, run as they are: the tasks `published/babilong-qa1` … `-qa20`.

A published row has input (facts in a book), question and target. Its input is the context, at its own length. Prompt
and scorers are those of the task of the same number here, so that a row differs from an item only in its text.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from carrara.task import Instance, Rng
from carrara.tasks.babilong._story import StoryQuestion
from carrara.tasks.babilong._task import Babilong, load_task
from carrara.tasks.published_rows import ENDINGS, PublishedFile, Rows, files_of, rows, tell_left_out
from carrara.types import LengthBudget, Segment
from carrara.util.errors import UsageError
from carrara.util.files import DATA
from carrara.util.quantities import read_length

COLUMNS = ("input", "question", "target")
PREFIX = "published/babilong-"
_PROMPT = ("question", "instruction", "examples", "rule", "data")
"""The parameters that published items have."""
_TASK = re.compile(r"(?<![a-z0-9])(qa(?:20|1[0-9]|[1-9]))(?![0-9])", re.IGNORECASE)
_LENGTH = re.compile(r"(?<![a-z0-9])([0-9]+[km])(?![a-z0-9])", re.IGNORECASE)


class PublishedItems(Babilong[Any]):
    """A BABILong task whose instances are the rows of a published file."""

    data: str = field(default="", metadata={"reads": str, "built_in": ()})
    """The files, by their hash."""

    def check(self) -> None:
        for parameter in fields(self):
            if parameter.name not in _PROMPT and getattr(self, parameter.name) != parameter.default:
                raise ValueError(f"published items are as they are: leave out {parameter.name}")
        super().check()

    def given_count(self, length: int) -> int | None:
        return len(self._rows(length))

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        assert budget is not None
        task, index = rng.key.task, rng.key.index
        task_rows = self._rows(budget.tokens)
        if index >= len(task_rows):
            raise UsageError(f"the published files of {task} have {len(task_rows)} rows, and none numbered {index}")
        row, where = task_rows.row(index)
        try:
            target = self.official_gold(row["question"], row["target"])
        except UsageError as error:
            raise UsageError(f"{where} cannot be asked: {error}; mend the file or take it out of the folder") from None
        question = StoryQuestion(row["question"].strip(), target, (), 0)
        return replace(self.instance(self.cast, question), opening=(Segment(row["input"].strip()),))

    def _rows(self, length: int) -> Rows:
        return rows(self.data, f"babilong/qa{self.number}", length, COLUMNS)


@cache
def load(name: str) -> type[PublishedItems]:
    """Return the task `published/babilong-qaN`."""
    task_class = type(load_task(int(name.removeprefix(PREFIX).removeprefix("qa"))))
    attributes = {
        "title": f"{task_class.title} (published)",
        "wording": task_class.wording,
        "pack_name": f"babilong/qa{task_class.number}",
    }
    return type("PublishedItems", (PublishedItems, task_class), attributes)


def sources(folder: Path) -> list[PublishedFile]:
    """Return the files of a folder, such as `4k/qa1.json` or `data/qa1/4k-00000-of-00001.parquet`."""
    if not os.path.exists(folder):
        raise UsageError(f"there is no folder {folder}: `published` takes one with files such as 4k/qa1.json")
    files = sorted(_find_sources(folder))
    if not files:
        raise UsageError(f"{folder} has no file whose path names a task and a length, such as 4k/qa1.json")
    return files


def _find_sources(folder: Path) -> Iterator[PublishedFile]:
    is_file = not folder.is_dir()
    paths = files_of(folder, ENDINGS, DATA)
    above = (folder.parent if is_file else folder).resolve().name
    unnamed, unreadable = list[Path](), list[Path]()
    for path in paths:
        inner_path = path.name if is_file else str(path.relative_to(folder))
        if any(part.startswith(".") for part in Path(inner_path).parts):
            continue  # what version control and downloads keep beside the files
        # The folder itself may be the one called 4k; `babilong-1k-samples` says nothing of lengths.
        is_named = _LENGTH.fullmatch(above) or _TASK.fullmatch(above)
        full_path = f"{above}/{inner_path}" if is_named else inner_path
        tasks, lengths = _TASK.findall(full_path), _LENGTH.findall(full_path)
        is_readable = path.suffix.lower() in ENDINGS
        if is_readable and tasks and lengths:
            yield PublishedFile(f"babilong/{tasks[-1].lower()}", read_length(lengths[-1]), path)
        elif is_readable:
            unnamed.append(path)
        elif tasks and lengths:
            unreadable.append(path)
    tell_left_out(unnamed, "what is read names a task and a length in its path, as in 4k/qa1.json")
    tell_left_out(unreadable, f"what is read ends in {', '.join(ENDINGS)}")
