"""Places on a map and figures on a sheet: what lies beside what, and the way from one to another (qa4, 17, 19)."""

from carrara.tasks.babilong._facts import Lies, Way, opposite
from carrara.tasks.babilong._story import History
from carrara.types import UndecidableError

Edges = dict[str, list[tuple[str, Way, int]]]


def edges(history: History) -> Edges:
    """Return the neighbours of every place: which way they lie, and the number of the fact that says so."""
    neighbours: Edges = {}
    for index, fact in history.all(Lies):
        neighbours.setdefault(fact.subject, []).append((fact.reference, opposite(fact.way), index))
        neighbours.setdefault(fact.reference, []).append((fact.subject, fact.way, index))
    return neighbours


def find_steps(history: History, start: str, goal: str) -> list[tuple[Way, int]]:
    """Return the shortest chain of facts from the start to the goal; of several, the one with the earliest facts.

    Each step is a direction, with the number of the fact that gives it.
    """
    neighbours = edges(history)
    previous: dict[str, tuple[str, Way, int] | None] = {start: None}
    queue = [start]
    for here in queue:
        for neighbour, way, index in neighbours.get(here, ()):
            if neighbour not in previous:
                previous[neighbour] = here, way, index
                queue.append(neighbour)
    steps: list[tuple[Way, int]] = []
    here = goal
    while (step := previous.get(here)) is not None:
        here, way, index = step
        steps.append((way, index))
    if not steps:
        raise UndecidableError(f"nothing joins the {start} to the {goal}")
    return steps[::-1]
