"""The answers of Latent List: what Python shows, a list of whole numbers or a number."""

import re
from collections.abc import Iterable

from carrara.answers import AnswerType
from carrara.answers.cues import affirmative_sentences, denies
from carrara.answers.types import find_numbers, read_number
from carrara.tasks.michelangelo._list_machine import Answer
from carrara.types import Question

# No group is possessive: Python before 3.11.5 does not go back to where an iteration began that fails.
_LIST = re.compile(r"(?<![\w\](])\[\s*+(?:(?:- ?)?[0-9]{1,18}\s*+,\s*+){0,9999}(?:(?:- ?)?[0-9]{1,18}\s*+)?\]")
_INTEGER = re.compile(r"-?[0-9]+")


class Output(AnswerType[Answer]):
    """An answer as Python shows it: a list or a number."""

    label = "Output"
    leads = "=→:"
    steps = True

    def write(self, answer: Answer) -> str:
        return str(list(answer) if isinstance(answer, tuple) else answer)

    def parse_value(self, text: str, question: Question[Answer]) -> Answer | None:
        return read_list(text) if isinstance(question.gold, tuple) else read_number(text)

    def find_values(self, text: str, question: Question[Answer]) -> Iterable[Answer]:
        if isinstance(question.gold, tuple):
            return () if denies(text) else find_lists(text)
        return (number for sentence in affirmative_sentences(text, question) for number in find_numbers(sentence))

    def budget(self, gold: Answer) -> int:
        return 192 if isinstance(gold, tuple) else 32


def read_list(text: str) -> tuple[int, ...] | None:
    """Return the list of whole numbers that a text is.

    >>> read_list("[1, -2,3]"), read_list("1, 2"), read_list("[]")
    ((1, -2, 3), None, ())
    """
    return _numbers(text) if _LIST.fullmatch(text.strip(" .")) else None


def find_lists(text: str) -> list[tuple[int, ...]]:
    """Return the lists of whole numbers in a text."""
    return [_numbers(found) for found in _LIST.findall(text)]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, _INTEGER.findall(text.replace("- ", "-"))))
