"""Where people are: which place it is (qa1, qa11-13), or whether it is a given one (qa6, qa9, qa10)."""

from collections.abc import Sequence

from carrara.core.types import UndecidableError
from carrara.tasks.babilong._facts import IsIn, Solved, WhereIs
from carrara.tasks.babilong._history import History, Sighting
from carrara.tasks.babilong._walk import Clause
from carrara.tasks.babilong._words import Cast


def ask_place(history: History, clause: Clause, cast: Cast) -> Sequence[WhereIs]:
    """Return the question where the person of a clause is."""
    return (WhereIs(clause.who),)


def find_place(history: History, query: WhereIs) -> Solved:
    """Return the place where somebody is."""
    seen = _last_sighting(history, query.who)
    if seen.out or len(seen.places) > 1:
        raise UndecidableError(f"where {query.who} is, is not told for certain")
    return Solved(seen.places[0], seen.facts)


def is_in_place(history: History, query: IsIn) -> Solved:
    """Return whether somebody is in a place.

    Only the last sentence about a person counts: a denial says nothing of other places.
    """
    seen = _last_sighting(history, query.who)
    if query.place not in seen.places:
        if seen.out:
            raise UndecidableError(f"where {query.who} is, is not told")
        return Solved("no", seen.facts)
    return Solved("no" if seen.out else "yes" if len(seen.places) == 1 else "maybe", seen.facts)


def here_or_elsewhere(history: History, who: str, cast: Cast) -> Sequence[IsIn]:
    """Return questions whose answer is yes or no with equal chances. For a no, each other place is equally likely."""
    here = history.people[who][-1].places[0]
    others = [place for place in cast.places if place != here]
    return [IsIn(who, place) for place in (*[here] * len(others), *others)]


def _last_sighting(history: History, who: str) -> Sighting:
    seen = history.people.get(who)
    if not seen:
        raise UndecidableError(f"nothing is told of where {who} is")
    return seen[-1]
