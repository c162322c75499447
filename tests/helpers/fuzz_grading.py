"""Grades drawn replies (fuzz.py) as a model's would be, and looks at what a grade promises.

Besides raising nothing it has a score from 0 to 1 and a status that there is, counts 0 where nothing was read, and is
the same when the reply is graded again.
"""

import math
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

from carrara.answers.status import STATUSES
from carrara.items.grading import Grade, grade
from tests.helpers.fuzz import Case

AGAIN = 4
"""One reply in so many is graded twice."""
LONG = 10_000
"""Characters from which a reply's time is told by its length."""


@dataclass
class Found:
    """What came of some replies."""

    replies: int = 0
    characters: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    """What went wrong, with the case."""
    times: list[float] = field(default_factory=list)
    """Milliseconds of every tenth reply."""
    slowest: tuple[float, str, int] = (0.0, "", 0)
    """Milliseconds, the case and its characters."""
    slowest_long: tuple[float, str, int] = (0.0, "", 0)
    """Milliseconds for 1,000 characters, of the long ones alone."""

    def add(self, other: "Found") -> None:
        self.replies += other.replies
        self.characters += other.characters
        self.statuses += other.statuses
        self.failures += other.failures
        self.times += other.times
        self.slowest = max(self.slowest, other.slowest)
        self.slowest_long = max(self.slowest_long, other.slowest_long)


def try_all(job: tuple[str, int, range]) -> Found:
    """Grade some of a task's replies."""
    task, seed, numbers = job
    found = Found()
    for number in numbers:
        case = Case(task, seed, number)
        try_one(case, case.reply, found)
    return found


def try_one(case: Case, reply: str, found: Found) -> None:
    name = f"{case.task}:{case.number}"
    item = case.asked.item
    found.replies += 1
    found.characters += len(reply)
    clock = time.perf_counter()
    try:
        graded = grade(item.task, item.question, reply)
    except Exception as error:
        found.failures.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")
        return
    taken = 1e3 * (time.perf_counter() - clock)
    found.statuses[graded.status] += 1
    found.failures += [f"{name}: {broken}" for broken in broken_promises(graded)]
    if case.number % AGAIN == 0 and repr(grade(item.task, item.question, reply)) != repr(graded):
        found.failures.append(f"{name}: another grade when it is graded again")
    if case.number % 10 == 0:
        found.times.append(taken)
    found.slowest = max(found.slowest, (taken, name, len(reply)))
    if len(reply) >= LONG:
        found.slowest_long = max(found.slowest_long, (1e3 * taken / len(reply), name, len(reply)))


def broken_promises(graded: Grade) -> Iterable[str]:
    if graded.status not in STATUSES:
        yield f"the status {graded.status!r}, which there is not"
    for name, score in {"score": graded.score, **graded.scores}.items():
        if not (isinstance(score, int | float) and math.isfinite(score) and 0 <= score <= 1):
            yield f"{name} is {score!r}"
    if graded.score and (graded.answer is None or graded.status != "ok"):
        yield f"a score of {graded.score} with the answer {graded.answer!r} and the status {graded.status!r}"
    if graded.status == "ok" and graded.answer is None:
        yield "the status 'ok' without an answer"


def line(name: str, found: Found) -> str:
    shares = ", ".join(f"{status} {100 * n / found.replies:.1f} %" for status, n in found.statuses.most_common())
    slowest, case, characters = found.slowest
    rate, of, size = found.slowest_long
    long = f"; long ones up to {rate:.2f} ms for 1,000 characters ({size:,} in {of})" if of else ""
    return (
        f"{name}: {found.replies:,} replies of {found.characters / max(1, found.replies):,.0f} characters, "
        f"{len(found.failures)} failures; {shares}\n"
        f"    median {median(found.times or [0]):.2f} ms, slowest {slowest:,.0f} ms ({characters:,} in {case}){long}"
    )
