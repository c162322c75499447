r"""Reading lists out of replies, where any word may be an item.

A list is known by its shape: words with nothing but commas between them, or one on each line. It is what stands behind
the last label, or what opens the reply, or else the last that is stated. Several lists side by side are never taken
together.

>>> read_list("Here is the list:\n\n1. Apple\n2. pear\n3. plum\n\nLet me know if you need more, or less!")
('apple', 'pear', 'plum')
>>> read_list("First: apple, pear.\n**Answer:** pear, plum, and -5."), read_list("The list is empty."), read_list("Hm?")
(('pear', 'plum', '-5'), (), None)
"""

import re
from collections.abc import Sequence
from itertools import zip_longest

from carrara.grading.choices import before_explanation
from carrara.grading.rows import SOME, Listed, listed
from carrara.grading.statements import (
    AGAIN,
    BULLET,
    END_OF_LIST,
    SAYS,
    behind_labels,
    is_talk,
    own_words,
    statements,
    ungrouped,
    word,
)

Items = tuple[str, ...]
LABELS = ("final answer", "answer")

_OR = re.compile(r"(?:and/)?or\b|alternatively\b", re.IGNORECASE)
_ASIDE = re.compile(
    r"(?i)\W*(?:(?:the|all|some|any|number|no\.?|words?|items?|list|i|were|was|that|of|you) )*"
    r"(?:notes?|total|count|length|confidence|explanations?|reason\w*|examples?|context|instructions?|breakdown"
    r"|remov\w+|skipp\w+|delet\w+|exclud\w+|ignor\w+|omitt\w+|replac\w+|chang\w+|mistake\w*)\b"
)
_CONCLUDES = re.compile(
    r"(?im)^(?:so|thus|therefore|hence|final(?:ly)?|overall|in (?:summary|conclusion|total)|the (?:final|resulting))\b"
)
_STEP = re.compile(
    r"(?i)(?<!\")\b(?:step|round|after|turn|iteration|then|action|update|state|now|option|alternative|attempt|guess)\b"
)
_TOKEN = re.compile(r'"[^"\n]*"|[\w\'’-]+')
_KEYED = re.compile(r'"|[0-9]|\b(?:first|second|third|fourth|fifth|last|[a-z])\b', re.IGNORECASE)


class Lists:
    """The lists of a laid-out text, in order; those behind the last correction, if there are any."""

    def __init__(self, text: str, behind_label: bool = False) -> None:
        self.found: list[Listed] = []
        self._talk: list[Listed] = []
        self._now: Listed | None = None
        self._lead, self._leads_off = "", False
        self._opens, self._gap, self._closed, self._contested = True, False, False, False
        taken_back: list[Listed] = []
        for statement in statements(ungrouped(text)):
            if not SAYS.search(statement):
                self._now = None if statement == END_OF_LIST else self._now
                self._gap |= not statement
                continue
            if self.found and statement[0].isupper() and (again := AGAIN.match(statement)):
                taken_back, self.found, self._now = self.found, [], None
                statement = statement[again.end() :]
            self._take(statement, 2 if behind_label and self._opens else SOME)
            self._gap, self._closed = False, statement.endswith((".", "!"))
        self.found = self.found or taken_back or self._talk

    def _take(self, statement: str, spaced_from: int) -> None:
        marked, body, opens = statement.startswith(BULLET), statement.removeprefix(BULLET), self._opens
        if not marked and is_talk(body) and (self._now is None or self._gap or body.endswith((".", "!"))):
            self._talk, self._now = [Listed("", [word(body) or ""], opens=True)], None
            return
        self._opens, new = False, listed(body, spaced_from)
        if not marked and _OR.match(body) and (_OR.fullmatch(body) or not new or new.to_come or new.lead):
            self._contested = True
            for last in self.found[-1:]:
                last.contested = True
            new = new if new and new.lead else None
        elif not new:
            self._contested = False
        if new is None or new.to_come:
            self._now, self._talk = None, []
            self._lead, self._leads_off = (new.lead, opens) if new else ("", False)
            return
        new.marked, new.labelled, new.most = marked, bool(new.lead), len(new.items)
        if self._now and self._goes_on(self._now, new):
            self._now.items += new.items
            self._now.lead = new.lead or self._now.lead
            self._now.most = max(self._now.most, new.most)
        else:
            self._begin(new, opens)

    def _begin(self, new: Listed, opens: bool) -> None:
        if (now := self._now) and new.items != now.items:
            rows = new.marked and now.marked and not now.labelled and min(new.most, now.most) > 1
            if _of_a_kind(now.lead, new.lead) if new.lead else rows:
                now.contested = self._contested = True
        new.lead, new.opens, new.contested = new.lead or self._lead, opens or self._leads_off, self._contested
        self._now = new
        self.found.append(new)
        self._lead, self._leads_off, self._contested = "", False, False

    def _goes_on(self, now: Listed, new: Listed) -> bool:
        """Whether a list goes on with a statement."""
        if new.lead:
            return new.most == now.most == 1 and now.labelled and _of_a_kind(now.lead, new.lead)
        if now.said or new.said or new.marked != now.marked or (new.most > 2 and _restated(now.items, new.items)):
            return False
        if new.most > 1 or now.most > 1:
            return now.most >= SOME and not new.marked and (new.most > 1 or not (self._gap or self._closed))
        return new.marked or not (now.labelled or (self._gap and self._closed))


def _of_a_kind(one: str, other: str) -> bool:
    """Whether two leads ask for the same of different things: `List 1` and `List 2`, `apple` and `pear`."""
    pairs = list(zip_longest(_TOKEN.findall(one.lower()), _TOKEN.findall(other.lower())))
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    if not differing or any(None in pair for pair in differing) or (len(pairs) > 1 and _STEP.search(one)):
        return False
    keyed = all(_KEYED.search(token) for pair in differing for token in pair)
    return keyed or (len(differing) == 1 and (len(pairs) == 1 or len(pairs) > 4))


def _restated(items: Sequence[str], row: Sequence[str]) -> bool:
    """Whether a row begins a list anew."""
    size = min(len(row), len(items))
    return len(set(row[:size])) > 2 and items[:size] == row[:size]


def meant_of(lists: Sequence[Listed]) -> Listed | None:
    """The list that counts: the one that opens the text, if it needs no words, or else the last."""
    kept = [one for one in lists if not _ASIDE.match(one.lead)] or lists
    if not kept:
        return None
    if kept[0].opens and not kept[0].lead and all(one.lead or one.said for one in kept[1:]):
        return kept[0]
    return kept[-1]


def read_list(reply: str, labels: Sequence[str] = LABELS) -> Items | None:
    """The items of the list that a reply states, in order and in lower case; None if it states none, or several."""
    for text in own_words(reply):
        behind = (_behind(part) for part in behind_labels(text, labels))
        if meant := next(filter(None, behind), None) or _unlabelled(text):
            return meant.stated()
    return None


def _behind(text: str) -> Listed | None:
    """The list that stands behind a label."""
    lists = Lists(text, behind_label=True).found
    return lists[0] if lists and lists[0].opens else meant_of(lists)


def _unlabelled(text: str) -> Listed | None:
    """The list of a text without a label: of what comes before an explanation, unless that concludes with one."""
    short = before_explanation(text)
    parts = (text,) if _CONCLUDES.search(text, len(short)) else dict.fromkeys((short, text))
    return next(filter(None, (meant_of(Lists(part).found) for part in parts)), None)
