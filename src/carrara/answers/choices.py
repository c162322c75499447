"""Answers from a closed list of words: places, people, yes and no, numbers up to three.

>>> places = Choices({"garden": "garden", "kitchen": "kitchen", "office": "office"})
>>> places.read("Mary went from the kitchen to the garden."), places.read("The garden or the kitchen.")
('garden', None)
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from carrara.answers.casing import looked_up
from carrara.answers.evidence import EXPLAINS
from carrara.answers.layout import tidy
from carrara.answers.reading import Found, Rule, affirmed, agreed, beside, said
from carrara.answers.turns import spoken

Finder = Callable[[str], Iterable[Found[str]]]

_EXPLAINED = re.compile(rf"\n\W{{0,4}}(?:{EXPLAINS})\b[^\w\n]{{0,4}}:", re.IGNORECASE)
_REASON = re.compile(
    r"(?<=\w)[^\w.!?\n]{1,3}(?:because|since|although|while|(?<!\bis )where|having|after|,\s?as|(?<=,\s)as)\b[^.!?\n]*"
    r"|\([^()\n]{0,200}\)",
    re.IGNORECASE,
)
_UNTOLD = re.compile(
    r"(?:\b(?:not|never|no)\b|n['’]t\b)(?: [\w-]+){0,3}? (?:says?|tells?|told|mention(?:s|ed)?"
    r"|specif(?:y|ies|ied)|states?|stated|given|provided?|contain|indicated?|determined?|clear|known|information|enough)\b",
    re.IGNORECASE,
)
_NEXT_ITEM = re.compile(r"[\s,;]{0,3}\(?[a-z0-9][.)]\s|\s?[-+]\s|\svs\.?\s|[\s,]{1,2}[0-9]{1,3}\s?%\s", re.IGNORECASE)
_ARTICLE = r"(?:(?:in|at|to)\s+)?(?:(?:the|an?)\s+)?"


@dataclass(frozen=True)
class Choices:
    words: Mapping[str, str]
    """What may be said, in lower case, and the answer that it stands for."""

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self.words, key=lambda word: (-len(word), word))
        words = "|".join(re.escape(word).replace(r"\ ", r"\s{1,3}") for word in longest_first)
        return re.compile(rf"(?<![\w-]){_ARTICLE}(?<![\w-])({words})(?![\w-])", re.IGNORECASE)

    def _answer(self, found: re.Match[str]) -> str:
        return looked_up(self.words, " ".join(found[1].split()))

    def find(self, text: str) -> Iterator[Found[str]]:
        """The answers said in a text, in order; whole words only, the longest first."""
        for found in self._pattern.finditer(text):
            yield Found(found.start(), found.end(), self._answer(found))

    def whole(self, text: str) -> str | None:
        """The answer that a text is, and nothing else."""
        found = self._pattern.fullmatch(text)
        return self._answer(found) if found else None

    def read(self, reply: str, find: Finder | None = None, claimed: Rule[str] | None = None) -> str | None:
        """The one answer that a reply gives; None if it gives none, or leaves it open.

        Beside what `stated` reads, an answer may stand inside a sentence: see `latest`. `find` may find fewer answers
        than there are words, where the place of a word tells that it is none; `claimed` is as in `said`.
        """
        find = find or self.find

        def otherwise(text: str) -> Sequence[str]:
            return [] if _UNTOLD.search(text) else latest(text, find)

        return agreed(said(tidy(spoken(reply)), self.whole, find, claimed, otherwise))


def latest(text: str, find: Finder) -> Sequence[str]:
    """The last answer that is named, or several if it stands beside another as an alternative.

    What is only an explanation or a reason counts where nothing else names an answer.
    """
    for part in (_REASON.sub("", before_explanation(text)), text):
        if found := affirmed(part, find):
            first = len(found) - 1
            while first and _alternatives(part, found[first - 1], found[first]):
                first -= 1
            return [one.answer for one in found[first:]]
    return []


def before_explanation(text: str) -> str:
    """A text up to the line that explains it."""
    return _EXPLAINED.split(text, maxsplit=1)[0]


def _alternatives(text: str, one: Found[str], other: Found[str]) -> bool:
    if text.startswith("to ", other.start):  # 'from the kitchen to the garden' is a way
        return False
    return beside(text, one, other) or _NEXT_ITEM.fullmatch(text, one.end, other.start) is not None
