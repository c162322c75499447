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
from typing import Literal, NamedTuple

from carrara.tasks.minerva._given import RowGrade, grade_row
from carrara.tasks.minerva._published import PRIMARY
from carrara.util.errors import UsageError, nearest
from carrara.util.files import lines

FIELDS = ("task", "reference", "reply")
_CALLED = {"identify_the_odd_group": "identify_odd_group"}
"""A task that the published code calls by another name than the file."""


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


class _Marks(NamedTuple):
    paper: float
    own: float | None
    unparsed: bool
    bare: bool


def rescore(path: Path, keep: Callable[[ScoredRow], object] = lambda scored: None) -> RescoredRows:
    """Score the rows of a file, and show each to `keep`."""
    found: dict[str, list[_Marks]] = {task: [] for task in PRIMARY}
    for line, task, one in _grade_lines(path):
        unparsed = one.answer is None
        found[task].append(_Marks(one.paper, one.own, unparsed, one.bare))
        keep(ScoredRow(line, task, one.paper, one.own, one.answer, "unparsed" if unparsed else "ok"))
    every = [marks for task in found.values() for marks in task]
    if not every:
        raise UsageError(f"{path} has no rows; a row needs {', '.join(FIELDS)}")
    return RescoredRows(str(path), {task: _figures(marks) for task, marks in found.items() if marks}, _figures(every))


def _figures(marks: Sequence[_Marks]) -> Figures:
    own = [one.own for one in marks if one.own is not None]
    return Figures(
        n=len(marks),
        paper=fmean(one.paper for one in marks),
        own=fmean(own) if own else None,
        unparsed=sum(one.unparsed for one in marks),
        without_reference=len(marks) - len(own),
        without_context=sum(one.bare for one in marks),
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
        what = "list" if isinstance(row, list) else "value"
        raise UsageError(f"a {what}, and no object with {', '.join(FIELDS)}: write one a line")
    if missing := [field for field in FIELDS if field not in row]:
        raise UsageError(f"a row needs {', '.join(FIELDS)}, and {missing[0]!r} is not there: add it")
    task, reply, prompt = (_text(row, field) for field in ("task", "reply", "prompt"))
    name = _CALLED.get(task, task)
    if name not in PRIMARY:
        raise UsageError(
            f"Minerva has no task {task[:60]!r}{nearest(task[:60], PRIMARY)}: its files' names are the tasks'"
        )
    return name, grade_row(name, row["reference"], reply, prompt)


def _text(row: Mapping[str, object], field: str) -> str:
    """A reply that never came is an empty one, as to the published scorer."""
    text = row.get(field)
    if not isinstance(text, str | None):
        raise UsageError(f"{field!r} is no text: write it as one")
    return text or ""
