"""Predictions that others have published, scored anew: by the published metric and by our own reading.

BABILong's are tables with the columns target, output and question; an index column may be there.
"""

import csv
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import IO, NamedTuple

from carrara.tasks.babilong._answers import published_metric
from carrara.tasks.babilong._task import TASKS, load_task
from carrara.types import Question
from carrara.util.errors import UsageError, nearest
from carrara.util.files import open_binary

COLUMNS = ("target", "output", "question")
_NAMED = re.compile(r"(?<![A-Za-z0-9])qa([0-9]{1,3})(?![0-9])", re.IGNORECASE)
_TASK = re.compile(r"(?:qa)?([0-9]{1,3})", re.IGNORECASE)
_EMPTY_CELLS = frozenset(
    (
        *("NULL", "null", "None", "NaN", "nan", "-NaN", "-nan", "NA", "N/A", "n/a", "<NA>", "#NA", "#N/A", "#N/A N/A"),
        *("1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    )
)
"""Cells that pandas takes for empty."""
_LARGEST = 2**31 - 1
"""The longest cell that the csv module can be set to read on every platform."""


@dataclass(frozen=True)
class Prediction:
    line: int
    is_csv: bool
    """Whether it is a row of CSV, which the published metric read with pandas."""
    target: str
    output: str
    question: str

    @property
    def output_published(self) -> str:
        """The output as the published metric read it. The reply itself may be `None`, which is an answer in qa7."""
        return "" if self.is_csv and self.output in _EMPTY_CELLS else self.output


@dataclass(frozen=True)
class RescoredFile:
    file: str
    task: str
    n: int
    paper: int
    """Right by the published metric."""
    own: int
    """Right by what the reply says."""
    unparsed: int
    """Replies that state no answer, or leave it open."""


class GradedPrediction(NamedTuple):
    """A published reply with its verdicts."""

    paper: bool
    """Whether the published metric counts it as right."""
    answer: object
    """The answer that is read from the reply. None if it states none, or leaves it open."""
    own: bool
    """Whether that answer is right."""
    chance_level: float


def grade_predictions(path: Path, task: int) -> Iterator[GradedPrediction]:
    """Yield the verdicts on the predictions of a file for one of the twenty tasks."""
    babilong_task = load_task(task)
    for prediction in predictions(path):
        try:
            target = babilong_task.official_gold(prediction.question, prediction.target)
        except UsageError as error:
            raise UsageError(
                f"{path}:{prediction.line}: {error}: mend the row, or name the file's task with `task`"
            ) from None
        query = babilong_task.query(prediction.question)
        options = babilong_task.options(query, babilong_task.cast)
        question = Question(prediction.question, target, (), 0.0, options=options)
        extraction = babilong_task.read(prediction.output, question)
        answer = extraction and extraction.answer
        yield GradedPrediction(
            published_metric(babilong_task.official_labels, prediction.output_published, target, prediction.question),
            answer,
            answer is not None and babilong_task.score(answer, question) == 1,
            babilong_task.chance_level(query, babilong_task.cast),
        )


def rescore(path: Path, task: int) -> RescoredFile:
    """Score the predictions of a file for one of the twenty tasks."""
    graded = list(grade_predictions(path, task))
    return RescoredFile(
        str(path),
        f"qa{task}",
        len(graded),
        sum(row.paper for row in graded),
        sum(row.own for row in graded),
        sum(row.answer is None for row in graded),
    )


def task_number(name: str | None, path: Path) -> int:
    """Return the number of a task from its name (`qa1`), or else from the name of a file."""
    names = [f"qa{number}" for number in TASKS]
    if name is not None:
        match = _TASK.fullmatch(name.strip())
        if match is None or int(match[1]) not in TASKS:
            raise UsageError(f"BABILong has no task {name!r}{nearest(name, names)}; there are qa1 to qa20")
        return int(match[1])
    numbers = {int(number) for number in _NAMED.findall(path.name.replace("_", " "))} & set(TASKS)
    if len(numbers) != 1:
        raise UsageError(f"the name of {path} does not tell the task; add `task=qa1` (to qa20)")
    return numbers.pop()


def predictions(path: Path) -> Iterator[Prediction]:
    """Yield the rows of a CSV or JSONL file. An empty output is an empty reply."""
    if not os.path.exists(path) or os.path.isdir(path):
        raise UsageError(f"there is no file {path}; give a CSV or JSONL file with {', '.join(COLUMNS)}")
    empty = True
    try:
        with TextIOWrapper(open_binary(path), encoding="utf-8-sig", newline="") as file:
            for row in _objects(path, file) if path.suffix in (".jsonl", ".json") else _table(path, file):
                empty = False
                yield row
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from None
    if empty:
        raise UsageError(f"{path} has no predictions; a row needs {', '.join(COLUMNS)}")


def _table(path: Path, file: IO[str]) -> Iterator[Prediction]:
    limit = csv.field_size_limit(_LARGEST)
    try:
        rows = csv.reader(file, strict=True)
        header = next(rows, [])
        if header and (missing := [column for column in COLUMNS if column not in header]):
            raise UsageError(f"{path} has no column {missing[0]!r}; it has {', '.join(filter(None, header)) or 'none'}")
        places = [header.index(column) for column in COLUMNS] if header else []
        for row in rows:
            if row and len(row) != len(header):
                raise UsageError(f"{path}:{rows.line_num}: the row has {len(row)} fields, and the table {len(header)}")
            if row:
                yield Prediction(rows.line_num, True, *(row[place] for place in places))
    except csv.Error as error:
        raise UsageError(f"{path}:{rows.line_num}: not a row of CSV: {error}") from None
    finally:
        csv.field_size_limit(limit)


def _objects(path: Path, file: IO[str]) -> Iterator[Prediction]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}:{number}: not a line of JSON: {error}; write one object a line") from None
        if not isinstance(row, dict):
            kind = "list" if isinstance(row, list) else "value"
            raise UsageError(f"{path}:{number}: a {kind}, and no object with {', '.join(COLUMNS)}: write one a line")
        cells = [row.get(column) for column in COLUMNS]
        if "output" in row and row["output"] is None:
            cells[COLUMNS.index("output")] = ""  # how tables write an empty reply when they become JSON
        missing = [column for column, cell in zip(COLUMNS, cells, strict=True) if not isinstance(cell, str)]
        if missing:
            raise UsageError(f"{path}:{number}: a row needs {', '.join(COLUMNS)} as texts; {missing[0]!r} is none")
        yield Prediction(number, False, *map(str, cells))
