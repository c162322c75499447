"""A story: sentences, and questions between them, each of which the sentences before it answer."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from carrara.core.keys import Dice
from carrara.tasks.babilong._facts import Dropped, Fact, Got, Query, Solved
from carrara.tasks.babilong._grammar import write
from carrara.tasks.babilong._history import History
from carrara.tasks.babilong._questions import write_question
from carrara.tasks.babilong._words import Cast

Q = TypeVar("Q", bound=Query)

RECENT = 5
"""Officially a question is about something in one of the last five clauses."""
DROPPED_THERE = 0.2
"""How often a sentence ends with `there` when something is put down."""


@dataclass(frozen=True, slots=True)
class StoryQuestion:
    """A question of a story."""

    text: str
    answer: str
    support: tuple[int, ...]
    """The numbers of the facts that give the answer, in the official order."""
    after: int
    """The number of facts before the question."""


@dataclass(frozen=True, slots=True)
class Story:
    cast: Cast
    facts: tuple[str, ...]
    questions: tuple[StoryQuestion, ...]


class StoryBuilder(Generic[Q]):
    """Writes facts as sentences, and keeps the history that answers questions.

    The answer comes from the facts themselves, and solvers have only the sentences. So each story proves that the
    sentences give the answer.
    """

    def __init__(self, rng: Dice, find_answer: Callable[[History, Q], Solved], got_there: float = 1.0) -> None:
        """Begin a story.

        Args:
            rng: Random numbers.
            find_answer: Answers a question from the history.
            got_there: How often a sentence ends with `there` when something is taken.
        """
        self._rng = rng
        self._find_answer = find_answer
        self.history = History()
        self.facts: list[str] = []
        self.questions: list[StoryQuestion] = []
        self._got_there = got_there

    def add(self, fact: Fact) -> int:
        """Write a fact, and return the number of its sentence."""
        there = self._got_there if isinstance(fact, Got) else DROPPED_THERE if isinstance(fact, Dropped) else 1.0
        index = len(self.facts)
        self.facts.append(write(self._rng, fact, there))
        self.history.add(index, fact)
        return index

    def add_all(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            self.add(fact)

    def ask(self, query: Q) -> None:
        solved = self._find_answer(self.history, query)
        question = StoryQuestion(write_question(query), solved.answer, solved.support, len(self.facts))
        self.questions.append(question)

    def build(self, cast: Cast) -> Story:
        return Story(cast, tuple(self.facts), tuple(self.questions))
