"""Animals and what holds of their kind: deduction and induction (tasks 15, 16)."""

from carrara.core.types import Undecidable
from carrara.suites.babilong._facts import ColourOf, FearOf, Fears, Is, IsA, Solved
from carrara.suites.babilong._history import History


def fear_of(history: History, query: FearOf) -> Solved:
    """Names in questions are in small letters."""
    for index, fact in reversed(history.all(IsA)):
        if fact.who.casefold() == query.who.casefold():
            for rule, fears in reversed(history.all(Fears)):
                if fears.kind == fact.kind:
                    return Solved(fears.of, (index, rule))
            raise Undecidable(f"what a {fact.kind} is afraid of, is not told")
    raise Undecidable(f"what {query.who} is, is not told")


def colour_of(history: History, query: ColourOf) -> Solved:
    """Officially the animal of the same kind that was introduced last is the model; it is no vote."""
    kinds = history.all(IsA)
    own = next(((index, fact.kind) for index, fact in reversed(kinds) if fact.who == query.who), None)
    if own is None:
        raise Undecidable(f"what {query.who} is, is not told")
    colours = {fact.who: (index, fact.quality) for index, fact in history.all(Is)}
    for index, fact in reversed(kinds):
        if fact.kind == own[1] and fact.who != query.who and fact.who in colours:
            told, colour = colours[fact.who]
            return Solved(colour, (own[0], index, told))
    raise Undecidable(f"no other {own[1]} has a colour")
