"""The world behind the walk-about tasks: people who go places, take things, put them down and hand them on.

Positions are hidden: they hold from the start, though nobody is told where anyone begins. An action is drawn blindly
and drawn again until it is possible, which is what gives the official share of each action.
"""

from carrara.core.keys import Dice
from carrara.tasks.babilong._facts import Dropped, Gave, Got, Went
from carrara.tasks.babilong._words import Cast

Action = Went | Got | Dropped | Gave

MOVE, GET, DROP = 5, 6, 6
"""How often each kind of action is tried: fitted to the official files."""


class Walk:
    """`giving` is how often a gift is tried; None for people who only walk."""

    def __init__(self, dice: Dice, cast: Cast, giving: int | None = None) -> None:
        self.dice = dice
        self.cast = cast
        self.at = {who: dice.choice(cast.places) for who in cast.people}
        self._lies: dict[str, str | None] = {thing: dice.choice(cast.places) for thing in cast.things}
        self._held: dict[str, str | None] = dict.fromkeys(cast.things)
        self._weights = (MOVE,) if giving is None else (MOVE, GET, DROP, giving)

    def elsewhere(self, *people: str, but: str | None = None) -> str:
        """A place where none of these people is."""
        here = [self.at[who] for who in people]
        return self.dice.choice([place for place in self.cast.places if place not in here and place != but])

    def go(self, place: str, *people: str) -> None:
        for who in people:
            self.at[who] = place

    def move(self) -> tuple[str, str, str]:
        """Somebody goes somewhere else: who, from where, and to where."""
        who = self.dice.choice(self.cast.people)
        left, place = self.at[who], self.elsewhere(who)
        self.go(place, who)
        return who, left, place

    def journey(self, who: tuple[str, ...], pronoun: str) -> tuple[Went, Went]:
        """They go to one place and then to another, where a pronoun stands for them."""
        first = self.elsewhere(*who)
        self.go(first, *who)
        second = self.elsewhere(*who)
        self.go(second, *who)
        return Went(who, first), Went((pronoun,), second, pronoun=True)

    def act(self) -> Action:
        while True:
            action = self._try()
            if action is not None:
                return action

    def _try(self) -> Action | None:
        dice, who = self.dice, self.dice.choice(self.cast.people)
        kind, weights = 0, self._weights
        throw = dice.below(sum(weights))
        while throw >= weights[kind]:
            throw -= weights[kind]
            kind += 1
        held = [thing for thing, holder in self._held.items() if holder == who]
        if kind == 0:
            place = self.elsewhere(who)
            self.go(place, who)
            return Went((who,), place)
        if kind == 1:
            return self._get(who)
        if not held:
            return None
        if kind == 2:
            thing = dice.choice(held)
            self._held[thing], self._lies[thing] = None, self.at[who]
            return Dropped(who, thing)
        near = [other for other in self.cast.people if other != who and self.at[other] == self.at[who]]
        if not near:
            return None
        thing, to = dice.choice(held), dice.choice(near)
        self._held[thing] = to
        return Gave(who, thing, to)

    def _get(self, who: str) -> Got | None:
        lying = [thing for thing, place in self._lies.items() if place == self.at[who] and self._held[thing] is None]
        if not lying:
            return None
        thing = self.dice.choice(lying)
        self._held[thing], self._lies[thing] = who, None
        return Got(who, thing)
