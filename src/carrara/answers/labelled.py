r"""Reading an answer of several items that a label leads to: a path, some nodes, a translation.

The answer stands behind the last label, on its line or in a list below. Where that is nowhere, an announcement is read,
and then lines that are nothing but an answer: the last or the first. Several answers side by side state none. What a
line says, and what lines say together, is for each kind of answer to tell.

>>> digits = lambda text: tuple(text.split(", ")) if text.replace(", ", "").isdigit() else None
>>> rolls = Labelled("Rolls", "dice", digits, whole, str.isdigit)
>>> rolls.read("I rolled.\n**Rolls:** 3, 5 (two of them)"), rolls.read("Rolls:\n- 3\n- 5"), rolls.read("3, 5")
(('3', '5'), ('3', '5'), ('3', '5'))
>>> rolls.read("Rolls: 3, 5\nRolls: 5, 3"), rolls.read("Rolls: 3, 5\nRolls: unknown"), rolls.read("3, 5. Or 5, 3.")
(None, None, None)
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Generic, TypeVar

from carrara.answers.evidence import AGAIN, GIVES_UP, OR, SO, WRONG
from carrara.answers.layout import plain, tidy

V = TypeVar("V")

_START = (
    r"(?im)(?:^|(?<=[.!?:] )|(?<=, [\"']))[^\w\n]{0,4}"
    rf"(?:(?:{SO}|and|the|my|one|final|correct|overall"
    r"|only|directly?|reachable|full|best|three|chosen|LL[0-9]+|to|→)\b[,:]? ){0,5}"
)
_OF = (
    r"(?: of \"[^\"=\n]{0,120}\")?"
    r"(?:(?!\b(?:length|number|edges?|size|cost|count|not|cannot|can't|isn't)\b)[^:=.\n(]){0,80}?"
    r"(?: ?\([^()\n]{0,80}\))?"
)
_SAYS = r"(?:[^\w\n]{0,3}[:=]| (?:is|are)\b:?(?! (?:directly )?(?:reach|connect|that)))"
_ASIDE = re.compile(r"\(([^()\n]{0,300})\)")
_ALL_ASIDE = re.compile(r"\(([^()]*)\)\W{0,3}")
ELSE = re.compile(
    rf"(?i)\W*(?:(?:{OR}|{AGAIN}|alternative|equivalent\w*|another|other than|except|unless|plus|but|however)\b"
    r"|no(?=\W?[,.!])|(?:and|also)\b.{0,60}[0-9])"
    rf"|.{{0,200}}\b(?:{WRONG}|mistaken?|{GIVES_UP})\b|.{{0,90}}\balso\b.{{0,90}}[0-9]"
)
"""What sets another answer beside one, or takes it back."""
_GIVES_UP = re.compile(
    r"(?i).{0,200}?\b(?:cannot|can't|can not|could not|couldn't|unable|unknown|undetermined|undefined|unclear"
    rf"|impossible|{GIVES_UP}|not (?:sure|found)|none|n/a|no)\b"
)
_MARKS = re.compile(r"\\?[\[\]{}]|[\"*$]|'(?!\w)|(?<!\w)'|[<>]\Z|\A<|\\\\")
_AROUND = " \t\"'*_.!:,;|+•–-"
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\W\d])(?:(?<!\b[0-9]\.\s)|(?<=\w [0-9]\.\s)(?=[A-Z]))")
_WRAPPED = re.compile(r"(?<=[,;\[{(>→↓])\s*\n\s*|\s*\n\s*(?=[→↓\]}])")
_LONGEST = 10_000
"""Characters of a list that may be an answer."""
_FEW = 200
"""Labels and lines that are looked at, from the last one on."""


def unmarked(text: str) -> str:
    """A sentence without brackets and quotes."""
    return _MARKS.sub("", text).strip()


def whole(rows: Sequence[tuple[V, ...]]) -> tuple[V, ...] | None:
    """What lines say together: an item each, or all of them, of which the other lines name parts."""
    first, *others = rows
    if len(first) == 1 and all(len(row) == 1 for row in others):
        return tuple(item for row in rows for item in row)
    said, *parts = (f" {' '.join(map(str, row))} " for row in rows)
    return first if all(part in said for part in parts) else None


@dataclass(frozen=True)
class Labelled(Generic[V]):
    label: str
    announced: str
    """What else may be said to be the answer, besides `answer` and `result`: a pattern."""
    sentence: Callable[[str], V | None]
    """What a sentence says that is nothing but an answer, perhaps with its reason."""
    together: Callable[[Sequence[V]], V | None]
    """What successive lines say."""
    tries: Callable[[str], object]
    """Whether a line that says no answer is meant to be one."""
    wrong: Callable[[str], V | None] = lambda line: None
    """What a line behind a label says that cannot be an answer, and is none but a wrong one."""

    def read(self, reply: str) -> V | None:
        text = plain(tidy(reply))
        marks = list(self._labels.finditer(text))[-_FEW:]
        while marks:
            mark = marks.pop()
            if (answer := self._below(text, mark)) is not None:
                return self._with_those_beside(text, marks, mark, answer)
            line = text[mark.end() : mark.end() + _LONGEST].lstrip().partition("\n")[0]
            if (answer := self.wrong(line)) is not None:
                return answer
            if mark["says"] and (self.tries(line) or _GIVES_UP.match(line)):
                return None
        announced = list(self._announcements.finditer(text))[: -_FEW - 1 : -1]
        below = (self._below(text, mark) for mark in announced)
        return next((answer for answer in below if answer is not None), None) or self._bare(text)

    @cached_property
    def _labels(self) -> re.Pattern[str]:
        """A label at the start of a line or sentence: not how long what it names is, nor how many edges it has."""
        name = "[ _]".join(self.label.split())
        return re.compile(rf"{_START}{name}s?\b{_OF}(?:(?P<says>{_SAYS})| [-–—] |[^\w\n]{{0,4}}(?=\n))")

    @cached_property
    def _announcements(self) -> re.Pattern[str]:
        return re.compile(rf"{_START}(?:answer|result|{self.announced}){_SAYS}")

    def _below(self, text: str, mark: re.Match[str]) -> V | None:
        """What stands behind a label, and on the lines below that go on with it."""
        return self._said(_lines(text[mark.end() : mark.end() + _LONGEST + 1].lstrip()))

    def _with_those_beside(self, text: str, marks: list[re.Match[str]], mark: re.Match[str], answer: V) -> V | None:
        """An answer, and those that stand right before it behind the same label."""
        rows = [answer]
        for before in reversed(marks):
            between = text[before.end() : mark.start()].strip() if mark.start() - before.end() < _LONGEST else ""
            row = self._line(re.sub(r"\n(?:or|and)\W*\Z", "", between))
            if row is None or before[0].lower() != mark[0].lower():
                break
            rows.append(row)
            mark = before
        return answer if len(rows) == 1 else self.together(rows[::-1])

    def _bare(self, text: str) -> V | None:
        """What the last lines say, or the first ones, that are nothing but an answer; or else the last sentence."""
        first = _lines(text[: _LONGEST + 1])
        last = first if len(text) <= _LONGEST else _lines(text[-_LONGEST:])[1:]
        opening = self._said(first)
        if size := len(self._rows(last[::-1])):
            closing = self._said(last[-size:])
            return closing if opening in (None, closing) else None
        if opening is not None:
            return opening
        if last and (row := self._line(_SENTENCE.split(last[-1])[-1])) is not None:
            return self.together([row])
        lines = [*dict.fromkeys([*first, *last])][:_FEW]
        led_to = [rows for lead, line in pairwise(lines) if lead.endswith(":") and (rows := self._rows([line]))]
        return self.together(led_to[0]) if len(led_to) == 1 else None

    def _said(self, lines: Sequence[str]) -> V | None:
        """What successive lines say that are nothing but an answer."""
        rows = self._rows(lines)
        if not rows or len(rows) == _FEW or sum(len(line) + 1 for line in lines[: len(rows)]) > _LONGEST:
            return None
        return self.together(rows)

    def _rows(self, lines: Sequence[str]) -> list[V]:
        """What each of the first lines says, up to one that says something else."""
        rows = list[V]()
        for line in lines[:_FEW]:
            if (row := self._line(line)) is None:
                break
            rows.append(row)
        return rows

    def _line(self, line: str) -> V | None:
        """What a line says that is nothing but an answer, perhaps with its reason."""
        if len(line) > _LONGEST or line.endswith(("..", "…")):
            return None
        text = line.strip(_AROUND)
        if inside := _ALL_ASIDE.fullmatch(text):
            text = inside[1]
        if any(ELSE.match(aside[1]) for aside in _ASIDE.finditer(text)):
            return None
        first, *others = (sentence.strip(_AROUND) for sentence in _SENTENCE.split(_ASIDE.sub(" ", text)))
        said = self.sentence(first)
        other = any(ELSE.match(one) or self.sentence(one) not in (None, said) for one in others[:_FEW])
        return None if other else said


def _lines(text: str) -> list[str]:
    return _WRAPPED.sub(" ", text).split("\n")
