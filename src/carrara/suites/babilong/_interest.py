"""What makes a clause worth asking about (tasks 1-3, 5-13).

Each function gives the questions that a recent clause allows, each as often as it is likely; none, if the clause is of
no interest to its task.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from carrara.suites.babilong._facts import (
    Absent,
    Dropped,
    Either,
    Fact,
    Gave,
    Got,
    HowMany,
    IsIn,
    Query,
    Stays,
    ThingBefore,
    Went,
    WhatCarried,
    WhatGiven,
    WhereIs,
    WhereThing,
    WhoGave,
    WhoReceived,
)
from carrara.suites.babilong._history import History, Thing
from carrara.suites.babilong._people import standing_gifts
from carrara.suites.babilong._words import Cast


class Clause(NamedTuple):
    """A simple statement about one person; a sentence about two people is two of them."""

    told: int
    who: str
    fact: Fact


def clauses_of(history: History, index: int, fact: Fact) -> list[Clause]:
    match fact:
        case Went():
            return [Clause(index, who, fact) for who in (history.named if fact.pronoun else fact.who)]
        case Stays(who) | Absent(who) | Either(who) | Got(who) | Dropped(who) | Gave(who):
            return [Clause(index, who, fact)]
        case _:
            return []


Options = Callable[[History, Clause, Cast], Sequence[Query]]


def interest(task: int, sound: bool) -> Options:
    return _SOUND[task] if sound and task in _SOUND else _OFFICIAL[task]


def _where(history: History, clause: Clause, cast: Cast) -> Sequence[Query]:
    return (WhereIs(clause.who),)


def _touched(history: History, clause: Clause) -> tuple[str, Thing] | None:
    match clause.fact:
        case Got(_, thing) | Dropped(_, thing) | Gave(_, thing):
            return thing, history.things[thing]
        case _:
            return None


def _where_thing(history: History, clause: Clause, cast: Cast) -> Sequence[Query]:
    """Not while its holder has gone nowhere since taking it, though the place would often be known."""
    touched = _touched(history, clause)
    if touched is None:
        return ()
    thing, life = touched
    known = life.laid is not None if life.holder is None else life.carry > 0
    return (WhereThing(thing),) if known else ()


def _thing_before(history: History, clause: Clause, cast: Cast) -> Sequence[ThingBefore]:
    """Two neighbouring journeys of the last carry; the place of the later one was not come to again."""
    touched = _touched(history, clause)
    if touched is None or touched[1].carry < 2:
        return ()
    thing, life = touched
    stops = [stop.place for stop in life.way]
    carried = range(len(stops) - life.carry + 1, len(stops))
    return [ThingBefore(thing, stops[i]) for i in carried if stops[i] not in stops[i + 1 :]]


def _thing_once_before(history: History, clause: Clause, cast: Cast) -> Sequence[Query]:
    """Sound: the thing was at the place but once, so that there is but one time before it."""
    queries = _thing_before(history, clause, cast)
    return [q for q in queries if [stop.place for stop in history.things[q.thing].way].count(q.place) == 1]


def _gift(history: History, clause: Clause, cast: Cast) -> Sequence[Query]:
    """The last gift of a thing: a third each asks for the thing, the giver, the receiver, these in two wordings each.

    Not where two things went the same way and both are still there: officially the text then has to be read as
    meaning the recent one, and one question in five hundred it does not decide at all.
    """
    match clause.fact:
        case Gave(who, thing, to) if clause.told == _last_gift(history.things[thing]):
            if len(standing_gifts(history, who, to)) > 1:
                return ()
            return (
                *[WhatGiven(who, to)] * 2,
                *(WhoGave(thing), WhoGave(thing, to)),
                *(WhoReceived(thing), WhoReceived(thing, who)),
            )
        case _:
            return ()


def _only_gift(history: History, clause: Clause, cast: Cast) -> Sequence[Query]:
    """Sound: no two things ever went the same way, also not one that has since been given on."""
    queries = _gift(history, clause, cast)
    match clause.fact:
        case Gave(who, _, to):
            given = {gift.thing for _, gift in history.all(Gave) if (gift.who, gift.to) == (who, to)}
            return [query for query in queries if len(given) == 1 or not isinstance(query, WhatGiven)]
        case _:
            return ()


def _last_gift(life: Thing) -> int:
    return next(index for index, event in reversed(life.events) if isinstance(event, Gave))


def _visited(history: History, clause: Clause, cast: Cast) -> Sequence[Query]:
    return _here_or_there(clause.who, history, cast) if isinstance(clause.fact, Went) else ()


def _here_or_there(who: str, history: History, cast: Cast) -> Sequence[Query]:
    """Yes and no are equally likely; for a no each other place is."""
    here = history.people[who][-1].places[0]
    others = [place for place in cast.places if place != here]
    return [IsIn(who, place) for place in (*[here] * len(others), *others)]


def _denied(history: History, clause: Clause, cast: Cast) -> Sequence[Query]:
    """After a denial only the place that was denied is asked for: nothing is known of the others."""
    seen = history.people[clause.who][-1]
    return (IsIn(clause.who, seen.places[0]),) if seen.out else _here_or_there(clause.who, history, cast)


def _guessed(history: History, clause: Clause, cast: Cast) -> Sequence[Query]:
    """Where two places are possible, one of them is asked for in 7 of 12 cases (official: 58 %)."""
    seen = history.people[clause.who][-1].places
    if len(seen) == 1:
        return _here_or_there(clause.who, history, cast)
    others = [place for place in cast.places if place not in seen]
    return [IsIn(clause.who, place) for place in (*seen * 7 * len(others), *others * 5 * len(seen))]


def _handled(history: History, clause: Clause, cast: Cast) -> Sequence[Query]:
    return (WhatCarried(clause.who),) if isinstance(clause.fact, Got | Dropped) else ()


def _counted(history: History, clause: Clause, cast: Cast) -> Sequence[Query]:
    """A gift makes its giver interesting, not who receives it: so it is officially, without exception."""
    return (HowMany(clause.who),) if isinstance(clause.fact, Got | Dropped | Gave) else ()


_OFFICIAL: dict[int, Options] = {
    1: _where,
    2: _where_thing,
    3: _thing_before,
    5: _gift,
    6: _visited,
    7: _counted,
    8: _handled,
    9: _denied,
    10: _guessed,
    11: _where,
    12: _where,
    13: _where,
}
_SOUND: dict[int, Options] = {3: _thing_once_before, 5: _only_gift}
