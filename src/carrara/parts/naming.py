"""Answers that name one of a few things that are known beforehand: yes or no, a list, an agent.

They are sound: what names every one of them states nothing.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from carrara.grading.choices import Choices, latest
from carrara.grading.reading import agreed, said, spoken, tidy
from carrara.keys import Dice
from carrara.parts.answers import Answers, Reference
from carrara.types import Question

FEW = 2
"""Lists that an explanation may name: the one and another."""


class Claim(NamedTuple):
    """What sentences say that answer in the question's words: `The word is not present in the context.`"""

    yes: str
    no: str

    def answers(self, text: str) -> list[str]:
        plain = (sentence for sentence in _SENTENCE.split(text) if not _CONTRAST.search(sentence))
        found = (match for sentence in plain if (match := _claim(self).search(sentence)))
        return ["no" if (match["not"] is None) == (match["no"] is not None) else "yes" for match in found]


PRESENT = Claim(yes="present|there|found|appears?|occurs?|in the context", no="absent|missing")
SAME = Claim(yes="same", no="different")

_CONTRAST = re.compile(r"\b(?:but|although|though|however|except|while|whereas|only|if|whether)\b", re.IGNORECASE)
"""Where a sentence says two things: `The words are present, but not in this order.`"""
_SENTENCE = re.compile(r"(?<=[.!])\s|\n")


@lru_cache(maxsize=8)
def _claim(claim: Claim) -> re.Pattern[str]:
    return re.compile(
        r"\b(?:is|are|was|were|do|does|did|has|have|appears?|occurs?|belongs?)(?:(?P<not>n['’]t| not| never)\b|\b)"
        rf"[^.,:?!\n]{{0,40}}?\b(?:(?:{claim.yes})|(?P<no>{claim.no}))\b",
        re.IGNORECASE,
    )


class YesNo(Answers[str]):
    rule = "Answer with yes or no and nothing else."
    floor = 0.5
    _choices = Choices({"yes": "yes", "no": "no"})

    def __init__(self, claim: Claim | None = None) -> None:
        self._claimed = claim and claim.answers

    def write(self, answer: str) -> str:
        return answer

    def read(self, reply: str, question: Question[str]) -> str | None:
        return self._choices.read(reply, claimed=self._claimed)

    def guess(self, dice: Dice, gold: str) -> str:
        return dice.choice(("yes", "no"))

    def reference(self, answer: str) -> Reference:
        return answer

    def trivial(self, question: Question[str]) -> Mapping[str, str]:
        return {"always yes": "yes", "yes or no": "yes or no"}


class OneOf(Answers[str]):
    """One of the question's options, each a name such as `Agent C`, whose last word may stand alone for it."""

    rule = "Reply with that name and nothing else."

    def write(self, answer: str) -> str:
        return answer

    def read(self, reply: str, question: Question[str]) -> str | None:
        names = _names(question.options)

        def otherwise(text: str) -> Sequence[str]:
            """Whatever is named, unless it is everything."""
            return latest(text, names.find) if len({found.answer for found in names.find(text)}) <= FEW else []

        return agreed(said(tidy(spoken(reply)), names.whole, names.find, otherwise=otherwise))

    def guess(self, dice: Dice, gold: str) -> str:
        return "unknown"

    def reference(self, answer: str) -> Reference:
        return answer

    def trivial(self, question: Question[str]) -> Mapping[str, str]:
        return {"every name": ", ".join(question.options)}


class ListName(OneOf):
    """`List 3`, or `no` where it may be none of them."""

    rule = 'Reply with the name of that list, such as "List 1", and nothing else.'

    def __init__(self, none: bool) -> None:
        self._none = none

    def guess(self, dice: Dice, gold: str) -> str:
        return "no" if self._none else "List 1"


class _Names(Choices):
    def whole(self, text: str) -> str | None:
        """A name, or the end of one."""
        return super().whole(text) or next((name for name in self.words.values() if name.endswith(f" {text}")), None)


@lru_cache(maxsize=64)
def _names(options: tuple[str, ...]) -> Choices:
    names = {option.lower(): option for option in options}
    return _Names({**names, "none": "no"} if "no" in names else names)
