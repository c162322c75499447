"""Minerva's published snapshot, run as it is: the tests `published/minerva-count` and so on, one for each of its files.

A row has prompt and reference. Its prompt is what is sent, whole; its reply is read and scored as those of our own test
of the same, and beside that score stands the paper's. What the text says is not solved here: the gold answer is the
file's.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from carrara.answers.kinds import Answers
from carrara.answers.naming import ListName
from carrara.core.chance import Guesser
from carrara.core.errors import UsageError
from carrara.core.files import lines
from carrara.core.keys import Dice, Key
from carrara.core.types import Frame, Message, Piece, Question, Room, Style, Test, Undecidable, World
from carrara.tasks.minerva._given import ANSWERS, posed
from carrara.tasks.minerva._published import MARKED, PRIMARY, primary
from carrara.text.rows import Source, files_of, located

PREFIX = "published/minerva-"
ENDING = ".jsonl"
LENGTH = 4000
"""What every row of the published files says of its context, but those that are as long as their steps: they have 0."""
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
"""The test here that asks the same, by the names of the files."""


@dataclass(frozen=True)
class Given:
    data: str = field(default="", metadata={"reads": str})
    """The files, by their hash."""


class Row(NamedTuple):
    prompt: str
    reference: str
    """As JSON."""


@dataclass(frozen=True)
class Stated:
    """An answer, and of a gold one the reference that the published scorer compares with."""

    value: Any
    reference: str = field(default="", compare=False)


class Published(Test[Given, Row, Stated]):
    version = 1
    capability = "programmable memory, as published"
    parameters = Given
    sized = True
    wording: ClassVar[Mapping[str, str]] = {}
    file: ClassVar[str]

    @property
    def _answers(self) -> Answers[Any]:
        return ANSWERS[self.file]

    def given(self, params: Given, length: int) -> int | None:
        return len(_rows(params.data, self.file, length))

    def world(self, key: Key, params: Given, room: Room | None) -> World[Row]:
        assert room is not None
        there = _rows(params.data, self.file, room.tokens)
        if key.index >= len(there):
            raise UsageError(f"the published file of {key.task} has {len(there)} rows, and none numbered {key.index}")
        row = there[key.index]
        return World(row, updates=(), opening=(Piece(row.prompt),))

    def questions(self, world: World[Row], key: Key, params: Given) -> Sequence[Question[Stated]]:
        row = world.structure
        asked = posed(self.file, json.loads(row.reference), row.prompt).question
        gold = Stated(asked.gold, row.reference)
        return [
            Question(
                asked.ask, gold, (), asked.chance_level, {"file": self.file}, budget=asked.budget, options=asked.options
            )
        ]

    def frame(self, world: World[Row], question: Question[Stated], wording: Mapping[str, str], style: Style) -> Frame:
        return Frame("", "")

    def solve(self, messages: Sequence[Message]) -> Stated:
        raise Undecidable("published rows of Minerva are not solved from their text: their answers are the file's")

    def write(self, answer: Stated) -> str:
        return self._answers.write(answer.value)

    def parse(self, reply: str, question: Question[Stated]) -> Stated | None:
        value = self._answers.read(reply, _bare(question))
        return None if value is None else Stated(value)

    def guess(self, dice: Dice, world: World[Row], question: Question[Stated]) -> Stated:
        return Stated(self._answers.guess(dice, question.gold.value, question.options))

    def score(self, answer: Stated, question: Question[Stated]) -> float:
        return self._answers.score(answer.value, question.gold.value)

    def published(self, reply: str, question: Question[Stated]) -> Mapping[str, float]:
        return {"minerva": primary(self.file, json.loads(question.gold.reference), reply)}


def _bare(question: Question[Stated]) -> Question[Any]:
    gold = question.gold.value
    return Question(question.ask, gold, (), question.chance_level, options=question.options)


@cache
def load(name: str) -> Published:
    """The test `published/minerva-FILE`."""
    file = name.removeprefix(PREFIX)
    if file not in PRIMARY:
        raise UsageError(f"Minerva's snapshot has no file {file!r}; it has {', '.join(PRIMARY)}")
    guesser: Guesser = "context candidates" if isinstance(ANSWERS[file], ListName) else "without context"
    own = {"file": file, "title": f"Minerva's {file} (published)", "guesser": guesser}
    made: type[Published] = type("Snapshot", (Published,), own)
    return made()


def sources(folder: Path) -> list[Source]:
    """The files of a folder, wherever they are in it, by their names: `search/string_search_word.jsonl`."""
    if not os.path.exists(folder):
        raise UsageError(f"there is no folder {folder}: `published` takes one with the files of Minerva's snapshot")
    found = [
        Source(PREFIX + path.stem, 0 if path.stem in MARKED else LENGTH, path)
        for path in files_of(folder, (ENDING,))
        if path.suffix.lower() == ENDING and path.stem in PRIMARY
    ]
    if not found:
        raise UsageError(f"{folder} has no file of Minerva's snapshot: their names are such as count.jsonl")
    return sorted(found)


@lru_cache(maxsize=64)
def _rows(data: str, file: str, length: int) -> Sequence[Row]:
    found = [row for path in located(data, PREFIX + file, length) for row in _read(path, file)]
    if not found:
        raise UsageError(f"the published files {data} have no rows of {file} at {length}")
    return found


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
        except (ValueError, TypeError, KeyError, RecursionError):
            raise UsageError(f"{path}:{number}: not a row of JSON with the texts prompt and reference") from None
        try:
            posed(file, reference, prompt)
        except UsageError as error:
            raise UsageError(f"{path}:{number}: {error}") from None
        rows.append(Row(prompt, json.dumps(reference)))
    return rows
