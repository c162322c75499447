"""A story as it is told: sentences, and questions between them, each answered from what was told before."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from carrara.core.keys import Dice
from carrara.tasks.babilong._asking import ask
from carrara.tasks.babilong._facts import Dropped, Fact, Got, Query, Solved
from carrara.tasks.babilong._grammar import say
from carrara.tasks.babilong._history import History
from carrara.tasks.babilong._words import Cast

Q = TypeVar("Q", bound=Query)

RECENT = 5
"""Officially a question is about something that one of the last five clauses made interesting."""
DROPPED_THERE = 0.2
"""How often `there` is said when something is put down."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a story."""

    text: str
    answer: str
    support: tuple[int, ...]
    """Which facts give the answer, in the official order."""
    after: int
    """How many facts were told before it."""


@dataclass(frozen=True, slots=True)
class Story:
    cast: Cast
    facts: tuple[str, ...]
    questions: tuple[Asked, ...]


class Teller(Generic[Q]):
    """Writes facts down as sentences and keeps the history that questions are answered from.

    The answer comes from the facts as they are meant; solvers have only the sentences, so each story proves that the
    one can be had from the other.
    """

    def __init__(self, dice: Dice, answer: Callable[[History, Q], Solved], got_there: float = 1.0) -> None:
        self._dice = dice
        self._answer = answer
        self.history = History()
        self.facts: list[str] = []
        self.questions: list[Asked] = []
        self._got_there = got_there

    def tell(self, fact: Fact) -> int:
        """The number of the sentence."""
        there = self._got_there if isinstance(fact, Got) else DROPPED_THERE if isinstance(fact, Dropped) else 1.0
        index = len(self.facts)
        self.facts.append(say(self._dice, fact, there))
        self.history.add(index, fact)
        return index

    def tell_all(self, facts: Sequence[Fact]) -> None:
        for fact in facts:
            self.tell(fact)

    def ask(self, query: Q) -> None:
        solved = self._answer(self.history, query)
        self.questions.append(Asked(ask(query), solved.answer, solved.support, len(self.facts)))

    def story(self, cast: Cast) -> Story:
        return Story(cast, tuple(self.facts), tuple(self.questions))
