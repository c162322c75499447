"""Read scores on other benchmarks from a CSV file with the columns model, benchmark and score.

Further columns are ignored. Any scale is possible, because only the order of models counts.
"""

import csv
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import IO

from carrara.util.errors import UsageError
from carrara.util.files import SMALL, open_binary

COLUMNS = ("model", "benchmark", "score")


@dataclass(frozen=True)
class ExternalScore:
    place: str
    """`FILE:LINE`, for messages."""
    model: str
    benchmark: str
    score: float


def read_external_scores(path: Path) -> list[ExternalScore]:
    if not os.path.exists(path) or os.path.isdir(path):
        raise UsageError(f"there is no file {path}; give a CSV file with the columns {', '.join(COLUMNS)}")
    try:
        with TextIOWrapper(open_binary(path, SMALL), encoding="utf-8-sig", newline="") as file:
            rows = list(_rows(path, file))
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}; give a readable CSV file") from None
    if not rows:
        raise UsageError(f"{path} is an empty table; a row needs {', '.join(COLUMNS)}")
    return rows


def _rows(path: Path, file: IO[str]) -> Iterator[ExternalScore]:
    table = csv.reader(file, strict=True)
    places: list[int] = []
    try:
        for row in table:
            if not row:
                continue
            if not places:
                heads, places = len(row), _places(path, row)
            elif len(row) != heads:
                raise UsageError(f"{path}:{table.line_num}: the row has {len(row)} fields, and the table {heads}")
            else:
                yield _score(f"{path}:{table.line_num}", *(row[place].strip() for place in places))
    except csv.Error as error:
        raise UsageError(f"{path}:{table.line_num}: not a row of CSV: {error}") from None


def _places(path: Path, row: list[str]) -> list[int]:
    heads = [head.strip().lower() for head in row]
    for column in COLUMNS:
        if heads.count(column) != 1:
            has = ", ".join(filter(None, heads)) or "none"
            many = "no column" if column not in heads else "several columns"
            raise UsageError(f"{path} has {many} {column!r}, and needs one each of {', '.join(COLUMNS)}; it has {has}")
    return [heads.index(column) for column in COLUMNS]


def _score(place: str, model: str, benchmark: str, score: str) -> ExternalScore:
    for column, cell in (("model", model), ("benchmark", benchmark)):
        if not cell:
            raise UsageError(f"{place}: the {column} is empty; name it, or leave the row out")
    try:
        number = math.nan if "_" in score else float(score)  # Python parses this as a number
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"{place}: the score {score!r} is no number; write it as 63.2, or leave the row out")
    return ExternalScore(place, model, benchmark, number)
