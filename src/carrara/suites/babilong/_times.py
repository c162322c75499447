"""Stories told out of order (task 14).

People go through the day slot by slot, but each stretch between two questions is told in another order: in a cycle,
so that no sentence keeps its place and two are always swapped.
"""

from carrara.core.keys import Dice
from carrara.suites.babilong._facts import WHENS, PersonBefore, Went
from carrara.suites.babilong._people import RECENT
from carrara.suites.babilong._teller import Story, Teller
from carrara.suites.babilong._words import Cast

QUESTIONS = 5


def day(dice: Dice, cast: Cast, sound: bool) -> Story:
    teller = Teller(dice)
    went: dict[str, list[str]] = {who: [] for who in cast.people}
    happened: list[Went] = []
    untold: list[Went] = []
    while len(teller.questions) < QUESTIONS:
        if all(len(places) == len(WHENS) for places in went.values()):
            return day(dice, cast, sound)  # the day is over; only a sound story may have too little to ask
        for _ in range(2):
            untold.append(_next(dice, cast, went))
        happened += untold[-2:]
        recent = [event for event in happened[-RECENT:] if event.when != WHENS[0]]
        if sound:  # of two visits nobody can tell which is meant
            recent = [event for event in recent if went[event.who[0]].count(event.place) == 1]
        if recent:
            teller.tell_all(_cycled(dice, untold))
            untold = []
            event = dice.choice(recent)
            teller.ask(PersonBefore(event.who[0], event.place))
    return teller.story(14, cast)


def _next(dice: Dice, cast: Cast, went: dict[str, list[str]]) -> Went:
    who = dice.choice([who for who in cast.people if len(went[who]) < len(WHENS)])
    places = went[who]
    place = dice.choice([place for place in cast.places if place not in places[-1:]])
    places.append(place)
    return Went((who,), place, WHENS[len(places) - 1])


def _cycled(dice: Dice, events: list[Went]) -> list[Went]:
    """A random cyclic order (Sattolo's shuffle): nothing stays where it was."""
    order = events.copy()
    for i in range(len(order) - 1, 0, -1):
        j = dice.below(i)
        order[i], order[j] = order[j], order[i]
    return order
