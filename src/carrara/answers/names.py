r"""One of a few names that are known beforehand: of lists, of agents.

>>> lists = Names(("List 1", "List 2", "List 3", "no"))
>>> lists.read("List 2 has it, unlike List 1 and List 3."), lists.read("The second list."), lists.read("2.")
('List 2', 'List 2', 'List 2')
>>> lists.read("It is not in any list."), lists.read("List 1. List 2."), lists.read("I have no idea.")
('no', None, None)

A name is the answer where a sentence says that it is, or where no other is left besides those that are denied, looked
at, compared with, or named together.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from carrara.answers.casing import looked_up
from carrara.answers.evidence import AGAIN, NOT, OR, PERHAPS
from carrara.answers.layout import tidy
from carrara.answers.numerals import ORDINALS
from carrara.answers.reading import Found, affirmed, agreed, beside, said

NONE = "no"
"""The name of none of them."""


@dataclass(frozen=True)
class Tells:
    """What is said behind a name that tells whether it is the one."""

    chosen: str
    denied: str
    yes: str
    no: str

    @cached_property
    def patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        chosen, denied = (re.compile(rf"\W{{0,3}}(?:{what})\b", re.IGNORECASE) for what in (self.chosen, self.denied))
        return chosen, denied


_NOT = r"(?: not|n['’]t)"
HAS = Tells(
    chosen=r"(?:has|contains?|includes?|holds|does have) (?:it|the word|this word|that word)|is (?:the one|it|where)",
    denied=rf"(?:does|did|do|is|was|has){_NOT}|lacks|never|has no",
    yes="yes|found|present|contains it|has it",
    no=r"no(?:ne|t (?:found|present|there|here|in (?:it|this list)))?|absent|does not (?:contain|have) it",
)
"""Of the one that has something."""
DIFFERS = Tells(
    chosen=r"(?:is|must be|seems|looks)(?: clearly| therefore)? (?:the |an? )?(?:odd|different|other|unique|outlier"
    rf"|exception|answer|one)|differs?|stands out|has (?:different|(?:some )?other)|does{_NOT} (?:match|fit|belong)",
    denied=rf"(?:is|was){_NOT} (?:the |an? )?(?:odd|different|unique|answer|one|it)|does{_NOT} differ"
    r"|is (?:the same|identical)|matches|has the same",
    yes="different|odd|yes|differs",
    no="no|same|identical|the same",
)
"""Of the one that is not like the others."""

_NTH = re.compile("[0-9]+")
_PLACES = {name: str(n) for n, name in enumerate(ORDINALS, 1)}
_NO = r"none(?! of\b)|no(?=\W*(?:\n|\Z)|\s?[.,;:!—])"
_IN_NONE = re.compile(
    r"(?=[acin])(?:(?:\b(?:not|never|cannot)|n['’]t)\b[^.,;:!?\n]{0,60}\b(?=[ae])(?:any(?=[.!]|\Z)|any (?:lists?|one)\b"
    r"|anywhere\b|any of (?:the|these|them)\b(?! other)|(?:either|each|all) of them)"
    r"|\bnone of (?:them|(?:the|these|those|all)(?! other| rest| remaining))\b|\bin (?:none|no list)\b|\bnowhere\b"
    r"|\bno lists?(?: (?:has|have|contains?|includes?|with|that (?:has|contains|includes))\b|(?=\W*\Z))"
    r"|\bno such word\b|\babsent from (?:all|any|every)\b)",
    re.IGNORECASE,
)
_WAIT_NO = re.compile(rf"(\b(?:{AGAIN})\b[\s,.:;!…-]{{0,5}})no\b[,.:;]?", re.IGNORECASE)
_QUESTION = re.compile(r"[^.!?\n]{0,200}\?")
_IS = re.compile(
    r"(?:\b(?:is|was|be|are)(?: (?:clearly|therefore|thus|found|located|present|only|indeed|actually|probably))?"
    r"|['’]s|[:=→])\s*\Z",
    re.IGNORECASE,
)
_EXCEPT = re.compile(r"\b(?:except|besides|other than|apart from)(?: for)?\s*\Z", re.IGNORECASE)
_ASIDE = re.compile(
    r"\b(?:from|than|unlike|whereas|while|although|because|since|against|like|between|(?<!go )with|(?:those|that) of"
    r"|(?:identical|similar|equal|compared|relative|contrast|opposed|equivalent|look(?:ed|ing)?|next) (?:to|at)"
    r"|same as|(?:words?|items?|ones?|thing|something|anything|nothing) (?:that|which)|(?<=[\"”'’] )(?:that|which)"
    r"|(?:compar|check|examin|consider|scann?|search|look|read|start|inspect|review)(?:e|ed|ing|s)?"
    r"(?: (?:at|in|through|with|from))?)"
    r"(?: (?:those|that|the|words?|in|for|all|both|other|lists?|ones?))*\s*\Z",
    re.IGNORECASE,
)
"""How a name is brought in that is only there for another."""
_UNLIKE = re.compile(
    r"\W*(?:unlike|compared (?:with|to)|(?:in|by) contrast (?:with|to)|as opposed to)\b[^,]*\Z", re.IGNORECASE
)
_CLAUSE = re.compile(r"[.!?;\n]|\b(?:but|rather)\b", re.IGNORECASE)
_SUPPOSED = re.compile(
    r"\b(?:if|unless|whether)\b|(?:\bnot|n['’]t) (?:think|believe|say|know|sure|certain)\b", re.IGNORECASE
)
_DENIED = re.compile(rf"(?:{NOT}|\b(?:neither|nor|no)\b)[^.,;:!?\n]*\Z", re.IGNORECASE)
_BETWEEN = re.compile(
    rf"\W{{1,3}}(?:(?:to|through|vs\.?|versus|with|against|plus|as well as|nor|than|=|or|and|{PERHAPS}|also|even)"
    r"\W{1,3}){1,4}",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"(?:,? (?:and|&|to|through) |, ?|-)[0-9]{1,4}(?=[,.;:\s])", re.IGNORECASE)
_OR = re.compile(rf"\b(?:{OR})\b|/", re.IGNORECASE)
_NEAR = 80
"""Characters before a name that are looked at."""
_FEW = 1_000
"""Names, each with those beside it, that are looked at: the last ones."""


@dataclass(frozen=True)
class Names:
    options: tuple[str, ...]
    """Each a word or more, of which the last one may stand alone for it, and `no` where it may be none of them."""
    tells: Tells = HAS

    def read(self, text: str) -> str | None:
        return agreed(self.said(text))

    def said(self, text: str) -> Sequence[str]:
        """The name that a reply states; several if it leaves them open."""
        candidates = lru_cache(maxsize=1)(self._candidates)
        return said(
            self._decided(tidy(text)),
            self.whole,
            self.find,
            lambda plain: self._claimed(plain, candidates(plain)),
            lambda plain: [found.answer for found in candidates(plain)],
        )

    def find(self, text: str) -> Iterator[Found[str]]:
        for found in self._pattern.finditer(text):
            if name := self._name(found):
                yield Found(found.start("bare") if found["bare"] else found.start(), found.end(), name)

    def whole(self, text: str) -> str | None:
        """A name, or the end of one."""
        found = self._pattern.fullmatch(text)
        return self._name(found) if found else self._ends.get(text.lower())

    @cached_property
    def _named(self) -> tuple[str, ...]:
        return tuple(option for option in self.options if option != NONE)

    @cached_property
    def _names(self) -> dict[str, str]:
        return {name.lower(): name for name in self._named}

    @cached_property
    def _ends(self) -> dict[str, str]:
        return {name.lower().rpartition(" ")[2]: name for name in reversed(self._named)}

    @cached_property
    def _spelled(self) -> str:
        """A name as it may be written: `List 2`, `List2`, `list number 2`, `the second list`."""
        firsts = _any_of({name.rpartition(" ")[0] for name in self._names} - {""})
        lasts = _any_of({"[0-9]{1,6}" if end.isdecimal() else re.escape(end) for end in self._ends}, escape=False)
        alone = _any_of({name for name in self._names if " " not in name})
        return (
            rf"(?:in\s)?(?:the\s)?(?:(?P<first>{firsts})(?:\s{{0,2}}(?:#|n(?:o|r)\b\.?|number\b)\s{{0,2}}|\s{{1,3}}"
            rf"|(?=[0-9]))(?P<last>{lasts})|(?P<nth>{'|'.join(ORDINALS)}|[0-9]{{1,3}}(?:st|nd|rd|th))\s(?P<of>{firsts})"
            rf"|(?P<alone>{alone})|(?:(?:answer|result)s?|{firsts})\W{{1,4}}(?P<bare>{lasts})(?=\W*(?:\n|\Z)))"
        )

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        no = f"|(?P<no>{_NO})" if NONE in self.options else "|(?P<no>(?!))"
        return re.compile(rf"(?=\w)(?<![\w-])(?:{self._spelled}{no})(?![\w-])", re.IGNORECASE)

    @cached_property
    def _verdict(self) -> re.Pattern[str]:
        return re.compile(
            rf"(?=\w)(?<![\w-])(?P<name>{self._spelled})[*_`\"')\]]{{0,4}}(?:\s?[:=→—-]|[^.!?\n]{{0,40}}\?)[\s*_`\"'(]{{0,5}}"
            rf"(?:(?P<yes>{self.tells.yes})|(?P<no>{self.tells.no}))\b[*_`\"')]{{0,4}}(?=\W*(?:\n|\Z)|\s?[.,;!(—-])",
            re.IGNORECASE,
        )

    def _name(self, found: re.Match[str]) -> str | None:
        if found["no"]:
            return NONE
        if nth := found["nth"]:
            digits = _NTH.match(nth)
            last = digits[0] if digits else looked_up(_PLACES, nth)
            return self._names.get(f"{found['of'].lower()} {last}")
        if found["bare"] or found["alone"]:
            return self._ends.get((found["bare"] or found["alone"]).lower())
        return self._names.get(" ".join(f"{found['first']} {found['last']}".lower().split()))

    def _decided(self, text: str) -> str:
        """A text where each name that is said or asked to be the one, and is told yes or no, stands alone or is out."""
        out: set[str] = set()

        def decide(found: re.Match[str]) -> str:
            if found["yes"]:
                return found["name"]
            out.update(one.answer for one in self.find(found["name"]))
            return ""

        text = self._verdict.sub(decide, text)
        if NONE not in self.options:
            return text
        return f"{text}\n{NONE}" if out.issuperset(self._named) else _WAIT_NO.sub(r"\1", text)

    def _claimed(self, text: str, left: Sequence[Found[str]]) -> Sequence[str]:
        """The names of which a sentence says that they are the one, or that none of them is."""
        chosen, _ = self.tells.patterns
        if any(found.answer == NONE for found in left):
            return [found.answer for found in left]
        said_to_be = [found.answer for found in left if _is_it(_before(text, found))]
        said_of = [found.answer for found in left if chosen.match(text, found.end)]
        nowhere = [NONE] if NONE in self.options and _IN_NONE.search(text) else []
        return nowhere + (said_to_be or said_of)

    def _candidates(self, text: str) -> list[Found[str]]:
        """The names that are not denied, asked about, compared with or looked at, nor named together.

        Alternatives are left, each standing for all of them.
        """
        _, denied = self.tells.patterns
        every = list(self.find(text))
        affirmative = {found.start for found in affirmed(text, lambda _: every)}
        left: list[Found[str]] = []
        for row in [*_rows(text, every)][-_FEW:]:
            first, last = row[0], row[-1]
            before = _before(text, first)
            if first.start not in affirmative or _SUPPOSED.search(before) or _QUESTION.match(text, last.end):
                continue
            if denied.match(text, last.end) and not _EXCEPT.search(before):
                continue
            if (
                _UNLIKE.match(before)
                and text[last.start - 2 : last.start] == ", "
                and text[last.end : last.end + 1] == " "
            ):
                row = [last]
            elif not _is_it(before) and (_ASIDE.search(before) or _DENIED.search(before)):
                continue
            names = {found.answer for found in row}
            if len(names) == 1 and _NUMBERS.match(text, last.end):
                continue
            if len(names) == 1 or any(_OR.search(text, one.end, other.start) for one, other in pairwise(row)):
                left += [Found(row[0].start, last.end, name) for name in names]
        return left


def _rows(text: str, every: Iterable[Found[str]]) -> Iterator[list[Found[str]]]:
    """The names, and those together that stand side by side."""
    row: list[Found[str]] = []
    for found in every:
        if row and not beside(text, row[-1], found) and not _BETWEEN.fullmatch(text, row[-1].end, found.start):
            yield row
            row = []
        row.append(found)
    if row:
        yield row


def _before(text: str, found: Found[str]) -> str:
    """What stands before a name in its clause."""
    return _CLAUSE.split(text[max(0, found.start - _NEAR) : found.start])[-1]


def _is_it(before: str) -> bool:
    return (_IS.search(before) or _EXCEPT.search(before)) is not None


def _any_of(words: set[str], escape: bool = True) -> str:
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return "|".join(map(re.escape, longest_first) if escape else longest_first) or "(?!)"
