"""Which values a reply states, and what naming some of them is worth.

>>> from carrara.tasks.classic._values import NUMBER
>>> one("It is 4,821,937.", NUMBER, "Which?"), one("4821937 or 1234567", NUMBER, "Which?")
('4821937', None)
>>> several("First 1111111.\\nAnswer: 4821937 and 1234567", NUMBER, "Which?")
('1234567', '4821937')
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby, pairwise
from math import comb
from typing import NamedTuple

from carrara.answers.evidence import WRONG
from carrara.answers.layout import plain, tidy
from carrara.answers.reading import Found, affirmed, agreed, beside, said
from carrara.tasks.classic._values import CODE, NAME, Kind

Values = tuple[str, ...]


def _digits(text: str) -> str:
    return text.replace(",", "")


_ANOTHERS = re.compile(
    r"[^.,;:!?\n]{0,40}\b(?:for|of|to) (?:another|some other|a different) (?:name|key|one)\b", re.IGNORECASE
)
_BOX = re.compile(r"\\boxed\s?\{([^{}\n]*)\}")
_STOP = re.compile(r"(?<=[.!?;])\s|\n")
_OTHERS = re.compile(
    r"\b(?:others?|rest|remaining|not(?:es?)?|neither|none|exclud\w{1,9}|ignor\w{1,9}|distract\w{1,9}|irrelevant"
    rf"|unrelated|{WRONG}|different|elsewhere|fourth|fifth|next|followed|runners?.up|unlike)\b|n['’]t\b",
    re.IGNORECASE,
)
_MORE = re.compile(r"\b(?:also|too|as well|likewise)\b", re.IGNORECASE)
_CONTRAST = re.compile(
    r"(?<=\W)(?:(?:and|but) )?(?:not|but(?! also)|while|whereas|although|though|however|unlike|except|excluding)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\(([^()\n]{0,300})\)")
_ADDED = re.compile(r"\s?(?:and|plus|also|as well as)\b", re.IGNORECASE)
_JOINT, _COUNT = (
    re.compile(
        rf"(?:[^\w{signs}]|\b(?:[0-9]{{1,20}}(?:st|nd|rd|th|x)?|and|or|plus|also|finally|lastly|as|well|then|the|an?|for"
        r"|var|(?:variable|word|number|code|name|value|key|time|count|occurrence)s?|coded|x|each|both|frequency"
        r"|(?:occur|appear)(?:s|ed)?)\b)*+",
        re.IGNORECASE,
    )
    for signs in ("=≠←", "≠←")
)
"""What joins values of a list, the second where they may be given counts."""
_NUMBER = re.compile(r"(?<![\w.,-])(?:[0-9]{4,20}|[0-9]{1,3}(?:,[0-9]{3}){1,6})(?![\w-])")
_KEY, _TOLD = "\ue000", "\ue001"
_NAMED = ((NAME.pattern, NAME.normal, _KEY), (CODE.pattern, CODE.normal, _KEY), (_NUMBER, _digits, _TOLD))
_ASKED = re.compile(f"[{_KEY}{_TOLD}]")
"""What the question names, which may join values as well."""


def one(reply: str, kind: Kind, ask: str) -> str | None:
    """The one value that a reply states; None if it states none, or several. What the question names is no answer."""
    asked = {found.answer for found in kind.find(ask)}

    def read(text: str) -> str | None:
        return value if (value := kind.whole(text)) not in asked else None

    def find(text: str) -> Iterable[Found[str]]:
        return (one for one in kind.find(text) if one.answer not in asked and not _ANOTHERS.match(text, one.end))

    return agreed(said(tidy(_after_question(reply, ask)), read, find))


def several(reply: str, kind: Kind, ask: str) -> Values | None:
    """All values that a reply states, each once, in order; None if it states none.

    A list is what counts: values that stand side by side, which a reply states as it would one value. What is said to
    be other, or not meant, is no such list. Lists that stand together are one, so that stating several gains nothing.
    """
    lists = _Lists(kind, ask)
    text = plain(_BOX.sub(r"\nAnswer: \1\n", tidy(_after_question(reply, ask))))
    # A list may go over several lines, of which none is an answer by itself: it is found, and never read.
    return tuple(sorted({*chain(*said(lists.marked(text), lambda line: None, lists.find, lists.claimed))})) or None


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
    return sum(n * max(0, 2 * found - gold) for found, n in enumerate(draws)) / (gold * comb(known, gold))


def _after_question(reply: str, ask: str) -> str:
    """Return what stands after the question, where a reply repeats the prompt; else the reply."""
    return reply.rpartition(ask)[2]


class _Row(NamedTuple):
    """The values of a sentence, up to a 'but'."""

    found: Sequence[Found[str]]
    listed: bool
    """They stand side by side, and there are several or nothing follows."""
    closed: bool
    """Nothing follows."""
    keyed: bool
    """It names one of the keys that are asked about."""


class _Lists:
    """The lists of a text: of values of a kind, without those that the question names."""

    def __init__(self, kind: Kind, ask: str) -> None:
        self._kind, self._asked = kind, {one.answer for one in kind.find(ask)}
        self._ask = ask
        self._by_number = _NUMBER.search(ask) is not None
        self._joint = _JOINT if self._by_number else _COUNT
        self._rows = lru_cache(maxsize=4)(lambda text: [*self._split(text)])

    def marked(self, text: str) -> str:
        """A text with a sign for what the question names, and without asides, unless nothing else is said."""
        for pattern, normal, sign in _NAMED:
            text = _mask(text, pattern, normal, sign, self._ask)
        ends = {one.end for one in self._values(text)}

        def aside(found: re.Match[str]) -> str:
            """What stands in parentheses, if it is a list that stands there by itself."""
            behind_one = {found.start(), found.start() - 1} & ends and not _ADDED.match(found[1])
            values = self._values(found[1])
            kept = values and not behind_one and all(self._side_by_side(found[1], values, 0, len(found[1])))
            return found[0] if kept else " "

        short = _ASIDE.sub(aside, text)
        return short if self._values(short) else text

    def find(self, text: str) -> Sequence[Found[Values]]:
        """The values that stand side by side, in a sentence or in several."""
        lists: list[list[_Row]] = []
        for row in self._rows(text):
            if row.listed:
                if row.closed and lists and self._joins(text, lists[-1][-1].found[-1].end, row.found[0].start):
                    lists[-1].append(row)
                else:
                    lists.append([row])
        return [_together(_keep_restatement(rows)) for rows in lists]

    def claimed(self, text: str) -> Sequence[Values]:
        """The list that ends the text, or else begins it; or all that is named.

        Where sentences answer for several keys, none of them does for all.
        """
        rows, lists = self._rows(text), [one for one in self.find(text) if len({*one.answer}) > 1]
        if rows and sum(row.keyed for row in rows) < 2:
            first, last = rows[0].found[0].start, rows[-1].found[-1].end
            stated = [one for one in lists if one.end == last] or [one for one in lists if one.start == first]
            if stated:
                return [stated[0].answer]
        return [(one.answer,) for row in rows for one in row.found]

    def _values(self, text: str) -> list[Found[str]]:
        return [one for one in self._kind.find(text) if one.answer not in self._asked]

    def _split(self, text: str) -> Iterator[_Row]:
        """The sentences that name values which are meant."""
        stops = list(_STOP.finditer(text))
        starts, ends = [0, *(stop.end() for stop in stops)], [*(stop.start() for stop in stops), len(text)]
        for place, row in groupby(self._find_affirmed(text), lambda one: bisect_right(starts, one.start) - 1):
            found, start, end = [*row], starts[place], ends[place]
            contrast = _CONTRAST.search(text, found[0].end, end)
            if contrast and not _ASKED.search(text, contrast.end(), end):
                found, end = [one for one in found if one.end <= contrast.start()], contrast.start()
            _, between, behind = self._side_by_side(text, found, start, end)
            sentence, tail = text[start:end], text[found[-1].end : end]
            lead = text[start : found[0].start].rpartition(" but ")[2]
            elsewhere = self._by_number and _NUMBER.search(sentence) and not _ASKED.search(sentence)
            if not elsewhere and not (between and (_OTHERS.search(lead) or _OTHERS.search(tail))):
                several = len({one.answer for one in found}) > 1
                listed = between and (behind or several) and not _MORE.search(tail)
                yield _Row(found, listed, behind, _KEY in sentence)

    def _find_affirmed(self, text: str) -> list[Found[str]]:
        """Return the values that are not denied; a 'not' denies a whole list."""
        every = self._values(text)
        kept = {one.start for one in affirmed(text, lambda _: every)}
        left, last = list[Found[str]](), None
        for one in every:
            last = None if one.start in kept and not (last and beside(text, last, one)) else one
            left += [] if last else [one]
        return left

    def _side_by_side(self, text: str, found: Sequence[Found[str]], start: int, end: int) -> tuple[bool, bool, bool]:
        """Whether nothing but joints stands before, between and behind some values."""
        between = all(self._joins(text, one.end, other.start) for one, other in pairwise(found))
        return self._joins(text, start, found[0].start), between, self._joins(text, found[-1].end, end)

    def _joins(self, text: str, start: int, end: int) -> bool:
        return self._joint.fullmatch(text, start, end) is not None


def _together(rows: Sequence[_Row]) -> Found[Values]:
    values = tuple(one.answer for row in rows for one in row.found)
    return Found(rows[0].found[0].start, rows[-1].found[-1].end, values)


def _keep_restatement(rows: Sequence[_Row]) -> Sequence[_Row]:
    """Return the last line of a list alone if it repeats some values of the lines before; else all lines."""
    tally, last = [one.answer for row in rows[:-1] for one in row.found], {one.answer for one in rows[-1].found}
    return rows[-1:] if len(last) > 1 and last <= {*tally} and len(tally) == len({*tally}) else rows


def _mask(text: str, pattern: re.Pattern[str], normal: Callable[[str], str], sign: str, ask: str) -> str:
    """Return a text in which a sign stands for all that the question names by a pattern."""
    named = {normal(found[0]) for found in pattern.finditer(ask)}
    return pattern.sub(lambda found: sign if normal(found[0]) in named else found[0], text) if named else text
