"""Answers that name one of a few things that are known beforehand: yes or no, a list, an agent.

They are sound: what names every one of them states nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from carrara.answers.choices import latest
from carrara.answers.claims import BEFORE, PRESENT, SAME, Says
from carrara.answers.contract import asks_for
from carrara.answers.evidence import SO
from carrara.answers.kinds import Answers
from carrara.answers.layout import tidy
from carrara.answers.names import DIFFERS, HAS, Names, Tells
from carrara.answers.reading import Found, affirmed, agreed, said
from carrara.core.types import Question

__all__ = ["BEFORE", "PRESENT", "SAME", "ListName", "OneOf", "YesNo"]

_YES, _NO = "yes|yeah|yep", "nope|no"
_WORD = re.compile(
    rf"(?=[afnty])(?<![\w'’-])(?:(?P<yes>{_YES})|(?P<true>true|affirmative)|(?P<false>false|negative)"
    # `no` is a determiner more often than an answer: "no other word", "no doubt".
    r"|(?P<no>nope|no(?=\W*\Z|\s*\n|[^\w\s]|\s[^\w\s]|\s(?:or|and|nor|yes|because|since|as|it|they|the|this|that)\b)"
    r"(?!\.\s?[0-9])|(?<=yes and )no|(?<=yes or )no))(?![\w-])",
    re.IGNORECASE,
)
_MEANS = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}
_OPENING = re.compile(
    rf"\W{{0,4}}(?:(?:{SO}|well|then|sure|ok|okay),?\s)?(?:(?P<yes>{_YES})|(?P<no>{_NO}))\s?[,;:—-]",
    re.IGNORECASE,
)
"""A reply that says yes or no before all else, and goes on."""
_ASKED = re.compile(
    r"[(\[]\s?yes\s?(?:/|or|\|)\s?no\s?[)\]]|^\W{0,4}yes\s?(?:/|or)\s?no\s?(?=:)", re.IGNORECASE | re.MULTILINE
)
"""The form that is asked for, said again: `Answer (yes/no): yes`."""
_AS_WELL = re.compile(rf"\(({_YES}|{_NO})\)", re.IGNORECASE)
"""One answer beside another: `yes (no)`."""


class YesNo(Answers[str]):
    rule = asks_for("yes or no")
    noun = "the text 'yes' or 'no'"

    def __init__(self, claim: Says | None = None) -> None:
        """A claim reads what a sentence says in the question's words."""
        self._claim = claim

    def takes(self, answer: object) -> bool:
        return answer in ("yes", "no")

    def write(self, answer: str) -> str:
        return answer

    def read(self, reply: str, question: Question[str]) -> str | None:
        def claimed(text: str) -> Sequence[str]:
            if opening := _OPENING.match(text):
                return [opening.lastgroup or "", *(found.answer for found in affirmed(text, _plainly))]
            return self._claim.answers(text, question.ask) if self._claim else []

        text = _AS_WELL.sub(r" or \1", _ASKED.sub(" ", tidy(reply)))
        return agreed(said(text, _whole, _find, claimed, lambda text: latest(text, _plainly)))

    def guesses(self, gold: str, options: Sequence[str]) -> Sequence[str]:
        return ("yes", "no")

    def trivial(self, question: Question[str]) -> Mapping[str, str]:
        return {"always yes": "yes", "yes or no": "yes or no"}


def _find(text: str) -> Iterator[Found[str]]:
    for found in _WORD.finditer(text):
        yield Found(found.start(), found.end(), _MEANS[found.lastgroup or ""])


def _plainly(text: str) -> Iterator[Found[str]]:
    """Yes and no alone: `it is true that ...` is an answer only where nothing follows."""
    return (found for found in _find(text) if found.end - found.start < len("true"))


def _whole(text: str) -> str | None:
    found = _WORD.fullmatch(text)
    return _MEANS[found.lastgroup or ""] if found else None


class OneOf(Answers[str]):
    """One of the question's options, each a name such as `Agent C`, whose last word may stand alone for it."""

    rule = asks_for("that name")
    tells: Tells = HAS
    """What is said of the one, and of the others."""
    noun = "a text"

    def takes(self, answer: object) -> bool:
        return isinstance(answer, str)

    def write(self, answer: str) -> str:
        return answer

    def read(self, reply: str, question: Question[str]) -> str | None:
        names = _names(question.options, self.tells)
        return agreed(names.said(reply))

    def guesses(self, gold: str, options: Sequence[str]) -> Sequence[str]:
        return options or ("unknown",)

    def trivial(self, question: Question[str]) -> Mapping[str, str]:
        return {"every name": ", ".join(question.options)}


class ListName(OneOf):
    """`List 3`: the one that has something, or `no` if none has; or else the one that is not like the others."""

    rule = asks_for('the name of that list, such as "List 1"')

    def __init__(self, none: bool) -> None:
        self.tells = HAS if none else DIFFERS


_names = lru_cache(maxsize=64)(Names)
