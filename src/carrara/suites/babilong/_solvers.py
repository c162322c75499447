"""Answers read from the text alone: sentences in, an answer and the facts that give it out.

>>> solve(2, ["Mary got the milk there.", "It was late.", "Mary went to the garden."], "Where is the milk?")
Solved(answer='garden', support=(0, 2))

Sentences that say nothing of such a world are passed over, so facts may stand among the sentences of a novel. A solver
knows no names, places or things: they are whatever stands in the slots of the official sentences.
"""

from collections.abc import Sequence

from carrara.core.types import Undecidable
from carrara.suites.babilong import _kinds, _motives, _people, _sizes, _space
from carrara.suites.babilong._asking import asked
from carrara.suites.babilong._facts import (
    ColourOf,
    Dropped,
    Fact,
    FearOf,
    Gave,
    Got,
    HowMany,
    IsBeside,
    IsBigger,
    IsIn,
    Neighbour,
    Path,
    PersonBefore,
    Query,
    Solved,
    ThingBefore,
    Went,
    WhatCarried,
    WhatGiven,
    WhereIs,
    WhereThing,
    WhereWill,
    WhoGave,
    WhoReceived,
    WhyGet,
    WhyGo,
)
from carrara.suites.babilong._grammar import read
from carrara.suites.babilong._history import History

QUERIES: dict[int, tuple[type[Query], ...]] = {
    1: (WhereIs,),
    2: (WhereThing,),
    3: (ThingBefore,),
    4: (Neighbour,),
    5: (WhatGiven, WhoGave, WhoReceived),
    6: (IsIn,),
    7: (HowMany,),
    8: (WhatCarried,),
    9: (IsIn,),
    10: (IsIn,),
    11: (WhereIs,),
    12: (WhereIs,),
    13: (WhereIs,),
    14: (PersonBefore,),
    15: (FearOf,),
    16: (ColourOf,),
    17: (IsBeside,),
    18: (IsBigger,),
    19: (Path,),
    20: (WhereWill, WhyGo, WhyGet),
}
"""What each task asks."""


def solve(task: int, facts: Sequence[str], question: str) -> Solved:
    """The answer to a question, and the facts that give it in the official order. Raises Undecidable."""
    query = asked(question)
    if not isinstance(query, QUERIES[task]):
        raise Undecidable(f"task {task} does not ask: {question}")
    history = History()
    for index, sentence in enumerate(facts):
        fact = read(sentence)
        if fact is not None:
            history.add(index, fact)
    return answer(history, query)


def concerned(facts: Sequence[str], question: str) -> tuple[int, ...]:
    """The facts that can have a say in the answer: it is the same without the others, whatever else is left out.

    Of a thing these are what was done with it, and the ways of those who did so. Other questions may turn on any fact.
    """
    match asked(question):
        case WhereThing(thing) | ThingBefore(thing):
            pass
        case _:
            return tuple(range(len(facts)))
    told = [read(sentence) for sentence in facts]
    hands = {
        who
        for fact in told
        if isinstance(fact, Got | Dropped | Gave) and fact.thing == thing
        for who in ((fact.who, fact.to) if isinstance(fact, Gave) else (fact.who,))
    }
    return tuple(i for i, fact in enumerate(told) if fact is None or _concerns(fact, thing, hands))


def _concerns(fact: Fact, thing: str, hands: set[str]) -> bool:
    match fact:
        case Got() | Dropped() | Gave():
            return fact.thing == thing
        case Went(pronoun=False):
            return not hands.isdisjoint(fact.who)
        case _:
            return True


def answer(history: History, query: Query) -> Solved:
    match query:
        case WhereIs():
            return _people.where_is(history, query)
        case WhereThing():
            return _people.where_thing(history, query)
        case ThingBefore():
            return _people.thing_before(history, query)
        case PersonBefore():
            return _people.person_before(history, query)
        case WhatGiven():
            return _people.what_given(history, query)
        case WhoGave():
            return _people.who_gave(history, query)
        case WhoReceived():
            return _people.who_received(history, query)
        case IsIn():
            return _people.is_in(history, query)
        case HowMany():
            return _people.how_many(history, query)
        case WhatCarried():
            return _people.what_carried(history, query)
        case Neighbour():
            return _space.neighbour(history, query)
        case IsBeside():
            return _space.is_beside(history, query)
        case Path():
            return _space.path(history, query)
        case FearOf():
            return _kinds.fear_of(history, query)
        case ColourOf():
            return _kinds.colour_of(history, query)
        case IsBigger():
            return _sizes.is_bigger(history, query)
        case WhereWill():
            return _motives.where_will(history, query)
        case WhyGo() | WhyGet():
            return _motives.why(history, query)
