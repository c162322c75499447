"""Places on a map and figures on a sheet: neighbours, sides and ways (tasks 4, 17, 19)."""

from carrara.core.types import Undecidable
from carrara.suites.babilong._facts import STEP, IsBeside, Lies, Neighbour, Path, Solved, Way, opposite
from carrara.suites.babilong._history import History

Edges = dict[str, list[tuple[str, Way, int]]]


def edges(lies: list[tuple[int, Lies]]) -> Edges:
    """From every place to its neighbours: which way they lie, and the fact that says so."""
    found: Edges = {}
    for index, fact in lies:
        found.setdefault(fact.one, []).append((fact.other, opposite(fact.way), index))
        found.setdefault(fact.other, []).append((fact.one, fact.way, index))
    return found


def neighbour(history: History, query: Neighbour) -> Solved:
    """Only a stated neighbour answers, not one beyond it."""
    for other, way, index in edges(history.all(Lies)).get(query.place, ()):
        if way == query.way:
            return Solved(other, (index,))
    raise Undecidable(f"what is {query.way} of the {query.place}, is not told")


def _way(history: History, start: str, goal: str) -> list[tuple[Way, int]]:
    """The shortest chain of facts from one to the other, breadth first: the earliest fact wins a draw."""
    around = edges(history.all(Lies))
    back: dict[str, tuple[str, Way, int] | None] = {start: None}
    queue = [start]
    for here in queue:
        for other, way, index in around.get(here, ()):
            if other not in back:
                back[other] = here, way, index
                queue.append(other)
    steps: list[tuple[Way, int]] = []
    here = goal
    while (step := back.get(here)) is not None:
        here, way, index = step
        steps.append((way, index))
    if not steps:
        raise Undecidable(f"nothing joins the {start} to the {goal}")
    return steps[::-1]


def path(history: History, query: Path) -> Solved:
    steps = _way(history, query.start, query.goal)
    return Solved(",".join(way[0] for way, _ in steps), tuple(index for _, index in steps))


def is_beside(history: History, query: IsBeside) -> Solved:
    """On a unit grid: level with each other is neither above nor below. Facts in order from the first-named figure."""
    steps = _way(history, query.one, query.other)
    x, y = STEP[query.way]
    offset = sum(STEP[way][0] * x + STEP[way][1] * y for way, _ in steps)
    return Solved("yes" if offset < 0 else "no", tuple(index for _, index in steps))
