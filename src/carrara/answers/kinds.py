"""Kinds of answers: how a reply is asked for, read, written and scored.

A test names its kind and has the rest from it. Here are one word and one number; naming.py has what names one of a few
things that are known beforehand, and listing.py lists, sets and what each of several has.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

from carrara.answers.contract import FINAL, asks_for
from carrara.answers.layout import tidy
from carrara.answers.numbers import counted, find_numbers, read_number, settled, unchecked
from carrara.answers.numerals import in_digits
from carrara.answers.reading import agreed, said
from carrara.answers.words import read_word
from carrara.core.keys import Dice
from carrara.core.types import Question

A = TypeVar("A")

SPARE = 48
"""Tokens of a reply beside its answer: a few words that lead to it, quotes, a full stop."""
SHORT = 300
"""Characters of a reply in which numbers in words are looked for."""


class Answers(ABC, Generic[A]):
    rule: ClassVar[str] = ""
    """What the prompt says of the form of the reply."""
    floor: ClassVar[float] = 0.0
    """What a blind guess scores."""

    @abstractmethod
    def write(self, answer: A) -> str: ...

    @abstractmethod
    def read(self, reply: str, question: Question[A]) -> A | None: ...

    @abstractmethod
    def guess(self, dice: Dice, gold: A) -> A:
        """What somebody says who knows the form of an answer and nothing of the context."""

    def score(self, answer: A, gold: A) -> float:
        return float(answer == gold)

    def trivial(self, question: Question[A]) -> Mapping[str, str]:
        return {}

    def budget(self, gold: A) -> int:
        """Tokens that a reply may need: two for three characters are more than tokenizers take for words."""
        return SPARE + 2 * len(self.write(gold)) // 3


class Word(Answers[str]):
    rule = asks_for("that word")

    def write(self, answer: str) -> str:
        return answer

    def read(self, reply: str, question: Question[str]) -> str | None:
        word = read_word(reply, question.ask)
        return word and question.gold if word and word.casefold() == question.gold.casefold() else word

    def guess(self, dice: Dice, gold: str) -> str:
        return "unknown"


class Number(Answers[int]):
    rule = asks_for("that number")
    steps: ClassVar[bool] = False
    """Whether a calculation may come before the number."""

    def __init__(self, guess: tuple[int, int] = (1, 100)) -> None:
        """Between what numbers a blind guesser guesses."""
        self._least, self._most = guess

    def write(self, answer: int) -> str:
        return str(answer)

    def read(self, reply: str, question: Question[int]) -> int | None:
        text = unchecked(tidy(reply))
        worded = in_digits(text) if len(text) <= SHORT else text
        for digits in dict.fromkeys((text, worded)):
            answers = said(settled(digits, self._least < 0), read_number, find_numbers, _counted, steps=self.steps)
            if answers:
                return agreed(answers)
        return None

    def guess(self, dice: Dice, gold: int) -> int:
        return dice.between(self._least, self._most)


def _counted(text: str) -> Sequence[int]:
    return counted(in_digits(text) if len(text) <= SHORT else text)


class FinalNumber(Number):
    rule = f"End your reply with a line such as: {FINAL} 42"
    steps = True

    def __init__(self) -> None:
        super().__init__((-100, 100))

    def guess(self, dice: Dice, gold: int) -> int:
        return dice.between(1, 100)
