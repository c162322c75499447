"""Readers of replies as grading uses them: on what a reply says of its own, without reasoning and made-up turns."""

from collections.abc import Callable
from typing import Any, TypeVar

from carrara.answers.grade import read
from carrara.answers.turns import heard
from carrara.core.types import Question
from carrara.task import Task

T = TypeVar("T")


def told(read: Callable[..., T | None], reply: str, *others: object, ask: str = "", **named: object) -> T | None:
    """What the first part of a reply says that says anything."""
    return next((answer for text in heard(reply, ask) if (answer := read(text, *others, **named)) is not None), None)


def answered(test: Task, reply: str, question: Question[Any]) -> Any:
    """The answer that a reply states, as it is graded."""
    stated = read(test, question, reply)
    return stated and stated.answer
