"""What fits into what (task 18)."""

from carrara.core.types import Undecidable
from carrara.suites.babilong._facts import Fits, IsBigger, Solved
from carrara.suites.babilong._history import History

Chain = tuple[int, int]


def chains(fits: list[tuple[int, Fits]], small: str, large: str) -> list[Chain]:
    """All pairs of facts that lead from the small thing over a third to the large one, earliest first."""
    return [
        (i, j)
        for i, lower in fits
        if lower.small == small
        for j, upper in fits
        if lower.large == upper.small and upper.large == large
    ]


def is_bigger(history: History, query: IsBigger) -> Solved:
    """By a chain of two facts, as the task has it; by one fact or a longer chain where there is none.

    Officially any chain may stand as the support, and the same question has one and then another; here the first.
    A yes is told from the large end and a no from the asked-for large, which is the small end.
    """
    fits = history.all(Fits)
    for answer, small, large in (("yes", query.small, query.large), ("no", query.large, query.small)):
        found = chains(fits, small, large)
        if found:
            return Solved(answer, found[0] if answer == "no" else found[0][::-1])
    for answer, small, large in (("yes", query.small, query.large), ("no", query.large, query.small)):
        up = _climb(fits, small, large)
        if up:
            return Solved(answer, tuple(up if answer == "no" else up[::-1]))
    raise Undecidable(f"nothing compares the {query.large} with the {query.small}")


def _climb(fits: list[tuple[int, Fits]], small: str, large: str) -> list[int]:
    """The facts of a shortest chain from small to large, breadth first; none if there is no chain."""
    back: dict[str, tuple[str, int]] = {}
    queue = [small]
    for here in queue:
        for index, fact in fits:
            if fact.small == here and fact.large not in back and fact.large != small:
                back[fact.large] = here, index
                queue.append(fact.large)
    up: list[int] = []
    here = large
    while here in back:
        here, index = back[here]
        up.append(index)
    return up[::-1]
