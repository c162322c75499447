"""Kinds of answers: how a reply is asked for, read, written and scored.

A test names its kind and has the rest from it. Here are one word and one number; naming.py has what names one of a few
things that are known beforehand, and listing.py lists, sets and what each of several has.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from statistics import fmean
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
    noun: ClassVar[str] = "an answer"
    """What an answer is, as messages call it."""

    def takes(self, answer: object) -> bool:
        """Return whether an answer is of the type that `noun` names."""
        return True

    @abstractmethod
    def write(self, answer: A) -> str: ...

    @abstractmethod
    def read(self, reply: str, question: Question[A]) -> A | None: ...

    def guesses(self, gold: A, options: Sequence[str]) -> Sequence[A]:
        """Return the answers that a guesser without the context chooses from, each as often as any other.

        A kind with too many of them to list has its own `guess` and `chance_level` instead.

        Args:
            gold: The right answer, for its form alone.
            options: The answers that the question leaves open, where they are a closed list.
        """
        raise NotImplementedError(f"{type(self).__name__} does not list its guesses")

    def guess(self, dice: Dice, gold: A, options: Sequence[str] = ()) -> A:
        """Draw one of the answers that a guesser without the context chooses from."""
        return dice.choice(self.guesses(gold, options))

    def chance_level(self, gold: A, options: Sequence[str] = ()) -> float:
        """Return what those guesses score on average."""
        return fmean(self.score(answer, gold) for answer in self.guesses(gold, options))

    def score(self, answer: A, gold: A) -> float:
        return float(answer == gold)

    def trivial(self, question: Question[A]) -> Mapping[str, str]:
        return {}

    def budget(self, gold: A) -> int:
        """Tokens that a reply may need: two for three characters are more than tokenizers take for words."""
        return SPARE + 2 * len(self.write(gold)) // 3


class Word(Answers[str]):
    rule = asks_for("that word")
    noun = "a text"

    def takes(self, answer: object) -> bool:
        return isinstance(answer, str)

    def write(self, answer: str) -> str:
        return answer

    def read(self, reply: str, question: Question[str]) -> str | None:
        word = read_word(reply, question.ask)
        return word and question.gold if word and word.casefold() == question.gold.casefold() else word

    def guesses(self, gold: str, options: Sequence[str]) -> Sequence[str]:
        return options or ("unknown",)


class Number(Answers[int]):
    rule = asks_for("that number")
    noun = "a whole number"
    steps: ClassVar[bool] = False
    """Whether a calculation may come before the number."""

    def __init__(self, guess: tuple[int, int] = (1, 100)) -> None:
        """Take the least and the largest number that an answer may be: a guesser chooses from all between them."""
        self._least, self._most = guess

    def takes(self, answer: object) -> bool:
        return isinstance(answer, int) and not isinstance(answer, bool)

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

    def guesses(self, gold: int, options: Sequence[str]) -> Sequence[int]:
        numbers = [number for option in options if (number := read_number(option)) is not None]
        return numbers or range(self._least, self._most + 1)

    def chance_level(self, gold: int, options: Sequence[str] = ()) -> float:
        guesses = self.guesses(gold, options)  # a range of any size is counted, and not walked through
        return guesses.count(gold) / len(guesses)


def _counted(text: str) -> Sequence[int]:
    return counted(in_digits(text) if len(text) <= SHORT else text)


class FinalNumber(Number):
    rule = f"End your reply with a line such as: {FINAL} 42"
    steps = True

    def __init__(self) -> None:
        super().__init__((-100, 100))
