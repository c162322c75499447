"""Which values a reply states, and what naming some of them is worth.

>>> from carrara.suites.classic._values import NUMBER
>>> one("It is 4,821,937.", NUMBER, "Which?"), one("4821937 or 1234567", NUMBER, "Which?")
('4821937', None)
>>> several("First 1111111.\\nAnswer: 4821937 and 1234567", NUMBER, "Which?")
('1234567', '4821937')
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from math import comb
from typing import NamedTuple

from carrara.answers.choices import before_explanation
from carrara.answers.evidence import AGAIN, ANSWER, IN_ALL, SO, WRONG
from carrara.answers.layout import plain, tidy
from carrara.answers.reading import Found, affirmed, agreed, beside, said
from carrara.suites.classic._values import CODE, NAME, Kind

_ANOTHERS = re.compile(
    r"[^.,;:!?\n]{0,40}\b(?:for|of|to) (?:another|some other|a different) (?:name|key|one)\b", re.IGNORECASE
)
_BOX = re.compile(r"\\boxed\s?\{([^{}\n]*)\}")
_STOP = re.compile(r"(?<=[.!?;])\s|\n")
_ANNOUNCED = re.compile(
    rf"\b(?:{ANSWER})\b(?: ?#?[0-9]{{1,3}}\b)?[^\w\n]{{0,4}}(?:\b(?:is|are)\b|[:=])"
    r"|\A\W{0,9}(?:(?:my|the|final|correct)\s){0,3}answers?\W{0,9}\Z",
    re.IGNORECASE,
)
_FINALLY = re.compile(r"^\W{0,9}(?:(?:my|the|final|correct)\s){0,3}answers?\W{0,9}(?::|\bis\b|$)", re.M | re.I)
_LEADS = re.compile(
    r"(?:[:=→]|[-=]>|\b(?:is|are|be|being|was|were|it['’]s|namely|gives?|includes?|remain|leaves|but))\W{0,9}\Z", re.I
)
_SO = re.compile(
    rf"\W{{0,9}}(?:and )?(?:{SO}|{IN_ALL})\b[\s,:]{{0,4}}",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:others?|rest|remaining|not(?:es?)?|neither|none|exclud\w{1,9}|ignor\w{1,9}|distract\w{1,9}|irrelevant"
    rf"|unrelated|{WRONG}|different|elsewhere|fourth|fifth|next|followed|runners?.up|unlike)\b|n['’]t\b",
    re.IGNORECASE,
)
_MORE = re.compile(r"\b(?:also|too|as well|likewise)\b", re.IGNORECASE)
_AGAIN = re.compile(
    rf"(?:(?<=[.!?…]\s)|(?<=\n))(?:(?:oh|hmm|no)\W{{1,3}})?(?:{AGAIN})\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"(?<=\W)(?:(?:and|but) )?(?:not|but(?! also)|while|whereas|although|though|however|unlike|except|excluding)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|except|excluding|unlike|without|other than|apart from)(?:\s(?:for|the|variables?|words?)){0,3}"
    r"[^\w.\n]*+",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\(([^()\n]{0,300})\)")
_ADDED = re.compile(r"\s?(?:and|plus|also|as well as)\b", re.IGNORECASE)
_JOINT, _COUNT = (
    re.compile(
        rf"(?:[^\w{signs}]|_|\b(?:[0-9]{{1,20}}(?:st|nd|rd|th|x)?|and|or|plus|also|finally|lastly|as|well|then|the|an?|for"
        r"|var|(?:variable|word|number|code|name|value|key|time|count|occurrence)s?|coded|x|each|both|frequency"
        r"|(?:occur|appear)(?:s|ed)?)\b)*+",
        re.IGNORECASE,
    )
    for signs in ("=≠←", "≠←")
)
"""What joins values of a list, the second where they may be given counts."""
_NUMBER = re.compile(r"(?<![\w.,-])(?:[0-9]{4,20}|[0-9]{1,3}(?:,[0-9]{3}){1,6})(?![\w-])")
_WORD = re.compile(r"\w+")
_TALK, _TALK_EACH = 20, 10
"""Other words that a plain list may have, and so many more for each value; of a longer reply the last lines count."""


def one(reply: str, kind: Kind, ask: str) -> str | None:
    """The one value that a reply states; None if it states none, or several. What the question names is no answer."""
    asked = {found.answer for found in kind.find(ask)}

    def read(text: str) -> str | None:
        return value if (value := kind.whole(text)) not in asked else None

    def find(text: str) -> Iterable[Found[str]]:
        return (one for one in kind.find(text) if one.answer not in asked and not _ANOTHERS.match(text, one.end))

    return agreed(said(tidy(_own(reply, ask)), read, find))


def several(reply: str, kind: Kind, ask: str) -> tuple[str, ...] | None:
    """All values that a reply states, each once, in order; None if it states none.

    A list is what counts: lines or a sentence in which the values stand side by side. It is the last that is announced
    ('answer:'), the one that ends the reply, or the one that begins it; what is said to be other, or not meant, is
    no such list. Without one, all that is named counts, or, if much else is said, what the last lines name. Lists that
    stand together are one, so that stating several gains nothing.
    """
    text = plain(_BOX.sub(r"\nAnswer: \1\n", tidy(_own(reply, ask))))
    short = before_explanation(text)
    for part in (text,) if _FINALLY.search(text, len(short)) else (short, text):
        if answers := _Lists(part, kind, ask).stated():
            return tuple(sorted(set(answers)))
    return None


def right(answer: Sequence[str], gold: Sequence[str]) -> float:
    """What a set is worth: each right name counts for it, each wrong one against it, and nothing is less than 0.

    So it is the share found where nothing wrong is named, and naming everything is worth nothing as soon as there is as
    much that is wrong as is right.

    >>> right("ab", "abcd"), right("abcd", "abcd"), right("abcdef", "abcd"), right("abcdefgh", "abcd")
    (0.5, 1.0, 0.5, 0.0)
    """
    found = len(set(answer) & set(gold))
    return max(0, 2 * found - len(set(answer))) / len(gold)


def blind(known: int, gold: int) -> float:
    """What as many names as are right, drawn from all that are known, are worth on average.

    >>> blind(20, 5), blind(5, 5)
    (0.016511867905056758, 1.0)
    """
    draws = [comb(gold, found) * comb(known - gold, gold - found) for found in range(gold + 1)]
    return sum(n * max(0, 2 * found - gold) for found, n in enumerate(draws)) / gold / comb(known, gold)


def _own(reply: str, ask: str) -> str:
    """What a reply says of its own: who repeats the prompt answers behind the question, if at all."""
    return reply.rpartition(ask)[2]


class _Part(NamedTuple):
    """A line or sentence that names values, up to a 'but'."""

    place: int
    """Which line or sentence of the text it is."""
    found: list[Found[str]]
    before: str
    """What stands before the first value; or, where it is no more than a joint, the line that leads to it."""
    pure: bool
    """Nothing but values and what joins them."""
    led: bool
    """A list that words lead to."""
    listed: bool
    """Its values stand side by side, whatever else it says."""
    concluded: bool
    other: bool
    """It says of its values that they are not meant."""
    about: frozenset[str]
    """What it names of that which is asked about."""

    @property
    def announced(self) -> bool:
        return not self.other and _ANNOUNCED.search(self.before) is not None

    @property
    def answers(self) -> set[str]:
        return {one.answer for one in self.found}


class _Lists:
    """The lists of values in a plain text."""

    def __init__(self, text: str, kind: Kind, ask: str) -> None:
        asked = {found.answer for found in kind.find(ask)}
        self._numbers = {_digits(found) for found in _NUMBER.findall(ask)}
        self._joint = _JOINT if self._numbers else _COUNT
        keys = [key for key in (NAME, CODE) if any(key.find(ask))]
        self._keys = {found.answer for key in keys for found in key.find(ask)}
        found = [one for one in kind.find(text) if one.answer not in asked]
        self._found = _affirmed(text, found, kind)
        named = [one for key in keys for one in key.find(text) if one.answer in self._keys]
        starts = {one.start for one in found}
        numbers = [m for m in _NUMBER.finditer(text) if self._numbers and m.start() not in starts]
        self._about = sorted([(one.start, one.answer) for one in named] + [(m.start(), _digits(m[0])) for m in numbers])
        shown = _blank(text, [(one.start, one.end) for one in named], " ")
        shown = _blank(shown, [m.span() for m in numbers if _digits(m[0]) in self._numbers], " ")
        self._shown = _blank(shown, [m.span() for m in numbers if _digits(m[0]) not in self._numbers], "w")
        self.text = text
        self._leave_out_asides()
        stops = list(_STOP.finditer(text))
        self._starts, self._ends = [0, *(m.end() for m in stops)], [*(m.start() for m in stops), len(text)]
        self._parts = self._split()

    def stated(self) -> list[str]:
        lists = self._together()
        announced = [row for row in lists if row[0].announced]
        meant = [part for part in self._parts if not part.other]
        if again := max((found.end() for found in _AGAIN.finditer(self.text)), default=0):
            behind = [row for row in lists if self._starts[row[0].place] >= again or row[0].found[0].start >= again]
            if any(_many(row) for row in behind):
                announced = [row for row in behind if row[0].announced]
                meant = [part for row in behind for part in row if not part.other]
        if announced:
            return _answers(announced[-1])
        ordered = [row for row in lists if _many(row) and not row[0].other]
        if meant and ordered:
            first, last = ordered[0], ordered[-1]
            opens = first[0].place <= meant[0].place <= first[-1].place and not self._partial(first, meant)
            closes = last[0].place <= meant[-1].place <= last[-1].place and not self._partial(last, meant)
        else:
            first = last = []
            opens = closes = False
        if closes:
            return _answers(_restated(last))
        if meant and meant[-1].listed and meant[-1].concluded and _many(meant[-1:]):
            return _answers(meant[-1:])
        if opens:
            return _answers(first)
        for part in reversed(meant):
            if part.listed and part.about & self._numbers and _many([part]):
                return _answers([part])
        if last and not self._partial(last, meant) and self._only_repeated(last, meant):
            return _answers(last)
        return [one.answer for one in self._all()]

    def _partial(self, row: Sequence[_Part], meant: Sequence[_Part]) -> bool:
        """Whether a list answers for some of the names that are asked about, and other sentences for the rest."""
        if not any(one.about & self._keys for one in row):
            return False
        others = (one for one in meant if not row[0].place <= one.place <= row[-1].place)
        return any(one.about & self._keys for one in others)

    def _only_repeated(self, row: list[_Part], meant: Sequence[_Part]) -> bool:
        known = set(_answers(row))
        return all(part.answers <= known for part in meant if part.place > row[-1].place)

    def _all(self) -> Sequence[Found[str]]:
        """Whatever is named behind the last announcement; or at all, if little else is said."""
        found = self._found
        if not found:
            return []
        announced = max((m.end() for m in _ANNOUNCED.finditer(self.text, 0, found[-1].start)), default=None)
        if announced is not None:
            return _near((one for one in found if one.start >= announced), self.text)
        if len(_WORD.findall(self.text)) - _words(found, self.text) > _TALK + _TALK_EACH * len(found):
            return _near(reversed(found), self.text)
        return found

    def _leave_out_asides(self) -> None:
        """Take out what stands in parentheses, unless it is a list that stands there by itself."""
        spans = []
        ends = {one.end for one in self._found}
        starts = [one.start for one in self._found]
        for aside in _ASIDE.finditer(self.text):
            inside = self._found[bisect_left(starts, aside.start()) : bisect_left(starts, aside.end())]
            place = aside.start() - self.text[max(0, aside.start() - 1) : aside.start()].isspace()
            listed = inside and self._side_by_side(inside, *aside.span(1)) == (True, True, True)
            if not listed or (place in ends and not _ADDED.match(aside[1])):
                spans.append(aside.span())
        text = _blank(self.text, spans, " ")
        left = [one for one in self._found if not text[one.start].isspace()]
        if left:
            self.text, self._shown, self._found = text, _blank(self._shown, spans, " "), left

    def _side_by_side(self, found: Sequence[Found[str]], start: int, end: int) -> tuple[bool, bool, bool]:
        """Whether nothing but joints stands before, between and behind some values."""
        between = (self._joins(one.end, other.start) for one, other in pairwise(found))
        return self._joins(start, found[0].start), all(between), self._joins(found[-1].end, end)

    def _joins(self, start: int, end: int) -> bool:
        return self._joint.fullmatch(self._shown, start, end) is not None

    def _split(self) -> list[_Part]:
        rows = groupby(self._found, lambda one: bisect_right(self._starts, one.start) - 1)
        return [self._part(place, list(found)) for place, found in rows]

    def _part(self, place: int, found: list[Found[str]]) -> _Part:
        start, end = self._starts[place], self._ends[place]
        if contrast := _CONTRAST.search(self.text, found[0].end, end):
            head = [one for one in found if one.end <= contrast.start()]
            listed = self._side_by_side(head, start, contrast.start())[1:] == (True, True)
            about = self._named(contrast.end(), end)
            if not about & (self._keys | self._numbers) and (listed or about):
                found, end = head, contrast.start()
        before, between, behind = self._side_by_side(found, start, end)
        lead, tail = self.text[start : found[0].start], self.text[found[-1].end : end]
        so = _SO.match(lead)
        led = _LEADS.search(lead[-40:]) is not None or (so is not None and so.end() == len(lead))
        label = self._head(place) if before else lead
        about = self._named(start, end)
        if before and label:
            about |= self._named(self._starts[place - 1], start)
        elsewhere = about and self._numbers and not about & (self._numbers | self._keys)
        more = between and _MORE.search(tail) is not None
        return _Part(
            place=place,
            found=found,
            before=label,
            pure=before and between and behind,
            led=between and behind and led,
            listed=between and not more,
            concluded=so is not None,
            other=bool(elsewhere) or (between and (_says_other(label) or _says_other(tail))),
            about=about,
        )

    def _head(self, place: int) -> str:
        """The line before, if it names nothing and leads to this one."""
        start, end = (self._starts[place - 1], self._ends[place - 1]) if place else (0, 0)
        i = bisect_left(self._found, (start,))
        if i < len(self._found) and self._found[i].start < end:
            return ""
        line = self.text[start:end].rstrip()
        return line if line.endswith(":") or _ANNOUNCED.search(line) else ""

    def _named(self, start: int, end: int) -> frozenset[str]:
        row = self._about[bisect_left(self._about, (start, "")) : bisect_left(self._about, (end, ""))]
        return frozenset(name for _, name in row)

    def _together(self) -> list[list[_Part]]:
        """The parts that are lists, those of one list together."""
        rows: list[list[_Part]] = []
        last = None
        for part in self._parts:
            if part.pure or part.led or (part.announced and part.listed and _many([part])):
                if last and self._joined(rows[-1], part):
                    rows[-1].append(part)
                else:
                    rows.append([part])
                last = part
            else:
                last = None
        return rows

    def _joined(self, row: Sequence[_Part], part: _Part) -> bool:
        """Whether a list goes on with a part: with more of the same, or under a label of the same kind."""
        last = row[-1]
        start = self._starts[part.place - 1 if part.pure and part.before else part.place]
        if not self._joins(self._ends[last.place], max(start, self._ends[last.place])):
            return False
        if part.pure and not part.before:
            closed = last.led and not last.announced and self.text[self._ends[last.place] - 1] in ".!"
            return not closed or self.text[self._ends[last.place]] != "\n"
        first = row[0]
        if part.before and first.before:
            single = len(part.found) == len(first.found) == len(last.found) == 1
            return (single and _label(part.before) == _label(first.before)) or bool(
                part.about & self._keys and first.about & self._keys
            )
        return False


def _affirmed(text: str, found: Sequence[Found[str]], kind: Kind) -> list[Found[str]]:
    """The values that are not denied; a 'not' denies a whole list."""
    kept = {one.start for one in affirmed(text, kind.find)}
    denied = {match.end() for match in _DENIED.finditer(text)}
    left: list[Found[str]] = []
    last = None
    for one in found:
        if one.start not in kept or one.start in denied or (last and beside(text, last, one)):
            last = one
        else:
            last = None
            left.append(one)
    return left


def _says_other(text: str) -> bool:
    return _OTHERS.search(text) is not None


def _label(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if not word.isdigit()]


def _digits(text: str) -> str:
    return text.replace(",", "")


def _blank(text: str, spans: Iterable[tuple[int, int]], by: str) -> str:
    """A text with another sign in place of each in some spans."""
    parts, place = [], 0
    for start, end in sorted(spans):
        if start >= place:
            parts += [text[place:start], by * (end - start)]
            place = end
    return "".join([*parts, text[place:]])


def _answers(row: Iterable[_Part]) -> list[str]:
    return [one.answer for part in row for one in part.found]


def _many(row: Sequence[_Part]) -> bool:
    return len(set(_answers(row))) > 1


def _restated(row: list[_Part]) -> list[_Part]:
    """The last line of a list, if the lines before are a tally from which it takes some."""
    tally = _answers(row[:-1])
    shortlist = _many(row[-1:]) and row[-1].answers <= set(tally) and len(tally) == len(set(tally))
    return row[-1:] if shortlist else row


def _words(found: Iterable[Found[str]], text: str) -> int:
    return sum(len(_WORD.findall(text, one.start, one.end)) for one in found)


def _near(found: Iterable[Found[str]], text: str) -> list[Found[str]]:
    """The first of some values, with those that follow on the same line or on the next ones."""
    near: list[Found[str]] = []
    for one in found:
        if near and text.count("\n", *_between(near[-1], one)) > 1:
            break
        near.append(one)
    return near


def _between(one: Found[str], other: Found[str]) -> tuple[int, int]:
    return (one.end, other.start) if one.end <= other.start else (other.end, one.start)
