"""The answer that a reply states, as it is graded."""

from typing import Any

from carrara.task.suite import SuiteTask
from carrara.types import Question


def answered(task: SuiteTask, reply: str, question: Question[Any]) -> Any:
    """Return the answer that a task reads from a reply; None if the reply states none."""
    found = task.read(reply, question)
    return found and found.answer
