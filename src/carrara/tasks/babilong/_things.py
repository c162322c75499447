"""Things that people take, carry about and put down (qa2, qa3)."""

from collections.abc import Sequence

from carrara.core.types import Undecidable
from carrara.tasks.babilong._facts import Dropped, Fact, Gave, Got, Went
from carrara.tasks.babilong._grammar import read
from carrara.tasks.babilong._history import History, Thing


def life(history: History, thing: str) -> Thing:
    if thing not in history.things:
        raise Undecidable(f"nothing is told of the {thing}")
    return history.things[thing]


def handled(fact: Fact) -> str | None:
    """The thing that somebody takes, puts down or hands on."""
    return fact.thing if isinstance(fact, Got | Dropped | Gave) else None


def concerned(facts: Sequence[str], thing: str) -> Sequence[int]:
    """The facts that can have a say in where a thing is: what was done with it, and the ways of those who did so."""
    told = [read(sentence) for sentence in facts]
    hands = {
        who
        for fact in told
        if isinstance(fact, Got | Dropped | Gave) and fact.thing == thing
        for who in ((fact.who, fact.to) if isinstance(fact, Gave) else (fact.who,))
    }
    return [i for i, fact in enumerate(told) if fact is None or _concerns(fact, thing, hands)]


def _concerns(fact: Fact, thing: str, hands: set[str]) -> bool:
    match fact:
        case Got() | Dropped() | Gave():
            return fact.thing == thing
        case Went(pronoun=False):
            return not hands.isdisjoint(fact.who)
        case _:
            return True
