"""What a published row of BABILong has to be: a question of its task, and one of the answers to it."""

from carrara.core.errors import UsageError
from carrara.suites.babilong._asking import asked
from carrara.suites.babilong._reply import options
from carrara.suites.babilong._solvers import QUERIES
from carrara.suites.babilong._words import CLASSIC, labels


def gold(task: int, question: str, target: str) -> str:
    """A target as the official files write it, whatever its case. Raises where the row is none of the task.

    >>> gold(5, "Who gave the milk to Fred?", " bill")
    'Bill'
    """
    if not isinstance(asked(question), QUERIES[task]):
        raise UsageError(f"{question.strip()[:60]!r} is no question of qa{task}")
    own = {option.lower(): option for option in options(task, question, labels(task, CLASSIC[task]))}
    said = target.strip().lower()
    parts = [own.get(part) for part in (said.split(",") if task == 8 else [said])]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        raise UsageError(f"{target.strip()[:60]!r} is no answer to qa{task}'s {question.strip()!r}")
    return ",".join(found)
