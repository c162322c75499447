"""Minerva's published snapshot, run as it is: the tasks `published/minerva-count` and so on, one for each of its files.

A row has a prompt and a reference. The whole prompt is sent as it is. The reply is read and scored as in the task here
that asks the same, and the paper's score stands beside. The text is not solved: the gold answer is the file's.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from carrara.answers import AnswerType, ListName
from carrara.answers.extraction import Extraction
from carrara.rng import Rng
from carrara.task import Instance
from carrara.tasks._published_prompts import PublishedPrompts
from carrara.tasks.minerva._given import ANSWERS, read_row
from carrara.tasks.minerva._published import MARKED, PRIMARY, primary
from carrara.tasks.published_rows import PublishedFile, files_of, find_files
from carrara.types import Guesser, Question, Segment
from carrara.util.errors import UsageError
from carrara.util.files import lines

PREFIX = "published/minerva-"
ENDING = ".jsonl"
LENGTH = 4000
"""The context length that the published files state. Files whose contexts are as long as their steps have 0."""
OURS: Mapping[str, str] = {
    "string_search_word": "word_search",
    "string_search_gibberish": "word_search",
    "string_search_sequence": "sequence_search",
    "key_value_search": "key_value",
    "batch_key_value_search": "batch",
    "snapshot_unique_words": "snapshot",
    "snapshot_random_numbers": "snapshot",
    "replace_all": "replace",
    "replace_all_x_to_null": "replace",
    "overwrite_positions": "overwrite",
    "overwrite_positions_nth_to_null": "overwrite",
    "functional_updates": "functional",
    "compare_positions": "positions",
    "find_duplicates": "duplicates",
    "count": "count",
    "check_association": "association",
    "compare_two_lists": "two_lists",
    "identify_odd_group": "odd_group",
    "patch_the_difference": "patch",
    "group_membership": "membership",
    "group_association": "group_association",
    "alternating_group_association": "alternating",
    "iterate_last": "iterate",
    "iterate_first": "iterate",
    "quantity_state": "quantity",
    "set_state": "set_state",
    "processing_data_blocks": "blocks",
    "theory_of_mind": "theory_of_mind",
}
"""The task here that asks the same, by the name of the file."""


class Row(NamedTuple):
    prompt: str
    reference: str
    """The reference as JSON."""


@dataclass(frozen=True)
class ReferenceAnswer:
    """An answer. A gold answer also has the reference that the published scorer compares with."""

    value: Any
    reference: str = field(default="", compare=False)


class FileAnswers(AnswerType[ReferenceAnswer]):
    """The answers of a published file, read and scored as those of the task here that asks the same."""

    def __init__(self, file: str) -> None:
        self._answers = ANSWERS[file]

    def write(self, answer: ReferenceAnswer) -> str:
        return self._answers.write(answer.value)

    def parse_value(self, text: str, question: Question[ReferenceAnswer]) -> ReferenceAnswer | None:
        value = self._answers.parse_value(text, _our_question(question))
        return None if value is None else ReferenceAnswer(value)

    def read(self, reply: str, question: Question[ReferenceAnswer], ignore: Iterable[str] = ()) -> Extraction | None:
        extraction = self._answers.read(reply, _our_question(question), ignore)
        return None if extraction is None else Extraction(ReferenceAnswer(extraction.answer), extraction.rule)

    def guess(self, rng: Rng, gold: ReferenceAnswer, options: Sequence[str] = ()) -> ReferenceAnswer:
        return ReferenceAnswer(self._answers.guess(rng, gold.value, options))

    def score(self, answer: ReferenceAnswer, gold: ReferenceAnswer) -> float:
        return self._answers.score(answer.value, gold.value)


def _our_question(question: Question[ReferenceAnswer]) -> Question[Any]:
    """Return the question as the task here asks it."""
    return Question(question.ask, question.gold.value, (), question.chance_level, options=question.options)


class PublishedSnapshot(PublishedPrompts):
    """The rows of a published file."""

    version, capability = 1, "programmable memory, as published"

    def rows(self, length: int) -> Sequence[Row]:
        return _rows(self.data, self.file, length)

    def pose(self, row: Row) -> Instance:
        posed_row = read_row(self.file, json.loads(row.reference), row.prompt).question
        question = replace(posed_row, gold=ReferenceAnswer(posed_row.gold, row.reference), labels={"file": self.file})
        return Instance(facts=(), opening=(Segment(row.prompt),), gold=question.gold, structure=question)

    def questions(self, instance: Instance) -> Sequence[Question[ReferenceAnswer]]:
        return [instance.structure]

    def paper_scores(self, reply: str, question: Question[ReferenceAnswer]) -> Mapping[str, float]:
        return {"minerva": primary(self.file, json.loads(question.gold.reference), reply)}


@cache
def load(name: str) -> type[PublishedSnapshot]:
    """Return the task `published/minerva-FILE`."""
    file = name.removeprefix(PREFIX)
    if file not in PRIMARY:
        raise UsageError(f"Minerva's snapshot has no file {file!r}; it has {', '.join(PRIMARY)}")
    guesser: Guesser = "context candidates" if isinstance(ANSWERS[file], ListName) else "without context"
    attributes = {
        "file": file,
        "title": f"Minerva's {file} (published)",
        "guesser": guesser,
        "answer": FileAnswers(file),
    }
    return type("Snapshot", (PublishedSnapshot,), attributes)


def sources(folder: Path) -> list[PublishedFile]:
    """Return the files of a folder and its subfolders, found by their names: `search/string_search_word.jsonl`."""
    if not os.path.exists(folder):
        raise UsageError(f"there is no folder {folder}: `published` takes one with the files of Minerva's snapshot")
    files = [
        PublishedFile(PREFIX + path.stem, 0 if path.stem in MARKED else LENGTH, path)
        for path in files_of(folder, (ENDING,))
        if path.suffix.lower() == ENDING and path.stem in PRIMARY
    ]
    if not files:
        raise UsageError(f"{folder} has no file of Minerva's snapshot: their names are such as count.jsonl")
    return sorted(files)


@lru_cache(maxsize=64)
def _rows(data: str, file: str, length: int) -> Sequence[Row]:
    rows = [row for path in find_files(data, PREFIX + file, length) for row in _read(path, file)]
    if not rows:
        raise UsageError(f"the published files {data} have no rows of {file} at {length}")
    return rows


def _read(path: Path, file: str) -> list[Row]:
    rows = []
    for number, line in enumerate(lines(path), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            prompt, reference = row["prompt"], row["reference"]
            if not isinstance(prompt, str):
                raise TypeError
            prompt.encode()
        except (ValueError, TypeError, KeyError, RecursionError):
            raise UsageError(f"{path}:{number}: not a row of JSON with the texts prompt and reference") from None
        try:
            read_row(file, reference, prompt)
        except UsageError as error:
            raise UsageError(f"{path}:{number}: {error}") from None
        rows.append(Row(prompt, json.dumps(reference)))
    return rows
