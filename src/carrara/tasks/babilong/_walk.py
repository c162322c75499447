"""Simulate people who go places, take things, put them down and hand them on.

Positions hold from the start, though no sentence says where anyone begins. An action is drawn blindly
and drawn again until it is possible, which is what gives the official share of each action.
"""

from carrara.core.keys import Dice
from carrara.tasks.babilong._facts import Dropped, Gave, Got, Went
from carrara.tasks.babilong._words import Cast

Action = Went | Got | Dropped | Gave

MOVE, GET, DROP = 5, 6, 6
"""How often each kind of action is tried: fitted to the official files."""


class Walk:
    def __init__(self, rng: Dice, cast: Cast, gift_weight: int | None = None) -> None:
        """Put everybody and everything in a place.

        Args:
            rng: Random numbers.
            cast: The people, places and things.
            gift_weight: How often a gift is tried; None for people who only walk.
        """
        self.rng = rng
        self.cast = cast
        self.at = {who: rng.choice(cast.places) for who in cast.people}
        self._lies: dict[str, str | None] = {thing: rng.choice(cast.places) for thing in cast.things}
        self._held: dict[str, str | None] = dict.fromkeys(cast.things)
        self._weights = (MOVE,) if gift_weight is None else (MOVE, GET, DROP, gift_weight)

    def elsewhere(self, *people: str, but: str | None = None) -> str:
        """Return a place where none of these people is."""
        here = [self.at[who] for who in people]
        return self.rng.choice([place for place in self.cast.places if place not in here and place != but])

    def go(self, place: str, *people: str) -> None:
        for who in people:
            self.at[who] = place

    def move(self) -> tuple[str, str, str]:
        """Move somebody somewhere else, and return who, from where, and to where."""
        who = self.rng.choice(self.cast.people)
        left, place = self.at[who], self.elsewhere(who)
        self.go(place, who)
        return who, left, place

    def journey(self, who: tuple[str, ...], pronoun: str) -> tuple[Went, Went]:
        """Move people to one place and then to another, where a pronoun stands for them."""
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
        rng, who = self.rng, self.rng.choice(self.cast.people)
        kind, weights = 0, self._weights
        throw = rng.below(sum(weights))
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
            thing = rng.choice(held)
            self._held[thing], self._lies[thing] = None, self.at[who]
            return Dropped(who, thing)
        near = [other for other in self.cast.people if other != who and self.at[other] == self.at[who]]
        if not near:
            return None
        thing, to = rng.choice(held), rng.choice(near)
        self._held[thing] = to
        return Gave(who, thing, to)

    def _get(self, who: str) -> Got | None:
        lying = [thing for thing, place in self._lies.items() if place == self.at[who] and self._held[thing] is None]
        if not lying:
            return None
        thing = self.rng.choice(lying)
        self._held[thing], self._lies[thing] = who, None
        return Got(who, thing)
