"""RULER's own samples, run as they are: the tasks `published/ruler-niah_single_1` and so on, one for each of its 13.

RULER's scripts write a file of samples for each task, such as `4096/data/vt/validation.jsonl`. A sample is sent as it
stands there, with the prefix of its answer. Its paper score is RULER's. Our score takes wrong names off: of numbers,
UUIDs, variables or words, whatever the task asks for. The text is not solved: the references are the file's.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from carrara.answers import AnswerType
from carrara.answers.extraction import Extraction
from carrara.answers.reply_text import without_reasoning
from carrara.task import Instance
from carrara.tasks._published_prompts import PublishedPrompts
from carrara.tasks.classic import _published
from carrara.tasks.classic._answers import FreeAnswer, set_score
from carrara.tasks.classic._values import CODE, NUMBER
from carrara.tasks.published_rows import PublishedFile, files_of, find_files, tell_left_out
from carrara.types import Question, Segment
from carrara.util.errors import UsageError
from carrara.util.files import lines

PREFIX = "published/ruler-"
ENDING = ".jsonl"
COLUMNS = ("input", "outputs")
BUDGETS: Mapping[str, int] = {
    **dict.fromkeys(("niah_single_1", "niah_single_2", "niah_single_3"), 128),
    **dict.fromkeys(("niah_multikey_1", "niah_multikey_2", "niah_multikey_3"), 128),
    **dict.fromkeys(("niah_multivalue", "niah_multiquery"), 128),
    "vt": 30,
    "cwe": 120,
    "fwe": 50,
    **dict.fromkeys(("qa_1", "qa_2"), 32),
}
"""RULER's tasks, and the tokens that it lets a model generate in each."""
OURS: Mapping[str, str] = {name: f"classic/{name.partition('_')[0] if 'niah' in name else name}" for name in BUDGETS}
"""The task here that asks the same."""

_LISTED = re.compile(r"\b[0-9]+\. (\D+?)(?= [0-9]+\. |\s*\n)")
_LENGTH = re.compile(r"[1-9][0-9]{2,8}")
_VARIABLE, _CODED = re.compile(r"\b[A-Z]{5}\b"), re.compile(r"\b[a-z]{6}\b")


class Row(NamedTuple):
    prompt: str
    references: tuple[str, ...]


def _all(pattern: re.Pattern[str]) -> Callable[[str], Iterable[str]]:
    return lambda prompt: pattern.findall(prompt)


_CANDIDATES: Mapping[str, Callable[[str], Iterable[str]]] = {
    "vt": _all(_VARIABLE),
    "cwe": _all(_LISTED),
    "fwe": _all(_CODED),
}
"""The names of a prompt among which the references are, where their form alone does not tell."""


class Names(AnswerType[tuple[str, ...]]):
    """Several names: all that a reply states, in the order of the alphabet."""

    several_lines = True

    def write(self, answer: tuple[str, ...]) -> str:
        return ", ".join(answer)

    def parse_value(self, text: str, question: Question[tuple[str, ...]]) -> tuple[str, ...] | None:
        known = {name.casefold(): name for name in (*question.options, *question.gold)}
        names = {known.get(name.casefold(), name) for name in _names_in(text, question)}
        return tuple(sorted(names)) or None

    def read(self, reply: str, question: Question[tuple[str, ...]], ignore: Iterable[str] = ()) -> Extraction | None:
        answer = self.parse_value(without_reasoning(reply), question)
        return None if answer is None else Extraction(answer, "whole reply")

    def guesses(self, gold: tuple[str, ...], options: Sequence[str]) -> Sequence[tuple[str, ...]]:
        return [("unknown",)]

    def score(self, answer: tuple[str, ...], gold: tuple[str, ...]) -> float:
        return set_score(answer, tuple(set(gold)))


def _names_in(text: str, question: Question[tuple[str, ...]]) -> Iterable[str]:
    kind = next((kind for kind in (NUMBER, CODE) if kind.whole(question.gold[0]) is not None), None)
    if kind is not None:
        asked_names = set(kind.find(question.ask.rpartition("\n")[2])).difference(question.gold)
        return set(kind.find(text)) - asked_names
    return _pattern((*question.options, *question.gold)).findall(text)


