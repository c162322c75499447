"""Files of replies to Minerva's published items: one JSON object a line, with task, reference and reply.

    {"task": "group_membership", "reference": "List 1", "reply": "List 10", "prompt": "Context:\\nList 1: …"}

The task is called what its published file is called, and the reference is what that file has. The prompt may be there.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal

from carrara.tasks.minerva._given import RowGrade, grade_row
from carrara.tasks.minerva._published import PRIMARY
from carrara.util.errors import UsageError, nearest
from carrara.util.files import lines

FIELDS = ("task", "reference", "reply")
_FILE_NAMES = {"identify_the_odd_group": "identify_odd_group"}
"""The file name of a task that the published code calls otherwise."""


@dataclass(frozen=True)
class ScoredRow:
    """A row with its scores."""

    line: int
    task: str
    paper: float
    own: float | None
    """None where the reference is empty."""
    answer: str | None
    status: Literal["ok", "unparsed"]


@dataclass(frozen=True)
class Figures:
    n: int
    paper: float
    """The mean of all rows."""
    own: float | None
    """The mean of the rows with a reference; None where there are none."""
    unparsed: int
    """Replies that state no answer, or leave it open."""
    without_reference: int
    without_context: int
    """Rows where nothing is taken off our score for trivial replies, since no context tells what they have."""


@dataclass(frozen=True)
class RescoredRows:
    file: str
    tasks: Mapping[str, Figures]
    """In the paper's order."""
    total: Figures


def rescore(path: Path, keep: Callable[[ScoredRow], object] = lambda scored: None) -> RescoredRows:
    """Score the rows of a file, and show each to `keep`."""
    grades_by_task: dict[str, list[RowGrade]] = {task: [] for task in PRIMARY}
    for line, task, grade in _grade_lines(path):
        grades_by_task[task].append(grade)
        status: Literal["ok", "unparsed"] = "unparsed" if grade.answer is None else "ok"
        keep(ScoredRow(line, task, grade.paper, grade.score, grade.answer, status))
    all_grades = [grade for grades in grades_by_task.values() for grade in grades]
    if not all_grades:
        raise UsageError(f"{path} has no rows; a row needs {', '.join(FIELDS)}")
    figures = {task: _figures(grades) for task, grades in grades_by_task.items() if grades}
    return RescoredRows(str(path), figures, _figures(all_grades))


def _figures(rows: Sequence[RowGrade]) -> Figures:
    scores = [row.score for row in rows if row.score is not None]
    return Figures(
        n=len(rows),
        paper=fmean(row.paper for row in rows),
        own=fmean(scores) if scores else None,
        unparsed=sum(row.answer is None for row in rows),
        without_reference=len(rows) - len(scores),
        without_context=sum(row.without_context for row in rows),
    )


def _grade_lines(path: Path) -> Iterator[tuple[int, str, RowGrade]]:
    if not os.path.exists(path) or os.path.isdir(path):
        raise UsageError(f"there is no file {path}; give a JSONL file with {', '.join(FIELDS)}")
    for number, line in enumerate(lines(path), 1):
        if line.strip():
            try:
                yield number, *_row(line.decode("utf-8-sig" if number == 1 else "utf-8"))
            except UnicodeDecodeError as error:
                raise UsageError(f"{path}:{number}: not UTF-8 text: {error.reason}; save it as UTF-8") from None
            except UsageError as error:
                raise UsageError(f"{path}:{number}: {error}") from None


def _row(line: str) -> tuple[str, RowGrade]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"not a line of JSON: {error}; write one object a line") from None
    if not isinstance(row, dict):
        kind = "list" if isinstance(row, list) else "value"
        raise UsageError(f"a {kind}, and no object with {', '.join(FIELDS)}: write one a line")
    if missing := [field for field in FIELDS if field not in row]:
        raise UsageError(f"a row needs {', '.join(FIELDS)}, and {missing[0]!r} is not there: add it")
    task, reply, prompt = (_text(row, field) for field in ("task", "reply", "prompt"))
    name = _FILE_NAMES.get(task, task)
    if name not in PRIMARY:
        raise UsageError(
            f"Minerva has no task {task[:60]!r}{nearest(task[:60], PRIMARY)}: its files' names are the tasks'"
        )
    return name, grade_row(name, row["reference"], reply, prompt)


def _text(row: Mapping[str, object], field: str) -> str:
    """Return a text of a row. A reply that never came is an empty one, as in the published scorer."""
    text = row.get(field)
    if not isinstance(text, str | None):
        raise UsageError(f"{field!r} is no text: write it as one")
    return text or ""
