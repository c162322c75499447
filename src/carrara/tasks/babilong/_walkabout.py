"""Stories of people who walk about the house (qa1-3, qa5-13), and where those people are.

Facts come two by two. After each two a question is asked if there is one to ask, until there are five: one of the last
five clauses is picked, and the question is about the person or thing in it. That is why the answer is always near the
end, and why the number of facts has a long tail.
"""

from abc import abstractmethod
from collections.abc import Sequence
from math import inf
from typing import ClassVar, NamedTuple

from carrara.core.keys import Dice
from carrara.core.types import Undecidable
from carrara.tasks.babilong._facts import Absent, Dropped, Either, Fact, Gave, Got, IsIn, Solved, Stays, Went, WhereIs
from carrara.tasks.babilong._history import History, Sighting
from carrara.tasks.babilong._story_builder import RECENT, Q, Story, StoryBuilder
from carrara.tasks.babilong._task import Babilong
from carrara.tasks.babilong._walk import Walk
from carrara.tasks.babilong._words import Cast

QUESTIONS = 5


class Clause(NamedTuple):
    """A simple statement about one person; a sentence about two people is two of them."""

    number: int
    who: str
    fact: Fact


class Walkabout(Babilong[Q]):
    """A task of this kind says what happens in its stories, and which questions a clause allows."""

    gift_weight: ClassVar[int | None] = None
    """How often a gift is tried, where things are handled at all: fitted to the official files."""
    got_there: ClassVar[float] = 1.0
    """How often a sentence ends with `there` when something is taken."""
    most_sound_facts: ClassVar[float] = inf
    """The number of facts at which a sound story ends."""

    @abstractmethod
    def candidates(self, history: History, clause: Clause, cast: Cast) -> Sequence[Q]:
        """Return the questions that a recent clause allows, each as often as it is likely; none if it allows none."""

    def next_facts(self, walk: Walk) -> tuple[Fact, Fact]:
        """Return the next two facts of a story."""
        return self.next_fact(walk), self.next_fact(walk)

    def next_fact(self, walk: Walk) -> Fact:
        """Return the next fact of a story."""
        return walk.act()

    def story(self, rng: Dice, cast: Cast) -> Story:
        builder = StoryBuilder[Q](rng, self.find_answer, self.got_there)
        walk = Walk(rng, cast, self.gift_weight)
        clauses: list[Clause] = []
        while len(builder.questions) < QUESTIONS:
            if self.sound and len(builder.facts) >= self.most_sound_facts:
                if builder.questions:
                    break
                return self.story(rng, cast)
            for fact in self.next_facts(walk):
                index = builder.add(fact)
                clauses += _clauses(builder.history, index, fact)
            recent = [self.candidates(builder.history, clause, cast) for clause in clauses[-RECENT:]]
            eligible = [queries for queries in recent if queries]
            if eligible:
                builder.ask(rng.choice(rng.choice(eligible)))
        return builder.build(cast)


def _clauses(history: History, index: int, fact: Fact) -> list[Clause]:
    match fact:
        case Went():
            return [Clause(index, who, fact) for who in (history.named if fact.pronoun else fact.who)]
        case Stays(who) | Absent(who) | Either(who) | Got(who) | Dropped(who) | Gave(who):
            return [Clause(index, who, fact)]
        case _:
            return []


# Where people are: the place itself is asked for (qa1, qa11-13), or whether it is this one (qa6, qa9, qa10)


def find_place(history: History, query: WhereIs) -> Solved:
    """Return the place where somebody is."""
    seen = _last_sighting(history, query.who)
    if seen.out or len(seen.places) > 1:
        raise Undecidable(f"where {query.who} is, is not told for certain")
    return Solved(seen.places[0], seen.facts)


def is_in_place(history: History, query: IsIn) -> Solved:
    """Return whether somebody is in a place.

    Only the last sentence about a person counts: a denial says nothing of other places.
    """
    seen = _last_sighting(history, query.who)
    if query.place not in seen.places:
        if seen.out:
            raise Undecidable(f"where {query.who} is, is not told")
        return Solved("no", seen.facts)
    return Solved("no" if seen.out else "yes" if len(seen.places) == 1 else "maybe", seen.facts)


def here_or_elsewhere(history: History, who: str, cast: Cast) -> Sequence[IsIn]:
    """Return questions of which yes and no are equally likely answers; for a no each other place is."""
    here = history.people[who][-1].places[0]
    others = [place for place in cast.places if place != here]
    return [IsIn(who, place) for place in (*[here] * len(others), *others)]


def _last_sighting(history: History, who: str) -> Sighting:
    seen = history.people.get(who)
    if not seen:
        raise Undecidable(f"nothing is told of where {who} is")
    return seen[-1]
