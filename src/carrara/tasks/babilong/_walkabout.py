"""Stories of people about the house (qa1-3, qa5-13).

Facts are told two by two. After each two a question is asked if there is one to ask, until there are five: one of the
last five clauses is picked, and the question is about whoever or whatever it speaks of. That is why the answer is
always near the end, and why the number of facts has a long tail.
"""

from abc import abstractmethod
from collections.abc import Sequence
from math import inf
from typing import ClassVar, NamedTuple

from carrara.core.keys import Dice
from carrara.tasks.babilong._babilong import Babilong
from carrara.tasks.babilong._facts import Absent, Dropped, Either, Fact, Gave, Got, Stays, Went
from carrara.tasks.babilong._history import History
from carrara.tasks.babilong._teller import RECENT, Q, Story, Teller
from carrara.tasks.babilong._walk import Walk
from carrara.tasks.babilong._words import Cast

QUESTIONS = 5


class Clause(NamedTuple):
    """A simple statement about one person; a sentence about two people is two of them."""

    told: int
    who: str
    fact: Fact


class Walkabout(Babilong[Q]):
    """What such a test says of its stories: what happens in them, and what makes a clause worth asking about."""

    giving: ClassVar[int | None] = None
    """How often a gift is tried, where things are handled at all: fitted to the official files."""
    got_there: ClassVar[float] = 1.0
    """How often `there` is said when something is taken."""
    sound_facts: ClassVar[float] = inf
    """A sound story ends here."""

    def tell(self, dice: Dice, cast: Cast, sound: bool) -> Story:
        teller = Teller[Q](dice, self.answer, self.got_there)
        walk = Walk(dice, cast, self.giving)
        clauses: list[Clause] = []
        while len(teller.questions) < QUESTIONS:
            if sound and len(teller.facts) >= self.sound_facts:
                if teller.questions:
                    break
                return self.tell(dice, cast, sound)
            for fact in self.two(walk):
                index = teller.tell(fact)
                clauses += _clauses(teller.history, index, fact)
            recent = [self.interest(teller.history, clause, cast, sound) for clause in clauses[-RECENT:]]
            eligible = [queries for queries in recent if queries]
            if eligible:
                teller.ask(dice.choice(dice.choice(eligible)))
        return teller.story(cast)

    def two(self, walk: Walk) -> tuple[Fact, Fact]:
        return self.one(walk), self.one(walk)

    def one(self, walk: Walk) -> Fact:
        return walk.act()

    @abstractmethod
    def interest(self, history: History, clause: Clause, cast: Cast, sound: bool) -> Sequence[Q]:
        """The questions that a recent clause allows, each as often as it is likely; none if it is of no interest."""


def _clauses(history: History, index: int, fact: Fact) -> list[Clause]:
    match fact:
        case Went():
            return [Clause(index, who, fact) for who in (history.named if fact.pronoun else fact.who)]
        case Stays(who) | Absent(who) | Either(who) | Got(who) | Dropped(who) | Gave(who):
            return [Clause(index, who, fact)]
        case _:
            return []
