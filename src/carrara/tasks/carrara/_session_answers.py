"""Answers to questions about sessions: a town, that it was not said, or a number of towns.

>>> from carrara.types import Question
>>> options = "Ashford", NOT_SAID
>>> which = Question("In which town was Clara's boat first?", SessionAnswer("Ashford"), (), 0.0, options=options)
>>> [SessionAnswerType().read(reply, which).answer.value for reply in ("It was in Ashford.", "FINAL ANSWER: unknown")]
['Ashford', 'not said']
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from carrara.answers import AnswerType, asks_for
from carrara.answers.choice import Choice
from carrara.answers.cues import affirmative_sentences
from carrara.answers.extraction import behind_label
from carrara.answers.types import find_numbers, read_number
from carrara.generators.people import MONTHS
from carrara.types import Question

NOT_SAID = "not said"
_ALSO_NOT_SAID = (
    "never said", "not mentioned", "not stated", "not specified", "not told", "not known", "unknown",
    "it is not said", "it was not said",
)  # fmt: skip
_DATE = re.compile(rf"\b[0-9]{{1,2}} (?:{'|'.join(MONTHS)}) [0-9]{{4}}\b")
_TOWNS = re.compile(r" (?:different )?towns?\Z")


@dataclass(frozen=True)
class SessionAnswer:
    """A town, `not said`, or a number in digits."""

    value: str
    errors: Mapping[str, str] = field(default_factory=dict[str, str], compare=False, repr=False)
    """In what way each town of the text is wrong. Only a gold answer has them."""

    @property
    def is_number(self) -> bool:
        return self.value.isdecimal()


class _Place(Choice):
    """One of the towns, or that it was not said."""

    def synonyms(self, options: Sequence[str]) -> Mapping[str, str]:
        return {**super().synonyms(options), **dict.fromkeys(_ALSO_NOT_SAID, NOT_SAID)}


_PLACE = _Place()


class SessionAnswerType(AnswerType[SessionAnswer]):
    """A town, that it was not said, or a number of towns."""

    rule = asks_for("the answer alone")

    def write(self, answer: SessionAnswer) -> str:
        return answer.value

    def parse_value(self, text: str, question: Question[Any]) -> SessionAnswer | None:
        if question.gold.is_number:
            number = read_number(_TOWNS.sub("", text.strip(" .")))
            return None if number is None else SessionAnswer(str(number))
        place = _PLACE.parse_value(text, question)
        return None if place is None else SessionAnswer(place)

    def find_values(self, text: str, question: Question[Any]) -> Iterator[SessionAnswer]:
        if not question.gold.is_number:
            yield from map(SessionAnswer, _PLACE.find_values(text, question))
            return
        for sentence in affirmative_sentences(text, question):
            yield from (SessionAnswer(str(number)) for number in find_numbers(_DATE.sub(" ", sentence)))

    def trivial(self, question: Question[Any]) -> Mapping[str, str]:
        return {"not said": NOT_SAID, "every choice": ", ".join(question.options)}

    def budget(self, gold: SessionAnswer) -> int:
        return 32


_VALUE = re.compile(r"\s*[\"'\[<]?(\w+(?:\s+\w+)?)[\"'\]>]?(?=[\n,.;:]|\s*\Z)")


def pi_llm(reply: str, gold: str) -> float:
    """Return PI-LLM's score of one value: an exact match in any case of what the answer begins with.

    >>> pi_llm("FINAL ANSWER: **ashford**.", "Ashford"), pi_llm("FINAL ANSWER: It is in Ashford", "Ashford")
    (1.0, 0.0)
    """
    answer = re.sub(r"[*\\]", "", behind_label(reply)).lstrip(": ")
    found = _VALUE.match(answer)
    return float(found is not None and found[1].partition("\n")[0].lower() == gold.lower())
