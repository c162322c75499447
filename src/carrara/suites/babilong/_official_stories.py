"""The official bAbI story files: read as they are, and proved against what their text says.

A line is `ID sentence`, or `ID question`, tab, answer, tab, the IDs of the supporting facts. IDs count the lines of a
story, questions among them; ID 1 begins another story.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from carrara.core.errors import UsageError
from carrara.core.files import TEXT, open_binary
from carrara.core.types import Undecidable
from carrara.suites.babilong import _grammar as grammar
from carrara.suites.babilong._babilong import Babilong
from carrara.suites.babilong._teller import Asked, Story
from carrara.suites.babilong._twenty import TASKS, numbered

_NAME = re.compile(r"qa([0-9]{1,2})_.*\.txt")


@dataclass(frozen=True)
class Checked:
    """A file's questions, answered from their text."""

    file: str
    task: int
    questions: int
    answers: int
    """Answers that agree."""
    undecided: int
    """Questions that the text does not decide."""
    supports: int
    """Sets of supporting facts that agree."""
    in_order: int
    """Those that stand in the same order too."""
    suffice: int
    """The file's own sets that give the answer by themselves: of several chains (qa18) it may name any."""
    wrong: tuple[str, ...]
    """The answers that do not agree, in words."""
    not_understood: tuple[str, ...]
    """Sentences and questions that are not of the official forms, which proves nothing of a file."""


def files(folder: Path) -> list[tuple[int, Path]]:
    """The story files of a folder, by task."""
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; `babi` takes one with bAbI's files, such as qa1_…_test.txt")
    named = ((_NAME.fullmatch(path.name), path) for path in folder.iterdir())
    found = sorted((int(match[1]), path) for match, path in named if match and int(match[1]) in TASKS)
    if not found:
        raise UsageError(f"{folder} has no bAbI files; their names are such as qa1_…_test.txt, for tasks 1 to 20")
    return found


def read_stories(path: Path, test: Babilong[Any]) -> Iterator[Story]:
    """The stories of an official file. A line that is not in its format is named."""
    facts: list[str] = []
    questions: list[Asked] = []
    numbers: dict[str, int] = {}
    line = 0
    for line, text in enumerate(_lines(path), 1):
        number, _, said = text.partition(" ")
        if number == "1" and line > 1:
            yield Story(test.cast, tuple(facts), tuple(questions))
            facts, questions, numbers = [], [], {}
        if number != str(len(facts) + len(questions) + 1) or not said.strip():
            raise UsageError(f"{path}:{line}: {text[:80]!r} is not the next line of a story: an ID and a sentence")
        if "\t" not in said:
            numbers[number] = len(facts)
            facts.append(said)
            continue
        question, *rest = said.split("\t")
        told = rest[-1].split()
        if len(rest) != 2 or not rest[0].strip() or not told or not numbers.keys() >= set(told):
            raise UsageError(f"{path}:{line}: a question needs its answer and the IDs of facts before it, behind tabs")
        questions.append(Asked(question.rstrip(), rest[0], tuple(numbers[n] for n in told), len(facts)))
    if not line:
        raise UsageError(f"{path} is empty")
    yield Story(test.cast, tuple(facts), tuple(questions))


def check(path: Path, task: int) -> Checked:
    """Answer every question of a file from the sentences before it."""
    test = numbered(task)
    questions = answers = undecided = supports = in_order = suffice = 0
    wrong: list[str] = []
    strange: list[str] = []
    before = 0
    for number, told in enumerate(read_stories(path, test), 1):
        strange += [f"{path}:{before + line}: {text[:80]!r} is {what}" for line, text, what in _strange(test, told)]
        before += len(told.facts) + len(told.questions)
        for question in told.questions:
            questions += 1
            if not test.asks(question.text):
                continue
            try:
                solved = test.solution(told.facts[: question.after], question.text)
            except Undecidable:
                undecided += 1
                continue
            if solved.answer == question.answer:
                answers += 1
            else:
                says = f"The file says {question.answer!r}, its text {solved.answer!r}"
                wrong.append(f"{path.name}, story {number}: {question.text} {says}")
            supports += set(solved.support) == set(question.support)
            in_order += solved.support == question.support
            suffice += _suffices(test, told, question)
    if not questions:
        raise UsageError(f"{path} has no questions: nothing in it can be proved")
    found = questions, answers, undecided, supports, in_order, suffice
    return Checked(path.name, task, *found, wrong=tuple(wrong), not_understood=tuple(strange))


def _strange(test: Babilong[Any], told: Story) -> Iterator[tuple[int, str, str]]:
    """What of a story is not of the official forms: its line in the story, what it says, and what is wrong."""
    for i, fact in enumerate(told.facts):
        if grammar.read(fact) is None:
            yield 1 + i + sum(question.after <= i for question in told.questions), fact, "no sentence of bAbI's"
    for i, question in enumerate(told.questions):
        if not test.asks(question.text):
            yield 1 + i + question.after, question.text, f"no question of qa{test.number}"


def _suffices(test: Babilong[Any], told: Story, question: Asked) -> bool:
    try:
        alone = test.solution([told.facts[i] for i in sorted(question.support)], question.text)
    except Undecidable:
        return False
    return alone.answer == question.answer


def _lines(path: Path) -> Iterator[str]:
    try:
        with TextIOWrapper(open_binary(path, TEXT), encoding="utf-8") as file:
            for line in file:
                yield line.rstrip("\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from None
