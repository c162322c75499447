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

from carrara.answers.asked import NOTHING_ASKED, Asked
from carrara.answers.choices import before_explanation
from carrara.answers.layout import laid_out
from carrara.answers.rows import SOME, Listed, listed
from carrara.answers.statements import (
    ASIDE,
    BULLET,
    END_OF_LIST,
    SAYS,
    TAKES_BACK,
    behind_labels,
    is_talk,
    statements,
    ungrouped,
    word,
)

Items = tuple[str, ...]
LABELS = ("final answer", "answer")

_OR = re.compile(r"(?:and/)?or\b|alternatively\b", re.IGNORECASE)
_ASIDE = re.compile(
    r"(?i)\W*(?:(?:the|all|some|any|number|no\.?|words?|items?|list|i|were|was|that|of|you) )*"
    rf"(?:{ASIDE}|remov\w+|skipp\w+|delet\w+|exclud\w+|ignor\w+|omitt\w+|replac\w+|chang\w+|mistake\w*)\b"
)
_STEP = re.compile(
    r"(?i)(?<!\")\b(?:step|round|after|turn|iteration|then|action|update|state|now|option|alternative|attempt|guess)\b"
)
_SOURCE = re.compile(
    r"(?:the )?(?:original|input|before|source|old|given|initial|context)"
    r"(?: (?:list|words?|numbers?|context|sequence))?",
    re.IGNORECASE,
)
_RESULT = re.compile(
    r"(?:the )?(?:results?|outputs?|after|new|edited|updated|modified|final|partners?|values?"
    r"|second words?)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(rf"(?:\b[0-9]{{1,6}}|^(?:{_SOURCE.pattern}))\Z", re.IGNORECASE)
"""The lead of a list that is one of several, or that is what there was before."""
_CONTINUES = re.compile(
    r"\W*(?:and )?(?:the )?(?:continu(?:ed|es|ing)|rest|remaining)\b[^:,]{0,30}:?\W*\Z", re.IGNORECASE
)
_NTH = re.compile(
    r"(?:\A|\b(?:part|line|row|turn|round|chunk|section|segment|batch|block|page|half|occurrence) ?#?)"
    r"(?:[0-9]{1,6}|one|two|three|four|five|six|seven|eight|nine|ten)(?: of [0-9]{1,6}|/[0-9]{1,6})?\Z"
    r"|\b(?:[0-9]{0,5}(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|[0-9](?:st|nd|rd|th)))"
    r" (?:part|line|row|turn|round|chunk|section|segment|batch|block|page|half|occurrence)\Z",
    re.IGNORECASE,
)
_START = 50
"""Items at the start of a list behind which it may be restated."""
_TOKEN = re.compile(r'"[^"\n]*"|[\w\'’-]+')
_KEYED = re.compile(r'"|[0-9]|\b(?:first|second|third|fourth|fifth|last|[a-z])\b', re.IGNORECASE)


class Lists:
    """The lists of a laid-out text, in order; those behind the last correction, if there are any."""

    def __init__(self, text: str, behind_label: bool = False, asked: Asked = NOTHING_ASKED) -> None:
        self.found: list[Listed] = []
        self._asked = asked
        self._talk: list[Listed] = []
        self._now: Listed | None = None
        self._held: Listed | None = None
        self._lead = ""
        self._opens, self._gap, self._closed, self._contested = True, False, False, False
        taken_back: list[Listed] = []
        for statement in statements(ungrouped(text)):
            if not SAYS.search(statement):
                if statement == END_OF_LIST:
                    self._end(hold=True)
                self._gap |= not statement
                continue
            if _CONTINUES.match(statement):
                continue
            if self.found and statement[0].isupper() and (again := TAKES_BACK.match(statement)):
                taken_back, self.found = self.found, []
                self._end()
                statement = statement[again.end() :]
            self._take(statement, 2 if behind_label and self._opens else SOME)
            self._gap, self._closed = False, statement.endswith((".", "!"))
        self.found = [one for one in self.found if not one.is_missing] or taken_back or self._talk

    def _end(self, hold: bool = False) -> None:
        """End a list; one that is held may go on all the same, if it is told by more than its place."""
        self._now, self._held = None, (self._now or self._held) if hold else None

    def _take(self, statement: str, spaced_from: int) -> None:
        marked, body, opens = statement.startswith(BULLET), statement.removeprefix(BULLET), self._opens
        if not marked and is_talk(body) and (self._now is None or self._gap or body.endswith((".", "!"))):
            self._end()
            self._talk = [Listed("", [word(body) or ""])]
            return
        self._opens, new = False, listed(body, self._asked, spaced_from, marked)
        if not marked and _OR.match(body) and (_OR.fullmatch(body) or not new or new.to_come or new.lead):
            self._contested = True
            for last in self.found[-1:]:
                last.contested = True
            new = None
        if new is None or new.to_come:
            self._end(hold=bool(new or self._asked.key(body)))
            self._talk = []
            self._lead = new.lead if new else ""
            return
        new.marked, new.labelled, new.most = marked, bool(new.lead), len(new.items)
        if now := self._continued(new):
            now.items += new.items
            now.keys += new.keys
            now.lead = new.lead or now.lead
            now.most = max(now.most, new.most)
            self._now, self._held, self._lead = now, None, ""
        else:
            self._begin(new, opens)

    def _begin(self, new: Listed, opens: bool) -> None:
        if (now := self._now) and new.items != now.items and not new.is_missing:
            rows = new.marked and now.marked and min(new.most, now.most) > 1
            if self._rivals(now.lead, new.lead) if new.lead else rows:
                now.contested = self._contested = True
        new.lead, new.opens, new.contested = (
            new.lead or self._lead,
            opens,
            self._contested or new.contested,
        )
        self._now, self._held = new, None
        self.found.append(new)
        self._lead, self._contested = "", False

    def _rivals(self, one: str, other: str) -> bool:
        """Whether lists under two leads answer the same question, and nothing tells which of them does."""
        told = self._asked.about(one) is not None and self._asked.about(other) is not None
        edited = _SOURCE.fullmatch(one) or _SOURCE.fullmatch(other) or (_RESULT.match(other) and not _RESULT.match(one))
        return _of_a_kind(one, other) and not (told or edited)

    def _continued(self, new: Listed) -> Listed | None:
        """The list that goes on with another one."""
        if (now := self._now) and self._goes_on(now, new):
            return now
        if (last := now or self._held) is None:
            return None
        keys = self._asked.keys
        told = keys.issuperset(last.keys[-1:] and new.keys[:1]) and bool(last.keys and new.keys)
        return last if told or (self._asked.adds_up and self._adds_up(last, new)) else None

    def _goes_on(self, now: Listed, new: Listed) -> bool:
        """Whether a list goes on with a statement."""
        if new.lead:
            alike = new.lead == now.lead
            return new.most == now.most == 1 and (alike or self._same_of_others(now.lead, new.lead))
        if now.said or new.said or new.marked != now.marked or _restated(now.items, new.items):
            return False
        if (self._gap and _NAMED.search(now.lead)) or self._names_keys(now, new):
            return False
        if new.most > 1 or now.most > 1:
            return now.most >= SOME and (new.most > 1 or not (self._gap or self._closed))
        return new.marked or not now.labelled

    def _same_of_others(self, one: str, other: str) -> bool:
        return _of_a_kind(one, other) and self._asked.about(one) is None

    def _names_keys(self, now: Listed, new: Listed) -> bool:
        """Whether a list is of the words that are asked about, and what follows is not."""
        keys = self._asked.keys
        return len(now.items) > 1 and keys.isdisjoint(new.items) and keys.issuperset(now.items)

    def _adds_up(self, now: Listed, new: Listed) -> bool:
        """Whether a row belongs to the one before."""
        lead = new.lead or self._lead
        if now.said or new.said or _restated(now.items, new.items):
            return False
        if lead:
            return bool(now.lead) and _row_of(now.lead) == _row_of(lead)
        return new.marked == now.marked and not (self._gap and now.labelled)


def _of_a_kind(one: str, other: str) -> bool:
    """Whether two leads ask for the same of different things: `List 1` and `List 2`, `apple` and `pear`."""
    pairs = list(zip_longest(_TOKEN.findall(one.lower()), _TOKEN.findall(other.lower())))
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    if not differing or any(None in pair for pair in differing) or _STEP.search(one):
        return False
    return len(differing) == 1 or all(_KEYED.search(token) for pair in differing for token in pair)


def _restated(items: Sequence[str], row: Sequence[str]) -> bool:
    """Whether a row begins a list anew, perhaps behind its first few items."""
    start = items[:_START].index(row[0]) if len(row) > 2 and row[0] in items[:_START] else 0
    size = min(len(row), len(items) - start)
    return len(set(row[:size])) > 2 and items[start : start + size] == row[:size]


def _row_of(lead: str) -> str:
    """A lead without what says which row it is of."""
    return _NTH.sub("", lead).strip(" ,-").casefold()


def meant_of(lists: Sequence[Listed], asked: Asked = NOTHING_ASKED) -> Listed | None:
    """The list that counts: the one that opens the text, if it needs no words, or else the last."""
    aside = (
        lambda one: _ASIDE.match(one.lead),
        lambda one: one.explained,
        lambda one: asked.about(one.lead) is False,
        lambda one: _SOURCE.fullmatch(one.lead),
        lambda one: asked.keys.issuperset(one.items),
    )
    for is_aside in aside:
        lists = [one for one in lists if not is_aside(one)] or lists
    if not lists:
        return None
    if lists[0].opens and not (lists[0].lead or lists[0].keys) and all(one.lead or one.said for one in lists[1:]):
        return lists[0]
    return lists[-1]


def read_list(reply: str, labels: Sequence[str] = LABELS, asked: Asked = NOTHING_ASKED) -> Items | None:
    """The items of the list that a reply states, in order and in lower case; None if it states none, or several."""
    text = laid_out(reply)
    behind = (_behind(part, asked) for part in behind_labels(text, labels))
    if meant := next(filter(None, behind), None) or _unlabelled(text, asked):
        items = None if _says_all(meant.keys, asked.keys) else meant.stated()
        return items and _behind_keys(items, asked.keys)
    return None


def _behind_keys(items: Items, keys: frozenset[str]) -> Items:
    """The items alone, where each stands behind the key it is paired with."""
    paired = keys.issuperset(items[::2]) and not keys.issuperset(items)
    return items[1::2] if paired else items


def _says_all(named: Sequence[str], keys: frozenset[str]) -> bool:
    """Whether the partners of other words are named as well as of those that are asked for."""
    others = set(named) - keys
    return bool(keys) and len(others) > 1 + len(keys.difference(named))


def _behind(text: str, asked: Asked) -> Listed | None:
    """The list that stands behind a label."""
    lists = Lists(text, True, asked).found
    return lists[0] if lists and lists[0].opens else meant_of(lists, asked)


def _unlabelled(text: str, asked: Asked) -> Listed | None:
    """The list of a text without a label: of what comes before an explanation, or else of all of it."""
    parts = dict.fromkeys((before_explanation(text), text))
    return next(filter(None, (meant_of(Lists(part, asked=asked).found, asked) for part in parts)), None)
