"""What one statement of a reply lists: a row of words, pairs, or a list inside a sentence.

>>> listed("Here they are: apple, pear and plum").items, listed("fig: apple, date: pear").items
(['apple', 'pear', 'plum'], ['apple', 'pear'])
>>> listed("The words that differ are apple and pear.").items, listed("It depends.")
(['apple', 'pear'], None)
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from carrara.grading.statements import NO_WORD, NOT, SAYS, word

SOME = 5
"""Words that are a list without commas where no label says so; and items of a line that may go on in the next one."""
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
class Listed:
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

    def stated(self) -> tuple[str, ...] | None:
        nothing = len(self.items) == 1 and is_nothing(self.items[0])
        return None if self.contested else () if nothing else tuple(self.items)


def listed(statement: str, spaced_from: int = SOME) -> Listed | None:
    """The list that a statement states, if it states one; so many words with mere spaces between them are one, too."""
    if items := _row(statement):
        return Listed("", items)
    if is_nothing(statement):
        return Listed("", [], said=True)
    signs = list(_SIGN.finditer(statement))
    if len(signs) > 1 and (items := _paired(statement)):
        return Listed("", items)
    for sign in signs[:-3:-1]:
        lead, rest = statement[: sign.start()], statement[sign.end() :]
        items = _row(rest) or _spaced(rest, 2)
        if len(items) > 1 or (items and len(signs) < 3):
            return Listed(lead, items)
        if not SAYS.search(rest) or is_nothing(rest):
            return Listed(lead, [], to_come=not SAYS.search(rest))
    if (found := _told(statement)) or is_nothing(statement.rpartition(", ")[2]):
        return found or Listed("", [], said=True)
    return Listed("", items) if (items := _spaced(statement, spaced_from)) else None


def is_nothing(text: str) -> bool:
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


def _told(sentence: str) -> Listed | None:
    """The list inside a sentence that is about words: at its end, at its start, or in quotes."""
    for verb in list(_IS.finditer(sentence))[-_MANY:]:
        lead, rest = sentence[: verb.end()], sentence[verb.end() :]
        about = lead[-_LONG:]
        if not _ABOUT_SEVERAL.search(about) or NOT.search(about[-40:]) or NO_WORD.fullmatch(rest.strip(" .!")):
            continue
        if (items := _row(rest)) and (len(items) > 1 or _ABOUT.search(about)):
            return Listed(lead, items, said=True)
    if are := _ARE.search(sentence):
        items, rest = _row(sentence[: are.start()]), sentence[are.start() :]
        if items and len(items) > 1 and _ABOUT_SEVERAL.search(rest) and not NOT.search(rest[:15]):
            return Listed(rest, items, said=True)
    talk = _TO_COME.match(sentence) or not _ABOUT_SEVERAL.search(sentence[:_LONG])
    quoted = [] if talk else list(_QUOTED.finditer(sentence))
    if len(quoted) == 1 and not NOT.search(sentence[: quoted[0].start()][-40:]) and (items := _row(quoted[0][0])):
        return Listed(sentence[: quoted[0].start()], items, said=True)
    return None
