"""A story as it is told: sentences, and questions between them, each answered from what was told before."""

from collections.abc import Sequence
from dataclasses import dataclass

from carrara.core.keys import Dice
from carrara.suites.babilong._asking import ask
from carrara.suites.babilong._facts import Dropped, Fact, Got, Query
from carrara.suites.babilong._grammar import say
from carrara.suites.babilong._history import History
from carrara.suites.babilong._solvers import answer
from carrara.suites.babilong._words import Cast


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
    task: int
    cast: Cast
    facts: tuple[str, ...]
    questions: tuple[Asked, ...]


class Teller:
    """Writes facts down as sentences and keeps the history that questions are answered from.

    The answer comes from the facts as they are meant; solvers have only the sentences, so each story proves that the
    one can be had from the other.
    """

    def __init__(self, dice: Dice, got_there: float = 1.0, dropped_there: float = 0.2) -> None:
        self.dice = dice
        self.history = History()
        self.facts: list[str] = []
        self.questions: list[Asked] = []
        self._there = got_there, dropped_there

    def tell(self, fact: Fact) -> int:
        """The number of the sentence."""
        there = self._there[isinstance(fact, Dropped)] if isinstance(fact, Got | Dropped) else 1.0
        index = len(self.facts)
        self.facts.append(say(self.dice, fact, there))
        self.history.add(index, fact)
        return index

    def tell_all(self, facts: Sequence[Fact]) -> None:
        for fact in facts:
            self.tell(fact)

    def ask(self, query: Query) -> None:
        solved = answer(self.history, query)
        self.questions.append(Asked(ask(query), solved.answer, solved.support, len(self.facts)))

    def story(self, task: int, cast: Cast) -> Story:
        return Story(task, cast, tuple(self.facts), tuple(self.questions))
