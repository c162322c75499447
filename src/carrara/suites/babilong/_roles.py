"""What the words around a label tell of it: whether it is said to be the answer, or cannot be.

In `Mary is in the garden, she was in the kitchen` only one place is said in the question's words; in `she left the
kitchen` the place is none at all; in `not the kitchen` it is denied.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from carrara.grading.choices import Finder, before_explanation
from carrara.grading.reading import Found, affirmed, beside

_FAR = 90
_END = re.compile(r"[.!?]\s|[.!?]\Z|\n")
_ARTICLE = re.compile(r"(?:(?:in|at|to)\s+)?(?:(?:the|an?)\s+)?", re.IGNORECASE)
NOT = r"(?:\bnot\b|n['’]t\b|\bcannot\b|\bno longer\b|\bnever\b)"
_DENIED = re.compile(
    rf"{NOT}(?!\s(?:only|sure|certain|know)\b)(?:\s(?!but\b)[\w-]+){{0,4}}\W{{0,3}}$|^\W*if\b"
    r"|\b(?:no|not enough|insufficient) (?:information|mention|evidence|indication)\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(rf"{NOT}|\b(?:whether|if|unless|neither)\b", re.IGNORECASE)
_OR = re.compile(r"\W*\b(?:n?or)\b(?:\W+(?:in|at|to))?(?:\W+(?:the|an?))?\W*", re.IGNORECASE)
_CLAUSE = re.compile(r"\W*(?:is|are|was|were|has|had|lies|will)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Sides:
    """What stands before a label, up to the label before it, or behind it; within its sentence."""

    before: re.Pattern[str] | None = None
    behind: re.Pattern[str] | None = None

    def fit(self, before: str, behind: str) -> bool:
        match = (self.before and self.before.search(before)) or (self.behind and self.behind.match(behind))
        return match is not None and not _DOUBT.search(match[0])


@dataclass(frozen=True)
class Roles:
    claims: tuple[Sides, ...] = ()
    """What makes a label the answer, the weightiest first."""
    never: Sides = Sides()
    """What makes it none, unless the weightiest claim holds too."""

    def find(self, text: str, find: Finder) -> Iterator[Found[str]]:
        """The labels in a text that may be the answer. One that stands for the empty answer is none of them."""
        found = [one for one in find(text) if one.answer]
        denied = False
        for i, one in enumerate(found):
            sides = _around(text, found, i)
            denied = bool(_DENIED.search(sides[0]) or (denied and _OR.fullmatch(sides[0])))
            if denied:
                continue
            if not self.never.fit(*sides) or (self.claims and self.claims[0].fit(*sides)):
                yield one

    def meant(self, find: Finder) -> Finder:
        """The finder of those labels alone; several rules look at the same long text."""
        return lru_cache(maxsize=4)(lambda text: tuple(self.find(text, find)))

    def claimed(self, text: str, meant: Finder) -> Sequence[str]:
        """The last label that the text says to be the answer, and those that stand beside it as alternatives."""
        text = before_explanation(text)
        found = affirmed(text, meant)
        around = [_around(text, found, i) for i in range(len(found))]
        for claim in self.claims:
            for i in range(len(found) - 1, -1, -1):
                if claim.fit(*around[i]):
                    return [one.answer for one in _alternatives(text, found, i)]
        return []


ANY = Roles()
"""Every label that is not denied."""


def after(*parts: str, near: bool = False) -> re.Pattern[str]:
    """The parts one behind the other, then the label; `near`: directly behind them, but for an article."""
    gap = "" if near else r"[^;,]{0,40}?"
    article = r"(?:\W+(?:in|at|to|as|on|of))?(?:\W+(?:the|an?))?\W*$"
    return re.compile(r"[^;,(]{0,40}?".join(parts) + gap + article, re.IGNORECASE)


def behind(*parts: str, gap: int = 25) -> re.Pattern[str]:
    return re.compile(rf"[^;]{{0,{gap}}}?" + r"[^;]{0,40}?".join(parts), re.IGNORECASE)


def _around(text: str, found: Sequence[Found[str]], i: int) -> tuple[str, str]:
    one = found[i]
    start = max(found[i - 1].end if i else 0, one.start - _FAR)
    end = min(found[i + 1].start if i + 1 < len(found) else len(text), one.end + _FAR)
    article = _ARTICLE.match(text, one.start)
    before = text[start : article.end() if article else one.start]
    return _END.split(before)[-1], _END.split(text[one.end : end], maxsplit=1)[0]


def _alternatives(text: str, found: Sequence[Found[str]], i: int) -> Sequence[Found[str]]:
    """Those beside a label: behind it as long as they begin no sentence of their own, before it if `or` joins them."""
    first, last = i, i
    while (
        first
        and " or " in text[found[first - 1].end : found[first].start + 1]
        and beside(text, *found[first - 1 : first + 1])
    ):
        first -= 1
    while last + 1 < len(found) and ";" not in text[found[last].end : found[last + 1].start]:
        if not beside(text, *found[last : last + 2]) or _CLAUSE.match(text, found[last + 1].end):
            break
        last += 1
    return found[first : last + 1]
