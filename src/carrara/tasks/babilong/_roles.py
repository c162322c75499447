"""What the words around a label tell of it: whether it is said to be the answer, or cannot be.

In `Mary is in the garden, she was in the kitchen` only one place is said in the question's words; in `she left the
kitchen` the place is none at all; in `not the kitchen` it is denied.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from carrara.answers.choices import Finder, before_explanation
from carrara.answers.evidence import NOT as DENIES
from carrara.answers.reading import Found, affirmed, beside

LABEL = "\0"
About = Callable[[str, str], bool]
"""Whether the words before a label and behind it are about somebody."""
_FAR = 90
_MANY = 4_000
"""Labels of a text whose words around are looked at: the last ones, since an answer given later counts more."""
_END = re.compile(r"[.!?]\s|[.!?]\Z|\n")
_ARTICLE = re.compile(r"(?:(?:in|at|to)\s+)?(?:(?:the|an?)\s+)?", re.IGNORECASE)
NOT = rf"(?:{DENIES}|\bno longer\b)"
AT_FIRST = r"(?:initially|originally|at first|(?:at|in) the (?:very )?(?:start|beginning|outset)|to begin with)"
THEN = r"(?:then|later(?: on)?|after(?:wards?| (?:that|this))|subsequently|next|since then)"
WENT = r"(?:went|moved|travell?ed|journeyed|returned|walked|headed)"
_DENIED = re.compile(
    rf"{NOT}(?!\s(?:only|sure|certain|know)\b)(?:\s(?!but\b)[\w-]+){{0,4}}\W{{0,3}}$|^\W*if\b"
    r"|\bneither\b[^,;]{0,40}$"
    r"|\b(?:no|not enough|insufficient) (?:information|mention|evidence|indication)\b"
    r"|\b(?:might|may|could)\b(?:\s(?!but\b)[\w-]+){0,5}\W{0,3}$",
    re.IGNORECASE,
)
_LEFT_OPEN = re.compile(
    r"[^.!?\n]{0,60}\?\s+(?:I['’]m not sure|I am not sure|I (?:do not|don['’]t|cannot|can['’]t) (?:know|say|tell)"
    r"|(?:it is )?un\w+)\b",
    re.IGNORECASE,
)
"""A question that is not answered."""
_DOUBT = re.compile(rf"{NOT}|\b(?:whether|if|unless|neither)\b", re.IGNORECASE)
_OR = re.compile(r"\W*\b(?:n?or)\b(?:\W+(?:in|at|to))?(?:\W+(?:the|an?))?\W*", re.IGNORECASE)
_COMMA_OR = re.compile(rf"{_OR.pattern}|\W*,(?:\W+(?:in|at|to))?(?:\W+(?:the|an?))?\W*", re.IGNORECASE)
_CLAUSE = re.compile(r"\W*(?:is|are|was|were|has|had|lies|will)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Sides:
    """What stands before a label, up to the label before it, or behind it; within its sentence.

    `around` sees both, with `LABEL` in the middle.
    """

    before: re.Pattern[str] | None = None
    behind: re.Pattern[str] | None = None
    around: re.Pattern[str] | None = None

    def fit(self, before: str, behind: str) -> bool:
        match = (
            (self.before and self.before.search(before))
            or (self.behind and self.behind.match(behind))
            or (self.around and self.around.search(before + LABEL + behind))
        )
        return match is not None and not _DOUBT.search(match[0])


@dataclass(frozen=True)
class Roles:
    claims: tuple[Sides, ...] = ()
    """What makes a label the answer, the weightiest first."""
    never: Sides = Sides()
    """What makes it none, unless a claim holds too, and not the weakest of several."""
    barred: Sides = Sides()
    """What makes it none in any case."""
    passed: re.Pattern[str] | None = None
    """What makes it none behind it, in the next sentence too: that things have changed since."""
    of_another: About | None = None
    """Whether what stands around it is about somebody else."""

    def find(self, text: str, find: Finder) -> Iterator[Found[str]]:
        """The labels in a text that may be the answer. One that stands for the empty answer is none of them."""
        found = [one for one in find(text) if one.answer]
        denied = neither = False
        yield from found[:-_MANY]
        for i in range(max(0, len(found) - _MANY), len(found)):
            sides = _sides(text, found, i)
            before = sides[0]
            joined = _COMMA_OR if neither else _OR
            denied = bool(_DENIED.search(before) or (denied and joined.fullmatch(before)))
            neither = denied and (neither or "neither" in before.lower())
            if (
                denied
                or _LEFT_OPEN.match(text, found[i].end)
                or self.barred.fit(*sides)
                or (self.passed and self.passed.match(text, found[i].end))
            ):
                continue
            if self.of_another and self.of_another(*sides):
                continue
            if not self.never.fit(*sides) or any(claim.fit(*sides) for claim in self.claims[:-1] or self.claims):
                yield found[i]

    def meant(self, find: Finder) -> Finder:
        """The finder of those labels alone; several rules look at the same long text."""
        return lru_cache(maxsize=4)(lambda text: tuple(self.find(text, find)))

    def claimed(self, text: str, meant: Finder) -> Sequence[str]:
        """The last label that the text says to be the answer, and those that stand beside it as alternatives."""
        text = before_explanation(text)
        found = affirmed(text, meant)
        around = {i: _sides(text, found, i) for i in range(len(found) - 1, max(-1, len(found) - 1 - _MANY), -1)}
        for claim in self.claims:
            for i, sides in around.items():
                if claim.fit(*sides):
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


def around(*ways: str) -> re.Pattern[str]:
    """One of several ways to stand around a label."""
    return re.compile("|".join(ways), re.IGNORECASE)


def _sides(text: str, found: Sequence[Found[str]], i: int) -> tuple[str, str]:
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
