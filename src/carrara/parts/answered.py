"""Tests whose answers are of one kind: it writes, reads, guesses and scores them."""

from collections.abc import Mapping
from typing import TypeVar

from carrara.answers.kinds import Answers
from carrara.core.keys import Dice
from carrara.core.types import Question, Test, World

P = TypeVar("P")
L = TypeVar("L")
A = TypeVar("A")


class Answered(Test[P, L, A]):
    answers: Answers[A]

    def write(self, answer: A) -> str:
        return self.answers.write(answer)

    def parse(self, reply: str, question: Question[A]) -> A | None:
        return self.answers.read(reply, question)

    def guess(self, dice: Dice, world: World[L], question: Question[A]) -> A:
        return self.answers.guess(dice, question.gold, question.options)

    def score(self, answer: A, question: Question[A]) -> float:
        return self.answers.score(answer, question.gold)

    def trivial(self, question: Question[A]) -> Mapping[str, str]:
        return self.answers.trivial(question)
