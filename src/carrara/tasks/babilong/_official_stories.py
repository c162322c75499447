"""The official bAbI story files, proved against what their text says."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from carrara.tasks.babilong import _grammar as grammar
from carrara.tasks.babilong._story import Story, StoryQuestion
from carrara.tasks.babilong._story_files import read_stories
from carrara.tasks.babilong._task import Babilong, load_task
from carrara.types import UndecidableError
from carrara.util.errors import UsageError


@dataclass(frozen=True)
class CheckedFile:
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
    """Sets that agree in their order too."""
    suffice: int
    """The file's own sets that give the answer by themselves. Where several chains do (qa18), it may name any."""
    wrong: tuple[str, ...]
    """The answers that do not agree, in words."""
    not_understood: tuple[str, ...]
    """Sentences and questions that are not of the official forms, which proves nothing of a file."""


def check(path: Path, task: int) -> CheckedFile:
    """Answer every question of a file from the sentences before it."""
    babilong_task = load_task(task)
    questions = answers = undecided = supports = in_order = suffice = 0
    wrong: list[str] = []
    not_understood: list[str] = []
    before = 0
    for number, story in enumerate(read_stories(path, babilong_task.cast), 1):
        not_understood += [
            f"{path}:{before + line}: {text[:80]!r} is {what}"
            for line, text, what in _find_unofficial(babilong_task, story)
        ]
        before += len(story.facts) + len(story.questions)
        for question in story.questions:
            questions += 1
            if not babilong_task.is_question(question.text):
                continue
            try:
                solution = babilong_task.solution(story.facts[: question.after], question.text)
            except UndecidableError:
                undecided += 1
                continue
            if solution.answer == question.answer:
                answers += 1
            else:
                says = f"The file says {question.answer!r}, its text {solution.answer!r}"
                wrong.append(f"{path.name}, story {number}: {question.text} {says}")
            supports += set(solution.support) == set(question.support)
            in_order += solution.support == question.support
            suffice += _suffices(babilong_task, story, question)
    if not questions:
        raise UsageError(f"{path} has no questions: nothing in it can be proved")
    counts = questions, answers, undecided, supports, in_order, suffice
    return CheckedFile(path.name, task, *counts, wrong=tuple(wrong), not_understood=tuple(not_understood))


def _find_unofficial(task: Babilong[Any], story: Story) -> Iterator[tuple[int, str, str]]:
    """Yield what is not of the official forms: its line in the story, its text, and what is wrong."""
    for i, fact in enumerate(story.facts):
        if grammar.read(fact) is None:
            yield 1 + i + sum(question.after <= i for question in story.questions), fact, "no sentence of bAbI's"
    for i, question in enumerate(story.questions):
        if not task.is_question(question.text):
            yield 1 + i + question.after, question.text, f"no question of qa{task.number}"


def _suffices(task: Babilong[Any], story: Story, question: StoryQuestion) -> bool:
    try:
        solution = task.solution([story.facts[i] for i in sorted(question.support)], question.text)
    except UndecidableError:
        return False
    return solution.answer == question.answer
