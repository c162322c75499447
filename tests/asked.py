"""What a kind of answer reads out of a reply to a question."""

from typing import Any

from carrara.answers.kinds import Answers
from carrara.core.types import Question
from tests.told import told

COMES_BEFORE = 'Does the word "oak" come before the word "ash" in the context?'
LISTS = tuple(f"List {n}" for n in range(1, 5))


def read(answers: Answers[Any], reply: str, ask: str = "", options: tuple[str, ...] = ()) -> Any:
    return told(answers.read, reply, Question(ask, None, (), 0.0, options=options), ask=ask)
