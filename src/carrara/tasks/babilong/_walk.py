"""Stories of people who walk about, take things, put them down and hand them on (qa1-3, qa5-13).

A `Walk` simulates the people; `write_story` writes what they do, and asks questions about it. Many ask where somebody
is: which place it is (qa1, qa11-13), or whether it is a given one (qa6, qa9, qa10).
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import inf
from typing import NamedTuple

from carrara.rng import Rng
from carrara.tasks.babilong._facts import (
    Absent,
    Drop,
    Either,
    Fact,
    Gave,
    Got,
    IsIn,
    Solution,
    Stays,
    Went,
    WhereIs,
)
from carrara.tasks.babilong._story import RECENT, History, Q, Sighting, Story, StoryBuilder, draw_weighted
from carrara.tasks.babilong._words import Cast
from carrara.types import UndecidableError

Action = Went | Got | Drop | Gave

MOVE, GET, DROP = 5, 6, 6
"""How often each kind of action is tried: fitted to the official files."""
QUESTIONS = 5
"""The number of questions at which a story ends."""
NAMED_PLACE = dict.fromkeys(
    ("strings", "learned"), "A place that is asked about was mostly said of nobody else, as in bAbI."
)
"""The known shortcuts of the tasks whose question names a place."""


class Walk:
    """A simulation of people and things in places.

    Positions hold from the start, though no sentence says where anyone begins. An action is drawn blindly, and drawn
    again until it is possible, which gives the official share of each action.
    """

    def __init__(self, rng: Rng, cast: Cast, gift_weight: int | None = None) -> None:
        """Put everybody and everything in a place.

        Args:
            gift_weight: How often a gift is tried; None for people who only walk.
        """
        self.rng = rng
        self.cast = cast
        self.at = {who: rng.choice(cast.places) for who in cast.people}
        self._place_of: dict[str, str | None] = {thing: rng.choice(cast.places) for thing in cast.things}
        self._holder_of: dict[str, str | None] = dict.fromkeys(cast.things)
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

    def draw_facts(self) -> Iterator[Action]:
        """Yield one action after another, without end."""
        while True:
            action = self._try()
            if action is not None:
                yield action

    def _try(self) -> Action | None:
        rng, who = self.rng, self.rng.choice(self.cast.people)
        kind = draw_weighted(rng, self._weights)
        held = [thing for thing, holder in self._holder_of.items() if holder == who]
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
            self._holder_of[thing], self._place_of[thing] = None, self.at[who]
            return Drop(who, thing)
        near = [person for person in self.cast.people if person != who and self.at[person] == self.at[who]]
        if not near:
            return None
        thing, to = rng.choice(held), rng.choice(near)
        self._holder_of[thing] = to
        return Gave(who, thing, to)

    def _get(self, who: str) -> Got | None:
        lying = [
            thing for thing, place in self._place_of.items() if place == self.at[who] and self._holder_of[thing] is None
        ]
        if not lying:
            return None
        thing = self.rng.choice(lying)
        self._holder_of[thing], self._place_of[thing] = who, None
        return Got(who, thing)


class Clause(NamedTuple):
    """A simple statement about one person. A sentence about two people is two of them."""

    number: int
    who: str
    fact: Fact


def write_story(
    rng: Rng,
    cast: Cast,
    find_answer: Callable[[History, Q], Solution],
    candidates: Callable[[History, Clause, Cast], Sequence[Q]],
    draw_facts: Callable[[Walk], Iterator[Fact]] = Walk.draw_facts,
    gift_weight: int | None = None,
    got_there: float = 1.0,
    most_facts: float = inf,
) -> Story:
    """Return a story in which a question may follow each two facts.

    The question is about the person or thing in one of the last five clauses. That is why the answer is always near
    the end. The number of facts has a long tail, because the story goes on until it has five questions.

    Args:
        find_answer: Answers a question from the history.
        candidates: Returns the questions that a recent clause allows, each as often as it is likely; none if it allows
            none.
        draw_facts: Yields the facts of the story, without end.
        gift_weight: How often a gift is tried, fitted to the official files; None for people who only walk.
        got_there: How often a sentence ends with `there` when something is taken.
        most_facts: The number of facts at which the story ends, with fewer questions or none.
    """
    builder = StoryBuilder(rng, find_answer, got_there)
    facts = draw_facts(Walk(rng, cast, gift_weight))
    clauses: list[Clause] = []
    while len(builder.questions) < QUESTIONS and len(builder.facts) < most_facts:
        for fact in tuple(islice(facts, 2)):  # both are drawn before either is written
            index = builder.add(fact)
            clauses += clauses_of(builder.history, index, fact)
        recent = [candidates(builder.history, clause, cast) for clause in clauses[-RECENT:]]
        eligible = [queries for queries in recent if queries]
        if eligible:
            builder.ask(rng.choice(rng.choice(eligible)))
    return builder.build(cast)


def clauses_of(history: History, index: int, fact: Fact) -> list[Clause]:
    """Return the clauses of a sentence: none where it is about no person."""
    match fact:
        case Went():
            return [Clause(index, who, fact) for who in (history.antecedent if fact.pronoun else fact.who)]
        case Stays(who) | Absent(who) | Either(who) | Got(who) | Drop(who) | Gave(who):
            return [Clause(index, who, fact)]
        case _:
            return []


# --- where somebody is ---


def ask_place(history: History, clause: Clause, cast: Cast) -> Sequence[WhereIs]:
    """Return the question where the person of a clause is."""
    return (WhereIs(clause.who),)


def find_place(history: History, query: WhereIs) -> Solution:
    """Return the place where somebody is."""
    sighting = _last_sighting(history, query.who)
    if sighting.is_absent or len(sighting.places) > 1:
        raise UndecidableError(f"where {query.who} is, is not told for certain")
    return Solution(sighting.places[0], sighting.facts)


def is_in_place(history: History, query: IsIn) -> Solution:
    """Return whether somebody is in a place.

    Only the last sentence about a person counts: a denial says nothing of other places.
    """
    sighting = _last_sighting(history, query.who)
    if query.place not in sighting.places:
        if sighting.is_absent:
            raise UndecidableError(f"where {query.who} is, is not told")
        return Solution("no", sighting.facts)
    return Solution("no" if sighting.is_absent else "yes" if len(sighting.places) == 1 else "maybe", sighting.facts)


def here_or_elsewhere(history: History, who: str, cast: Cast) -> Sequence[IsIn]:
    """Return questions whose answer is yes or no with equal chances. For a no, each other place is equally likely."""
    here = history.people[who][-1].places[0]
    others = [place for place in cast.places if place != here]
    return [IsIn(who, place) for place in (*[here] * len(others), *others)]


def _last_sighting(history: History, who: str) -> Sighting:
    sightings = history.people.get(who)
    if not sightings:
        raise UndecidableError(f"nothing is told of where {who} is")
    return sightings[-1]