@lru_cache(maxsize=4)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of any of these names as whole words."""
    longest = sorted(map(re.escape, set(names)), key=lambda name: (-len(name), name))
    return re.compile(rf"(?<![\w-])(?:{'|'.join(longest)})(?![\w-])", re.IGNORECASE)


class RulerSamples(PublishedPrompts):
    """The samples of a file of RULER's."""

    version, capability = 1, "RULER's tasks, as its scripts make them"

    def rows(self, length: int) -> Sequence[Row]:
        return _rows(self.data, self.file, length)

    def pose(self, row: Row) -> Instance:
        candidates = _CANDIDATES.get(self.file)
        return Instance(
            facts=(),
            opening=(Segment(row.prompt),),
            gold=row.references,
            options=tuple(dict.fromkeys(candidates(row.prompt))) if candidates else (),
            chance_level=0.0,
            labels={},
        )

    def questions(self, instance: Instance) -> Sequence[Question[tuple[str, ...]]]:
        [question] = super().questions(instance)
        return [replace(question, budget=BUDGETS[self.file])]

    def fill(self, wording: Mapping[str, str], part: str, instance: Instance) -> str:
        """Return the end of the prompt, which has the question."""
        [segment] = instance.start
        return segment.text[-1000:]

    def paper_scores(self, reply: str, question: Question[tuple[str, ...]]) -> Mapping[str, float]:
        return {"ruler": ruler_score(self.file, reply, question.gold)}


def ruler_score(task: str, reply: str, references: Sequence[str]) -> float:
    """Return RULER's score: the share of the references in the reply, and in question answering whether one is."""
    if task.startswith("qa_"):
        return max(_published.recall(reply, [reference]) for reference in references)
    return _published.recall(reply, references)


@cache
def load(name: str) -> type[RulerSamples]:
    """Return the task `published/ruler-TASK`."""
    file = name.removeprefix(PREFIX)
    if file not in BUDGETS:
        raise UsageError(f"RULER has no task {file!r}; it has {', '.join(BUDGETS)}")
    answer = FreeAnswer() if file.startswith("qa_") else Names()
    return type("Samples", (RulerSamples,), {"file": file, "title": f"RULER's {file} (published)", "answer": answer})


def sources(folder: Path) -> list[PublishedFile]:
    """Return the files of a folder and its subfolders: `4096/data/niah_single_1/validation.jsonl`."""
    if not os.path.exists(folder):
        raise UsageError(
            f"there is no folder {folder}: `published` takes one with the samples that RULER's scripts wrote"
        )
    published_files, others = list[PublishedFile](), list[Path]()
    for path in files_of(folder, (ENDING,)):
        if path.suffix.lower() != ENDING:
            continue
        if (task := path.absolute().parent.name) in BUDGETS:
            published_files.append(PublishedFile(PREFIX + task, _length(path, folder, task), path))
        else:
            others.append(path)
    if not published_files:
        raise UsageError(f"{folder} has no samples of RULER's, whose paths are such as vt/validation.jsonl")
    tell_left_out(others, "samples of RULER's are in a folder with the name of their task, such as vt")
    _check_single(published_files)
    return sorted(published_files)


def _check_single(published_files: Iterable[PublishedFile]) -> None:
    """Raise if a task has samples of a length in several folders, such as those made for two models."""
    folders = dict[tuple[str, int], Path]()
    for file in published_files:
        first = folders.setdefault((file.task, file.length), file.path.parent)
        if first != file.path.parent:
            raise UsageError(
                f"{first} and {file.path.parent} have samples of the same task and length: give a folder with one of "
                "them, such as that of one model"
            )


def _length(path: Path, folder: Path, task: str) -> int:
    """Return the length that a path names, or else the power of two that holds the longest sample."""
    first_part = len(folder.absolute().parts) - 1 if folder.is_dir() else -4
    length_parts = [part for part in path.absolute().parts[first_part:] if _LENGTH.fullmatch(part)]
    if length_parts:
        return int(length_parts[-1])
    lengths = [row.get("length") for row, _ in _read(path)]
    longest = max((length for length in lengths if isinstance(length, int)), default=0)
    if longest <= 0:
        raise UsageError(f"{path} names no length: put it into a folder such as 4096/{task}")
    return 1 << (longest - 1).bit_length()


@lru_cache(maxsize=32)
def _rows(data: str, task: str, length: int) -> Sequence[Row]:
    rows = []
    for path in find_files(data, PREFIX + task, length):
        for row, where in _read(path):
            references = row["outputs"]
            if not references or not all(map(_is_text, references)):
                raise UsageError(f"{where}: its outputs are no texts: mend the row, or take it out")
            rows.append(Row(row["input"] + row.get("answer_prefix", ""), tuple(references)))
    if not rows:
        raise UsageError(f"the published files {data} have no samples of {task} at {length}")
    return rows


def _is_text(value: object) -> bool:
    """Return whether a value is a text that can be written to a file. Half a character cannot."""
    return isinstance(value, str) and value != "" and value.encode(errors="ignore").decode() == value


def _read(path: Path) -> Iterable[tuple[dict[str, Any], str]]:
    """Yield the rows of a file, each with its place."""
    for number, line in enumerate(lines(path), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            row = json.loads(line)
            text = row["input"] + row.get("answer_prefix", "")
            text.encode()
            if not isinstance(row["outputs"], list):
                raise TypeError
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise UsageError(f"{where}: not a row of JSON with {' and '.join(COLUMNS)}, as RULER writes it") from None
        yield row, where
