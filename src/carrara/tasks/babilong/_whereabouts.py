"""Where people are: the place itself is asked for (qa1, qa11-13), or whether it is this one (qa6, qa9, qa10)."""

from collections.abc import Sequence

from carrara.core.types import Undecidable
from carrara.tasks.babilong._facts import IsIn, Solved, WhereIs
from carrara.tasks.babilong._history import History, Sighting
from carrara.tasks.babilong._walkabout import Clause, Walkabout
from carrara.tasks.babilong._words import Cast


class WherePeopleAre(Walkabout[WhereIs]):
    queries = (WhereIs,)

    def labels(self, cast: Cast) -> tuple[str, ...]:
        return cast.places

    def interest(self, history: History, clause: Clause, cast: Cast, sound: bool) -> Sequence[WhereIs]:
        return (WhereIs(clause.who),)

    def answer(self, history: History, query: WhereIs) -> Solved:
        seen = _last(history, query.who)
        if seen.out or len(seen.places) > 1:
            raise Undecidable(f"where {query.who} is, is not told for certain")
        return Solved(seen.places[0], seen.told)


class WhetherTheyAre(Walkabout[IsIn]):
    queries = (IsIn,)

    def labels(self, cast: Cast) -> tuple[str, ...]:
        return ("yes", "no")

    def here_or_there(self, who: str, history: History, cast: Cast) -> Sequence[IsIn]:
        """Yes and no are equally likely; for a no each other place is."""
        here = history.people[who][-1].places[0]
        others = [place for place in cast.places if place != here]
        return [IsIn(who, place) for place in (*[here] * len(others), *others)]

    def answer(self, history: History, query: IsIn) -> Solved:
        """Only the last sentence about a person counts: a denial says nothing of other places."""
        seen = _last(history, query.who)
        if query.place not in seen.places:
            if seen.out:
                raise Undecidable(f"where {query.who} is, is not told")
            return Solved("no", seen.told)
        return Solved("no" if seen.out else "yes" if len(seen.places) == 1 else "maybe", seen.told)


def _last(history: History, who: str) -> Sighting:
    seen = history.people.get(who)
    if not seen:
        raise Undecidable(f"nothing is told of where {who} is")
    return seen[-1]
