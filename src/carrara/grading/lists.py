r"""Reading lists out of replies, where any word may be an item.

A list is known by its shape: words with nothing but commas between them, or one on each line. It is what stands behind
the last label, or what opens the reply, or else the last that is stated. Several lists side by side are never taken
together, and lists under names are read each for itself.

>>> read_list("Here is the list:\n\n1. Apple\n2. pear\n3. plum\n\nLet me know if you need more, or less!")
('apple', 'pear', 'plum')
>>> read_list("First: apple, pear.\n**Answer:** pear, plum, and -5."), read_list("The list is empty."), read_list("Hm?")
(('pear', 'plum', '-5'), (), None)
>>> read_named_lists("**Agent A:** apple, pear\nB: (none)", ["Agent A", "Agent B"])
{'Agent A': ('apple', 'pear'), 'Agent B': ()}
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest

from carrara.grading.choices import before_explanation
from carrara.grading.words import (
    AGAIN,
    BULLET,
    END_OF_LIST,
    NO_WORD,
    NOT,
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

# --- what a statement lists ---

_MANY = 8
"""Items of a list of which one may be a slip, such as a comma left out."""
_PROSE = re.compile(
    r"(?i)\b(?:the|of|to|in|is|are|was|not|no|and|or|but|for|with|this|that|i|it|you|can|could|cannot|your|my|be|have|has|on"
    r"|from|as|all|any|there|here|let|me|if|please|after|before|each|every|words?|lists?|found|unable)\b"
)
_SIGN = re.compile(r":|=+|→|—| -(?= )")
_PAIR = re.compile(r"(?:[^:\n]{1,200}: )?[^:=→—]{1,60}?(?::|=+|→|—| -(?= ))(.{1,80})")
_IS = re.compile(
    r"\b(?:is|are|was|were|be|includes?|namely|remains?|with|has|have|had|holds?|following|leaves)\b[:,]? (?=\S)", re.I
)
_ARE = re.compile(r" (?:is|are|were|differ|appear|remain|was)\b", re.IGNORECASE)
_ONE = r"words?|numbers?|answers?|results?|items?|elements?|set|agents?|hand|output|values?|differences?|ones?|terms?"
_ABOUT = re.compile(rf"\b(?:{_ONE})\b", re.IGNORECASE)
_ABOUT_SEVERAL = re.compile(rf"\b(?:{_ONE}|lists?|sequence|context|entries|they|these|those|it)\b", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"\n]{1,80}"(?:(?:,|,? and| &) "[^"\n]{1,80}")+')
_TO_COME = re.compile(r"(?:first,? )?(?:to|we|i|let|given|for)\b", re.IGNORECASE)
_NOTHING = re.compile(
    r"(?:(?:so|thus|therefore|hence|currently|now),? )?(?:(?:the|an?|its|their|this|final|resulting|remaining) ){0,3}"
    r"(?:(?:list|set|hand|answer|result|it|string|sequence|agent) )?"
    r"(?:(?:is|are|was|has|contains|holds|ends? up|ended up|finishes) )?(?:(?:now|left|with|an?|currently) ){0,3}"
    r"(?:none|nothing|empty|null|nil|n/a|∅|(?:there (?:is|are|were) )?"
    r"(?:no|zero|0)(?: (?:such|different|repeated|matching|final|differing|remaining))?"
    r" (?:words?|items?|elements?|numbers?|differences?|entries))(?: (?:list|set|hand|string))?"
    r"(?: (?:is|are|were|was))?(?: (?:left|remain(?:s|ing)?|found|listed|there|differ))?"
    r"(?: (?:that )?(?:in|of|from|after|follow(?:s|ing)?|appears?|comes?|on|between|matching|at) [^\n,:]{1,80})?",
    re.IGNORECASE,
)
_LONG = 2_000
"""Characters at the end of a statement among which its list begins, where that is inside a sentence."""


@dataclass
class _List:
    """A list, or what leads to one that is still to come; it may go on from statement to statement."""

    lead: str
    items: list[str]
    said: bool = False
    """Whether it is a part of a sentence."""
    to_come: bool = False
    opens: bool = False
    """Whether nothing was said before."""
    marked: bool = False
    """Whether its items are marked, each on a line."""
    labelled: bool = False
    """Whether what leads to it stands in the same statement."""
    most: int = 1
    """Items of one statement."""
    contested: bool = False
    """Whether it is one of several that are left open."""

    def stated(self) -> Items | None:
        nothing = len(self.items) == 1 and _is_nothing(self.items[0])
        return None if self.contested else () if nothing else tuple(self.items)


def _stated(statement: str, spaced_from: int) -> _List | None:
    """The list that a statement states, if it states one; so many words with mere spaces between them are one, too."""
    if items := _row(statement):
        return _List("", items)
    if _is_nothing(statement):
        return _List("", [], said=True)
    signs = list(_SIGN.finditer(statement))
    if len(signs) > 1 and (items := _paired(statement)):
        return _List("", items)
    for sign in signs[:-3:-1]:
        lead, rest = statement[: sign.start()], statement[sign.end() :]
        items = _row(rest) or _spaced(rest, 2)
        if len(items) > 1 or (items and len(signs) < 3):
            return _List(lead, items)
        if not SAYS.search(rest) or _is_nothing(rest):
            return _List(lead, [], to_come=not SAYS.search(rest))
    if (found := _told(statement)) or _is_nothing(statement.rpartition(", ")[2]):
        return found or _List("", [], said=True)
    return _List("", items) if (items := _spaced(statement, spaced_from)) else None


def _is_nothing(text: str) -> bool:
    return len(text) < _LONG and _NOTHING.fullmatch(text.strip(" .!,;")) is not None


def _row(text: str) -> list[str]:
    """The items of a text that is a list and nothing else, with commas, with semicolons, or with `and`."""
    if (one := word(text)) is not None:
        return [one]
    if ";" in text and "," in text and text.count(";") * _MANY > text.count(","):
        return []
    parts = text.replace(";", ",").split(",")
    if len(parts) == 1:
        parts = re.split(r" [•·|/] ", text)
    items: list[str] = []
    slips = 0
    for place, part in enumerate(parts):
        if (one := word(part)) is not None:
            items.append(one)
        elif SAYS.search(part):
            several = _several(part, place, len(parts))
            if not several:
                return []
            slips += place + 1 < len(parts)
            items += several
    return items if slips * _MANY <= len(parts) else []


def _several(part: str, place: int, parts: int) -> list[str]:
    """The items between two commas that are not just one: `a and b` at the end; or, in a long list, any slip."""
    split = part.split()
    if place + 1 == parts and (found := _words(filter(str.strip, re.split(r" ?\b(?:and|plus) | ?& ", part)))):
        return found
    if parts < _MANY or len(part) > _LONG or "or" in split:
        return []
    if len(split) > 2 and place in (0, parts - 1):  # what leads to a list, or follows it, on its line
        return [] if _SIGN.search(part) else _words(split[-1:] if place == 0 else split[:1])
    return _words(split) or ([part.strip().casefold()] if place and len(split) < 3 else [])


def _words(texts: Iterable[str]) -> list[str]:
    found = [word(text) for text in texts]
    known = [one for one in found if one is not None and one != "or"]
    return known if len(known) == len(found) else []


def _paired(text: str) -> list[str]:
    """What each of several keys is paired with: `a: x, b: y`."""
    parts = [part for part in re.split("[,;]", text) if SAYS.search(part)]
    found = [one for part in parts if (pair := _PAIR.fullmatch(part)) and (one := word(pair[1]))]
    return found if len(found) == len(parts) > 1 else []


def _spaced(text: str, least: int) -> list[str]:
    """The items of a text that has only spaces between them; words only if they are so many, and no sentence."""
    parts = [] if "," in text or ";" in text else text.split()
    if len(parts) > 1 and all(part.removeprefix("-").isdecimal() for part in parts):
        return parts
    if len(parts) < least or text.rstrip().endswith((".", "!")) or parts[0][0].isupper() > parts[-1][0].isupper():
        return []
    return _words(parts) if len(_PROSE.findall(text)) * 50 <= len(parts) else []


def _told(sentence: str) -> _List | None:
    """The list inside a sentence that is about words: at its end, at its start, or in quotes."""
    for verb in list(_IS.finditer(sentence))[-_MANY:]:
        lead, rest = sentence[: verb.end()], sentence[verb.end() :]
        about = lead[-_LONG:]
        if not _ABOUT_SEVERAL.search(about) or NOT.search(about[-40:]) or NO_WORD.fullmatch(rest.strip(" .!")):
            continue
        if (items := _row(rest)) and (len(items) > 1 or _ABOUT.search(about)):
            return _List(lead, items, said=True)
    if are := _ARE.search(sentence):
        items, rest = _row(sentence[: are.start()]), sentence[are.start() :]
        if items and len(items) > 1 and _ABOUT_SEVERAL.search(rest) and not NOT.search(rest[:15]):
            return _List(rest, items, said=True)
    talk = _TO_COME.match(sentence) or not _ABOUT_SEVERAL.search(sentence[:_LONG])
    quoted = [] if talk else list(_QUOTED.finditer(sentence))
    if len(quoted) == 1 and not NOT.search(sentence[: quoted[0].start()][-40:]) and (items := _row(quoted[0][0])):
        return _List(sentence[: quoted[0].start()], items, said=True)
    return None


# --- the lists of a text ---

_SOME = 5
"""Words that are a list without commas where no label says so; and items of a line that may go on in the next one."""
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


class _Lists:
    """The lists of a laid-out text, in order; those behind the last correction, if there are any."""

    def __init__(self, text: str, behind_label: bool = False) -> None:
        self.found: list[_List] = []
        self._talk: list[_List] = []
        self._now: _List | None = None
        self._lead, self._leads_off = "", False
        self._opens, self._gap, self._closed, self._contested = True, False, False, False
        taken_back: list[_List] = []
        for statement in statements(ungrouped(text)):
            if not SAYS.search(statement):
                self._now = None if statement == END_OF_LIST else self._now
                self._gap |= not statement
                continue
            if self.found and statement[0].isupper() and (again := AGAIN.match(statement)):
                taken_back, self.found, self._now = self.found, [], None
                statement = statement[again.end() :]
            self._take(statement, 2 if behind_label and self._opens else _SOME)
            self._gap, self._closed = False, statement.endswith((".", "!"))
        self.found = self.found or taken_back or self._talk

    def _take(self, statement: str, spaced_from: int) -> None:
        marked, body, opens = statement.startswith(BULLET), statement.removeprefix(BULLET), self._opens
        if not marked and is_talk(body) and (self._now is None or self._gap or body.endswith((".", "!"))):
            self._talk, self._now = [_List("", [word(body) or ""], opens=True)], None
            return
        self._opens, new = False, _stated(body, spaced_from)
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

    def _begin(self, new: _List, opens: bool) -> None:
        if (now := self._now) and new.items != now.items:
            rows = new.marked and now.marked and not now.labelled and min(new.most, now.most) > 1
            if _of_a_kind(now.lead, new.lead) if new.lead else rows:
                now.contested = self._contested = True
        new.lead, new.opens, new.contested = new.lead or self._lead, opens or self._leads_off, self._contested
        self._now = new
        self.found.append(new)
        self._lead, self._leads_off, self._contested = "", False, False

    def _goes_on(self, now: _List, new: _List) -> bool:
        """Whether a list goes on with a statement."""
        if new.lead:
            return new.most == now.most == 1 and now.labelled and _of_a_kind(now.lead, new.lead)
        if now.said or new.said or new.marked != now.marked or (new.most > 2 and _restated(now.items, new.items)):
            return False
        if new.most > 1 or now.most > 1:
            return now.most >= _SOME and not new.marked and (new.most > 1 or not (self._gap or self._closed))
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


def _meant(lists: Sequence[_List]) -> _List | None:
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


def _behind(text: str) -> _List | None:
    """The list that stands behind a label."""
    lists = _Lists(text, behind_label=True).found
    return lists[0] if lists and lists[0].opens else _meant(lists)


def _unlabelled(text: str) -> _List | None:
    """The list of a text without a label: of what comes before an explanation, unless that concludes with one."""
    short = before_explanation(text)
    parts = (text,) if _CONCLUDES.search(text, len(short)) else dict.fromkeys((short, text))
    return next(filter(None, (_meant(_Lists(part).found) for part in parts)), None)


# --- lists under names ---

_ACTS = re.compile(
    r"(?i)\b(?:start|beg[ai]n|draw|discard|swap|trad|exchang|receiv|giv|los|add|remov|initial|tak|for the following)"
)
_JOINT = re.compile(r"[,;]? (?:and|while|whereas|but|then) \Z", re.IGNORECASE)


def read_named_lists(reply: str, names: Sequence[str]) -> dict[str, Items] | None:
    """The last list that a reply states for each name; None if it states none."""
    for text in own_words(reply):
        found: dict[str, Items] = {}
        for part in behind_labels(text, LABELS):
            here = _named(part, names)
            if here.keys() & found.keys():
                break
            found |= here
        if found := found or _named(text, names):
            return {name: found[name] for name in names if name in found}
    return None


def _named(text: str, names: Sequence[str]) -> dict[str, Items]:
    """The last list that a laid-out text states for each name."""
    heads = [head for head in _heads(tuple(names)).finditer(text) if names and _is_head(head)]
    found: dict[str, Items] = {}
    for head, end in zip(heads, [*(head.start() for head in heads[1:]), len(text)], strict=False):
        behind = text[head.end() : end]
        if end < len(text):
            behind = _JOINT.sub("", behind).rstrip(" ,;")
        behind = behind.rpartition("→")[2]  # what it led to
        lists = [] if _ACTS.search(head["link"]) else _Lists(behind, behind_label=True).found
        meant = lists[0] if lists and lists[0].opens else None if head["verb"] else _meant(lists)
        if meant and (items := meant.stated()) is not None:
            found[next(name for n, name in enumerate(names) if head[f"name{n}"] or head[f"short{n}"])] = items
    return found


def _is_head(found: re.Match[str]) -> bool:
    """Whether a name that ends a line is a heading, and no item."""
    if found["line"] is None:
        return True
    line = found.string[found.string.rfind("\n", 0, found.start()) + 1 : found.start()]
    return line in ("", '"') or (line == BULLET and " " in found[0])


@lru_cache(maxsize=64)
def _heads(names: tuple[str, ...]) -> re.Pattern[str]:
    """Where a name stands before a list: `Agent A:`, `Agent A ends up with`, a line `Agent A`, or `A:` on a line."""
    spelled = [r"[ _]?".join(map(re.escape, name.split())) for name in names]
    longest_first = sorted(range(len(names)), key=lambda n: -len(names[n]))
    full = "|".join(rf"(?P<name{n}>{spelled[n]})" for n in longest_first)
    last = [name.split()[-1] for name in names]
    shared = ["(?!)" * (last.count(one) > 1) for one in last]
    short = "|".join(rf"(?P<short{n}>{re.escape(last[n])}{shared[n]})" for n in longest_first)
    other = "|".join(spelled)
    return re.compile(
        rf"(?:(?<![\w-])(?:{full})(?![\w-])|(?:^(?:{BULLET})?|(?<=[,;:] ))(?:{short})(?= ?[:=→]))"
        r"(?P<link>\"?(?:['’]s)?(?: ?[:=→]"
        rf"|(?P<verb>(?: [\w-]+){{0,6}}? (?:with|has|holds|have)\b|(?: [\w-]+){{0,6}}? (?:is|are|includes|contains)\b)"
        rf"|(?:(?!{other})[^\n:=.;]){{0,80}}?(?:[:=→]| -(?= ))|(?P<line>(?: [\w ]{{1,40}})?$)))",
        re.IGNORECASE | re.MULTILINE,
    )
