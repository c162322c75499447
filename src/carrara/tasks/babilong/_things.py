"""Things that people take, carry about and put down (qa2, qa3)."""

from collections.abc import Sequence

from carrara.tasks.babilong._facts import Drop, Fact, Gave, Got, Went
from carrara.tasks.babilong._story import History, Thing
from carrara.types import UndecidableError


def thing_of(history: History, thing: str) -> Thing:
    """Return what happened to a thing. Raises UndecidableError where no fact names it."""
    if thing not in history.things:
        raise UndecidableError(f"nothing is told of the {thing}")
    return history.things[thing]


def handled_thing(fact: Fact) -> str | None:
    """Return the thing that somebody takes, puts down or hands on."""
    return fact.thing if isinstance(fact, Got | Drop | Gave) else None


def relevant_facts(facts: Sequence[Fact | None], thing: str) -> Sequence[int]:
    """Return the numbers of the facts that can decide where a thing is.

    These are the facts about the thing, and the journeys of everybody who ever handled it.
    """
    hands = {
        who
        for fact in facts
        if isinstance(fact, Got | Drop | Gave) and fact.thing == thing
        for who in ((fact.who, fact.to) if isinstance(fact, Gave) else (fact.who,))
    }
    return [i for i, fact in enumerate(facts) if fact is None or _is_relevant(fact, thing, hands)]


def _is_relevant(fact: Fact, thing: str, hands: set[str]) -> bool:
    match fact:
        case Got() | Drop() | Gave():
            return fact.thing == thing
        case Went(pronoun=False):
            return not hands.isdisjoint(fact.who)
        case _:
            return True
