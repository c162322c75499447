"""BABILong's published items, run as they are: the tasks `published/babilong-qa1` … `-qa20`.

A published row has input (facts in a book), question and target. Its input is the context, at its own length; prompt
and scorers are those of the task of the same number here, so a row differs from an item in nothing but its text.
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
from carrara.util.quantities import read_length

COLUMNS = ("input", "question", "target")
PREFIX = "published/babilong-"
_PROMPT = ("question", "instruction", "examples", "rule", "data")
"""The parameters that published items have."""
_TASK = re.compile(r"(?<![a-z0-9])(qa(?:20|1[0-9]|[1-9]))(?![0-9])", re.IGNORECASE)
_LENGTH = re.compile(r"(?<![a-z0-9])([0-9]+[km])(?![a-z0-9])", re.IGNORECASE)


class PublishedItems(Babilong[Any]):
    """What a task does otherwise when its instances are the rows of a file."""

    data: str = field(default="", metadata={"reads": str, "built_in": ()})
    """The files, by their hash."""

    def check(self) -> None:
        for own in fields(self):
            if own.name not in _PROMPT and getattr(self, own.name) != own.default:
                raise ValueError(f"published items are as they are: leave out {own.name}")
        super().check()

    def given_count(self, length: int) -> int | None:
        return len(self._rows(length))

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        assert budget is not None
        task, index = rng.key.task, rng.key.index
        found = self._rows(budget.tokens)
        if index >= len(found):
            raise UsageError(f"the published files of {task} have {len(found)} rows, and none numbered {index}")
        row, where = found.row(index)
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
    own = type(load_task(int(name.removeprefix(PREFIX).removeprefix("qa"))))
    more = {
        "title": f"{own.title} (published)",
        "wording": own.wording,
        "pack_name": f"babilong/qa{own.number}",
    }
    return type("PublishedItems", (PublishedItems, own), more)


def sources(folder: Path) -> list[PublishedFile]:
    """Return the files of a folder, such as `4k/qa1.json` or `data/qa1/4k-00000-of-00001.parquet`."""
    if not os.path.exists(folder):
        raise UsageError(f"there is no folder {folder}: `published` takes one with files such as 4k/qa1.json")
    found = sorted(_find_sources(folder))
    if not found:
        raise UsageError(f"{folder} has no file whose path names a task and a length, such as 4k/qa1.json")
    return found


def _find_sources(folder: Path) -> Iterator[PublishedFile]:
    one = not folder.is_dir()
    paths = files_of(folder, ENDINGS)
    above = (folder.parent if one else folder).resolve().name
    strays, others = list[Path](), list[Path]()
    for path in paths:
        own = path.name if one else str(path.relative_to(folder))
        if any(part.startswith(".") for part in Path(own).parts):
            continue  # what version control and downloads keep beside the files
        # The folder itself may be the one called 4k; `babilong-1k-samples` says nothing of lengths.
        named = f"{above}/{own}" if _LENGTH.fullmatch(above) or _TASK.fullmatch(above) else own
        tasks, lengths = _TASK.findall(named), _LENGTH.findall(named)
        readable = path.suffix.lower() in ENDINGS
        if readable and tasks and lengths:
            yield PublishedFile(f"babilong/{tasks[-1].lower()}", read_length(lengths[-1]), path)
        elif readable:
            strays.append(path)
        elif tasks and lengths:
            others.append(path)
    tell_left_out(strays, "what is read names a task and a length in its path, as in 4k/qa1.json")
    tell_left_out(others, f"what is read ends in {', '.join(ENDINGS)}")
