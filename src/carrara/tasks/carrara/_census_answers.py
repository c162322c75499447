"""Answers of a census: a number, one of some choices, or a set of users.

>>> from carrara.types import Question
>>> ask = Question("Are more records about birds or about fish?", "fish", (), 0.0, options=("birds", "fish", "equal"))
>>> CensusAnswer().read("More of them are about fish.", ask).answer
'fish'
>>> CensusAnswer().read("FINAL ANSWER: 7", Question("How many are there?", 5, (), 0.0)).answer
7
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from carrara.answers import AnswerType, Number, asks_for
from carrara.answers.choice import Choice
from carrara.answers.cues import affirmative_sentences
from carrara.answers.extraction import Extraction
from carrara.generators.people import MONTHS
from carrara.rng import Rng
from carrara.tasks.carrara._nodes import Nodes
from carrara.types import ErrorType, Question

Answer = int | str | tuple[str, ...]
EQUAL = "equal"
_EQUAL = ("equal", "equally many", "as many", "the same", "tie", "neither", "both")
_MONTHS = {month[:3].lower(): month for month in MONTHS}


class NamedChoice(Choice):
    """One of the options, which the question may name too."""

    def synonyms(self, options: Sequence[str]) -> Mapping[str, str]:
        words = dict(super().synonyms(options))
        if EQUAL in options:
            words |= dict.fromkeys(_EQUAL, EQUAL)
        return words | {word: month for word, month in _MONTHS.items() if month in options}

    def find_values(self, text: str, question: Question[str]) -> Iterator[str]:
        words = self.words(question.options)
        return (one for sentence in affirmative_sentences(text, question) for one in words.find(sentence))


_NUMBER, _CHOICE, _USERS = Number(), NamedChoice(), Nodes()


class CensusAnswer(AnswerType[Answer]):
    """The type of answer that the right one has."""

    rule = asks_for("the answer")

    def write(self, answer: Answer) -> str:
        return _type_of(answer).write(answer)

    def parse_value(self, text: str, question: Question[Answer]) -> Answer | None:
        return _type_of(question.gold).parse_value(text, question)

    def find_values(self, text: str, question: Question[Answer]) -> Iterable[Answer]:
        return _type_of(question.gold).find_values(text, question)

    def read(self, reply: str, question: Question[Answer], ignore: Iterable[str] = ()) -> Extraction | None:
        return _type_of(question.gold).read(reply, question, ignore)

    def guess(self, rng: Rng, gold: Answer, options: Sequence[str] = ()) -> Answer:
        guess: Answer = _type_of(gold).guess(rng, gold, options)
        return guess

    def chance_level(self, gold: Answer, options: Sequence[str] = ()) -> float:
        return _type_of(gold).chance_level(gold, options)

    def score(self, answer: Answer, gold: Answer) -> float:
        return _type_of(gold).score(answer, gold)

    def budget(self, gold: Answer) -> int:
        return _type_of(gold).budget(gold)


def _type_of(answer: Answer) -> AnswerType[Any]:
    if isinstance(answer, int):
        return _NUMBER
    return _CHOICE if isinstance(answer, str) else _USERS


def error_type(answer: Answer, gold: Answer) -> ErrorType | None:
    """Return how an answer is wrong. None if it is right."""
    if answer == gold:
        return None
    if isinstance(answer, int) and isinstance(gold, int):
        return _number_error(answer - gold)
    if isinstance(answer, tuple):
        return _users_error({*answer}, {*gold} if isinstance(gold, tuple) else set())
    if gold in MONTHS:
        months = MONTHS.index(str(answer)) - MONTHS.index(str(gold))
        return ErrorType("month too late" if months > 0 else "month too early", f"by {abs(months)}")
    if EQUAL in (answer, gold):
        return ErrorType("equal said, and one has more" if answer == EQUAL else "one said, and both are equal")
    return ErrorType("another one")


def _number_error(off: int) -> ErrorType:
    if abs(off) == 1:
        return ErrorType("one too many" if off > 0 else "one too few")
    return ErrorType("too many" if off > 0 else "too few", f"by {abs(off)}")


def _users_error(said: set[str], gold: set[str]) -> ErrorType:
    missing, more = len(gold - said), len(said - gold)
    if not said:
        return ErrorType("none said, and there are users", f"{missing} missing")
    kind = "users missing and too many" if missing and more else "users missing" if missing else "users too many"
    return ErrorType(kind, f"{missing} missing, {more} too many")
