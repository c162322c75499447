"""Places on a map and figures on a sheet: what lies beside what, and the way from one to another (qa4, 17, 19)."""

from carrara.tasks.babilong._facts import Lies, Way, opposite
from carrara.tasks.babilong._story import History
from carrara.types import UndecidableError

Edges = dict[str, list[tuple[str, Way, int]]]


def edges(history: History) -> Edges:
    """Return the neighbours of every place: which way they lie, and the number of the fact that says so."""
    found: Edges = {}
    for index, fact in history.all(Lies):
        found.setdefault(fact.one, []).append((fact.other, opposite(fact.way), index))
        found.setdefault(fact.other, []).append((fact.one, fact.way, index))
    return found


def way(history: History, start: str, goal: str) -> list[tuple[Way, int]]:
    """Return the shortest chain of facts from one to the other, breadth first: the earliest fact wins a draw."""
    around = edges(history)
    back: dict[str, tuple[str, Way, int] | None] = {start: None}
    queue = [start]
    for here in queue:
        for other, there, index in around.get(here, ()):
            if other not in back:
                back[other] = here, there, index
                queue.append(other)
    steps: list[tuple[Way, int]] = []
    here = goal
    while (step := back.get(here)) is not None:
        here, there, index = step
        steps.append((there, index))
    if not steps:
        raise UndecidableError(f"nothing joins the {start} to the {goal}")
    return steps[::-1]
