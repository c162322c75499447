"""Questions about people and what they carry, answered from a history (tasks 1-3, 5-14)."""

from carrara.core.types import Undecidable
from carrara.suites.babilong._facts import (
    WHENS,
    Gave,
    HowMany,
    IsIn,
    PersonBefore,
    Solved,
    ThingBefore,
    WhatCarried,
    WhatGiven,
    WhereIs,
    WhereThing,
    WhoGave,
    WhoReceived,
)
from carrara.suites.babilong._history import History, Sighting, Thing

NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
"""Number words as the official files have them: nothing carried is `none`."""
NOTHING = "nothing"
RECENT = 5
"""Officially a question is about something that one of the last five clauses made interesting."""


def where_is(history: History, query: WhereIs) -> Solved:
    seen = _last(history, query.who)
    if seen.out or len(seen.places) > 1:
        raise Undecidable(f"where {query.who} is, is not told for certain")
    return Solved(seen.places[0], seen.told)


def is_in(history: History, query: IsIn) -> Solved:
    """Only the last sentence about a person counts: a denial says nothing of other places."""
    seen = _last(history, query.who)
    if seen.out:
        if query.place not in seen.places:
            raise Undecidable(f"where {query.who} is, is not told")
        return Solved("no", seen.told)
    if query.place not in seen.places:
        return Solved("no", seen.told)
    return Solved("yes" if len(seen.places) == 1 else "maybe", seen.told)


def _last(history: History, who: str) -> Sighting:
    seen = history.people.get(who)
    if not seen:
        raise Undecidable(f"nothing is told of where {who} is")
    return seen[-1]


def _life(history: History, thing: str) -> Thing:
    life = history.things.get(thing)
    if life is None:
        raise Undecidable(f"nothing is told of the {thing}")
    return life


def where_thing(history: History, query: WhereThing) -> Solved:
    """A thing is where its holder is, or where it was put down."""
    life = _life(history, query.thing)
    here = life.laid if life.holder is None else history.place(life.holder)
    if here is None:
        raise Undecidable(f"where the {query.thing} is, is not told")
    return Solved(here.place, (life.events[-1][0], here.told))


def thing_before(history: History, query: ThingBefore) -> Solved:
    """The place before the last time the thing came there; `before` is not `at first`."""
    life = _life(history, query.thing)
    for before, stop in zip(life.way[-2::-1], life.way[:0:-1], strict=True):
        if stop.place == query.place:
            return Solved(before.place, (life.events[-1][0], stop.told, before.told))
    raise Undecidable(f"where the {query.thing} was before the {query.place}, is not told")


def person_before(history: History, query: PersonBefore) -> Solved:
    """Times of day give the order, not the order of telling; of two visits the later one is meant."""
    seen = sorted(
        (WHENS.index(sight.when), sight.places[0], sight.told)
        for sight in history.people.get(query.who, ())
        if sight.when is not None
    )
    for before, there in zip(seen[-2::-1], seen[:0:-1], strict=True):
        if there[1] == query.place:
            if there[0] - before[0] != 1:
                break
            return Solved(before[1], there[2] + before[2])
    raise Undecidable(f"where {query.who} was just before the {query.place}, is not told")


def standing_gifts(history: History, who: str, to: str) -> list[tuple[int, str]]:
    """What a person gave to another, as far as nobody has given it on since."""
    gifts = history.all(Gave)
    last = {gift.thing: index for index, gift in gifts}
    return [(i, gift.thing) for i, gift in gifts if last[gift.thing] == i and (gift.who, gift.to) == (who, to)]


def what_given(history: History, query: WhatGiven) -> Solved:
    """Of two things that still stand as gifts, the question means the recent one; of two recent ones, who knows."""
    gifts = standing_gifts(history, query.who, query.to)
    if len(gifts) > 1:
        recent = history.facts[-RECENT:][0][0]
        gifts = [gift for gift in gifts if gift[0] >= recent]
    if len(gifts) != 1:
        raise Undecidable(f"the text does not decide what {query.who} gave to {query.to}")
    return Solved(gifts[0][1], (gifts[0][0],))


def who_gave(history: History, query: WhoGave) -> Solved:
    for index, gift in reversed(history.all(Gave)):
        if gift.thing == query.thing and query.to in (None, gift.to):
            return Solved(gift.who, (index,))
    raise Undecidable(f"who gave the {query.thing}, is not told")


def who_received(history: History, query: WhoReceived) -> Solved:
    for index, gift in reversed(history.all(Gave)):
        if gift.thing == query.thing and query.who in (None, gift.who):
            return Solved(gift.to, (index,))
    raise Undecidable(f"who received the {query.thing}, is not told")


def how_many(history: History, query: HowMany) -> Solved:
    hands = history.hands.get(query.who)
    if hands is None or len(hands.held) >= len(NUMBERS):
        raise Undecidable(f"how much {query.who} carries, is not told")
    return Solved(NUMBERS[len(hands.held)], tuple(hands.ledger))


def what_carried(history: History, query: WhatCarried) -> Solved:
    """Things stand in the order in which they were first taken, and their facts thing by thing."""
    hands = history.hands.get(query.who)
    if hands is None:
        raise Undecidable(f"what {query.who} carries, is not told")
    held = [thing for thing in hands.ever if thing in hands.held]
    return Solved(",".join(held) or NOTHING, tuple(i for told in hands.ever.values() for i in told))
