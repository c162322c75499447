"""Answer types: the form of an answer, and how it is asked for, compared and guessed.

A task names its type as `answer`. A type defines how a value is written and recognized; the search for it in a reply is
the same for all types (`extraction.py`). This module has the base class, one word and one number. `choice.py` has
answers from a closed list, and `listing.py` has lists, sets and the words of several agents.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import ClassVar, Generic, TypeVar

from carrara.answers.cues import NOT_AN_ANSWER, affirmative_sentences, is_vague
from carrara.answers.extraction import FINAL, LABEL, Extraction, asks_for, extract
from carrara.answers.number_words import in_digits
from carrara.rng import Rng
from carrara.types import Question

A = TypeVar("A")

SPARE = 48
"""The tokens of a reply beside its answer: a few leading words, quotes, a full stop."""
AROUND = " \"'.,;:!()[]{}\n"
"""Characters that may surround a value."""


class AnswerType(ABC, Generic[A]):
    """The base class of answer types: how an answer is asked for, read, compared and guessed.

    A type of your own implements `write` and `parse_value`, and `guesses` or both `guess` and `chance_level`.

    Attributes:
        rule: The sentence of the prompt that asks for the form of the reply.
        noun: The name of an answer in error messages.
        label: The beginning of the answer line.
        several_lines: Whether an answer may have several lines.
        leads: Characters after which an answer may stand at the end of a line, as in `apple: kitchen`.
        steps: Whether other values lead to the answer, as in a calculation. The last of several values then counts.
        says_no: Whether `no` is an answer, and does not retract the answer before it.
        verbatim: Whether the whole reply is the answer, such as a text to repeat.

    Examples:
        >>> from carrara.answers import AnswerType, asks_for
        >>> class Hour(AnswerType[int]):
        ...     rule = asks_for("that hour, such as 7 pm")
        ...     def write(self, answer):
        ...         return f"{answer} pm"
        ...     def parse_value(self, text, question):
        ...         hour, _, half = text.partition(" ")
        ...         return int(hour) if half == "pm" and hour.isdigit() else None
        ...     def guesses(self, gold, options):
        ...         return range(1, 13)
        >>> Hour().parse_value("7 pm", None), Hour().chance_level(7)
        (7, 0.08333333333333333)
    """

    rule: ClassVar[str] = ""
    noun: ClassVar[str] = "an answer"
    label: ClassVar[str] = LABEL
    several_lines: ClassVar[bool] = False
    verbatim: ClassVar[bool] = False
    leads: ClassVar[str] = "→:"
    steps: ClassVar[bool] = False
    says_no: ClassVar[bool] = False

    def takes(self, answer: object) -> bool:
        """Return whether a value is a valid answer of this type.

        Args:
            answer: The value, such as the gold answer of a plugin's instance.

        Returns:
            Whether it has the type that `noun` names.
        """
        return True

    @abstractmethod
    def write(self, answer: A) -> str:
        """Return an answer as a perfect reply states it.

        Args:
            answer: The answer.

        Returns:
            The text.
        """

    @abstractmethod
    def parse_value(self, text: str, question: Question[A]) -> A | None:
        """Parse a text that is an answer and nothing else.

        Args:
            text: The text.
            question: The question.

        Returns:
            The answer. None if the text is not one.
        """

    def find_values(self, text: str, question: Question[A]) -> Iterable[A]:
        """Return every answer that a text states among other words.

        Args:
            text: The text.
            question: The question.

        Returns:
            The answers, in the order of the text.
        """
        return ()

    def read(self, reply: str, question: Question[A], ignore: Iterable[str] = ()) -> Extraction | None:
        """Return the answer that a reply states, and the rule that found it.

        Args:
            reply: The reply of a model, unchanged.
            question: The question.
            ignore: Parts of the prompt that state no answer when a reply repeats them.

        Returns:
            The answer and the rule. None if the reply states no answer, or leaves several open.
        """
        return extract(self, reply, question, ignore)

    def label_of(self, question: Question[A]) -> str:
        """Return the beginning of the answer line of a question.

        Args:
            question: The question.

        Returns:
            The label.
        """
        return self.label

    def guesses(self, gold: A, options: Sequence[str]) -> Sequence[A]:
        """Return the answers that a guesser without the context chooses from, each as often as any other.

        A type with too many of them to list has its own `guess` and `chance_level` instead.

        Args:
            gold: The right answer, for its form alone.
            options: The possible answers, if they are a closed list.

        Returns:
            The answers.
        """
        raise NotImplementedError(f"{type(self).__name__} does not list its guesses")

    def guess(self, rng: Rng, gold: A, options: Sequence[str] = ()) -> A:
        """Draw one of the answers that a guesser without the context chooses from.

        Args:
            rng: Random numbers.
            gold: The right answer, for its form alone.
            options: The possible answers, if they are a closed list.

        Returns:
            The answer.
        """
        return rng.choice(self.guesses(gold, options))

    def chance_level(self, gold: A, options: Sequence[str] = ()) -> float:
        """Return the mean score of these guesses.

        Args:
            gold: The right answer.
            options: The possible answers, if they are a closed list.

        Returns:
            The mean score, from 0 to 1.
        """
        return fmean(self.score(answer, gold) for answer in self.guesses(gold, options))

    def score(self, answer: A, gold: A) -> float:
        """Return the score of an answer.

        Args:
            answer: The answer, as it was read.
            gold: The right answer.

        Returns:
            The score, from 0 to 1.
        """
        return float(answer == gold)

    def trivial(self, question: Question[A]) -> Mapping[str, str]:
        """Return trivial replies, such as one that names every option.

        Args:
            question: The question.

        Returns:
            The replies, by name.
        """
        return {}

    def budget(self, gold: A) -> int:
        """Return the tokens that a reply may need. Words take fewer than two tokens for three characters.

        Args:
            gold: The right answer.

        Returns:
            The number of tokens, with some to spare.
        """
        return SPARE + 2 * len(self.write(gold)) // 3


# --- one word ---

_TOKEN = r"[^\W_](?:[\w'’-]*\w)?"
_ONE_WORD = re.compile(rf"(?:the )?(?:word (?:is )?)?[^\w-]{{0,3}}(-?{_TOKEN})\W{{0,3}}", re.IGNORECASE)
_QUOTED = re.compile(r'"([^"\n]{1,60})"')
_IS_WORD = re.compile(rf"\b(?:is|was|be|by|with):? \W?(-?{_TOKEN})[\"'.!]*\Z", re.IGNORECASE)
WORD = re.compile(rf"-?{_TOKEN}")


def is_word(text: str) -> bool:
    """Return whether a text is one word or number."""
    return WORD.fullmatch(text) is not None


class Word(AnswerType[str]):
    """One word, which may be any word.

    Examples:
        >>> from carrara.answers import Word
        >>> from carrara.task import Question
        >>> q = Question("Which word comes next?", "oak", evidence=[], chance_level=0.0)
        >>> Word().read('FINAL ANSWER: "Oak".', q).answer
        'oak'
    """

    rule = asks_for("that word")
    noun = "a text"

    def takes(self, answer: object) -> bool:
        return isinstance(answer, str)

    def write(self, answer: str) -> str:
        return answer

    def parse_value(self, text: str, question: Question[str]) -> str | None:
        match = _ONE_WORD.fullmatch(text.strip(AROUND))
        return self._spelt(match[1], question) if match else None

    def find_values(self, text: str, question: Question[str]) -> Iterator[str]:
        """Yield the words in quotes that the question does not name, or else those that end a sentence after `is`."""
        question_quotes = {quote.casefold() for quote in _QUOTED.findall(question.ask)}
        sentences = affirmative_sentences(text, question)
        quoted = [
            quote
            for sentence in sentences
            for quote in _QUOTED.findall(sentence)
            if quote.casefold() not in question_quotes
        ]
        ends = [match[1] for sentence in sentences if (match := _IS_WORD.search(sentence[-80:].strip()))]
        for candidate in quoted or (end for end in ends if end.casefold() not in question_quotes):
            if (word := self.parse_value(candidate, question)) is not None:
                yield word

    def _spelt(self, word: str, question: Question[str]) -> str | None:
        if word.casefold() == question.gold.casefold():
            return question.gold
        return None if word.casefold() in NOT_AN_ANSWER else word.casefold()

    def guesses(self, gold: str, options: Sequence[str]) -> Sequence[str]:
        return options or ("unknown",)


# --- one number ---

_NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,5}|[0-9]{1,18})(?:\.0{1,6})?"
_ONE_NUMBER = re.compile(rf"(?P<sign>[-+]|minus |negative )? ?(?P<digits>{_NUMBER})(?: ?times?)?", re.IGNORECASE)
_ANY_NUMBER = re.compile(
    rf"(?<![\w.,+/*-])(?<!\d:)(?<!line )(?<!step )(?<!index )(?P<sign>[-+]|minus )?(?P<digits>{_NUMBER})"
    r"(?![\w%+]|[.,:/-]-?\d)",
    re.IGNORECASE,
)
_SHORT = 300
"""The length of a text up to which it is searched for numbers in words."""


def _int(match: re.Match[str]) -> int:
    number = int(match["digits"].partition(".")[0].replace(",", ""))
    return -number if (match["sign"] or "+")[0] in "-mMnN" else number


def read_number(text: str) -> int | None:
    """Return the whole number that a text is, in digits or in words.

    >>> read_number("-1,234"), read_number("12.0"), read_number("twelve"), read_number("12.5")
    (-1234, 12, 12, None)
    """
    text = text.strip(AROUND + "≈~=")
    match = _ONE_NUMBER.fullmatch(text) or (_ONE_NUMBER.fullmatch(in_digits(text)) if len(text) <= _SHORT else None)
    return _int(match) if match else None


def find_numbers(text: str) -> list[int]:
    """Return every whole number that a text states.

    >>> find_numbers("It comes 8 times, or eight. List 2.5 and x3 have none.")
    [8, 8]
    """
    text = in_digits(text) if len(text) <= _SHORT else text
    return [_int(match) for match in _ANY_NUMBER.finditer(text)]


class Number(AnswerType[int]):
    """A whole number.

    Args:
        guess: The least and the greatest number that an answer may be. A guesser chooses among all between them.

    Examples:
        >>> from carrara.answers import Number
        >>> from carrara.task import Question
        >>> q = Question("How many boats are there?", 12, evidence=[], chance_level=0.01)
        >>> Number(guess=(1, 50)).read("FINAL ANSWER: twelve", q).answer
        12
    """

    rule = asks_for("that number")
    noun = "a whole number"
    leads = "=→:"
    steps = True

    def __init__(self, guess: tuple[int, int] = (1, 100)) -> None:
        self._least, self._most = guess

    def takes(self, answer: object) -> bool:
        return isinstance(answer, int) and not isinstance(answer, bool)

    def write(self, answer: int) -> str:
        return str(answer)

    def parse_value(self, text: str, question: Question[int]) -> int | None:
        return read_number(text)

    def find_values(self, text: str, question: Question[int]) -> Iterator[int]:
        question_numbers = set(find_numbers(question.ask))
        sentences = (sentence for sentence in affirmative_sentences(text, question) if not is_vague(sentence))
        return (number for sentence in sentences for number in find_numbers(sentence) if number not in question_numbers)

    def guesses(self, gold: int, options: Sequence[str]) -> Sequence[int]:
        numbers = [number for option in options if (number := read_number(option)) is not None]
        return numbers or range(self._least, self._most + 1)

    def chance_level(self, gold: int, options: Sequence[str] = ()) -> float:
        guesses = self.guesses(gold, options)  # a range of any size is counted, and not walked through
        return guesses.count(gold) / len(guesses)


class FinalNumber(Number):
    """A whole number on the last line of a reply that may reason first.

    Examples:
        >>> from carrara.answers import FinalNumber
        >>> FinalNumber().rule
        'End your reply with a line such as: FINAL ANSWER: 42'
    """

    rule = f"End your reply with a line such as: {FINAL} 42"

    def __init__(self) -> None:
        super().__init__((-100, 100))
