"""What one statement of a reply lists: a row of words, pairs, or a list inside a sentence.

>>> listed("Here they are: apple, pear and plum").items, listed("fig: apple, date: pear").items
(['apple', 'pear', 'plum'], ['apple', 'pear'])
>>> listed("The words that differ are apple and pear.").items, listed("It depends.")
(['apple', 'pear'], None)
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from carrara.answers.asked import NOTHING_ASKED, SIDE, Asked
from carrara.answers.evidence import SO
from carrara.answers.statements import ASIDE, BARE, DENIES, MISSING, NO_WORD, SAYS, is_talk, word

SOME = 5
"""Words that are a list without commas where no label says so; and items of a line that may go on in the next one."""
_MANY = 8
"""Items of a list of which one may be a slip, such as a comma left out."""
_PROSE = re.compile(
    rf"\b(?:{NO_WORD.pattern}|of|to|in|is|are|was|but|for|with|can|could|your|my|be|have|has|on|from|all|any|let|me|if"
    r"|please|after|before|each|every)\b",
    re.IGNORECASE,
)
_SIGN = re.compile(r":|=+|→|—| -(?= )")
_PAIR = re.compile(r"(?:[^:\n]{1,200}: )?([^:=→—]{1,60}?)(:|=+|→|—| -(?= ))(.{1,80})")
_APART = re.compile(r"[,;]| \| ")
_IS = re.compile(
    r"\b(?:is|are|was|were|be|includes?|namely|remains?|with|has|have|had|holds?|following|leaves)\b[:,]? (?=\S)", re.I
)
_VERB = re.compile(r" (?:is|are|was|were) ")
_ARE = re.compile(r" (?:is|are|were|differ|appear|remain|was)\b", re.IGNORECASE)
_ONE = (
    r"words?|numbers?|answers?|results?|items?|elements?|set|agents?|hand|output|values?|differences?|ones?|terms?"
    r"|partners?|pairs?|match(?:es)?"
)
_ABOUT = re.compile(rf"\b(?:{_ONE})\b", re.IGNORECASE)
_ABOUT_SEVERAL = re.compile(rf"\b(?:{_ONE}|lists?|sequence|context|entries|they|these|those|it)\b", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"\n]{1,80}"(?:(?:,|,? and| &) "[^"\n]{1,80}")+')
_QUOTED_FIRST = re.compile(
    r'("[^"\n]{1,80}"(?:(?:,|,? and| &) "[^"\n]{1,80}"){0,99})'
    r',? (?:in|from|of|on|at|which|that|because|as|since)\b[^"\n]*'
)
_QUOTE = re.compile(r'"([^"\n]{1,80})"')
_PAIRS = re.compile(r"\b(?:paired|associated|matched|linked|goes|corresponds?|followed)\b", re.IGNORECASE)
_TO_COME = re.compile(r"(?:first,? )?(?:to|we|i|let|given|for)\b", re.IGNORECASE)
_ABOUT_ONE = re.compile(
    r'"?([^\s":=→—]{1,60})"?'
    r"(?:(?::| -|—) ?(?=\S+(?: \S+){2})| (?:is|appears?|occurs?|comes|stands) (?=only|in|from)\b)"
)
_ASIDE = re.compile(ASIDE, re.IGNORECASE)
_WITHIN = re.compile(
    r" ?(?:(?:only|just|is|found|appears?|stands?|occurs?|exists?) ){0,3}(?:in|from|of)\b", re.IGNORECASE
)
_ONE_OF_SEVERAL = re.compile(r"(?:\A|[,;] )(\w+ [0-9]{1,6})\Z")
_NOTHING = re.compile(
    rf"(?:(?:{SO}|now|currently|there|the|an?|its?|their|this|final|resulting|remaining|list|set|hand|answer"
    r"|result|string|is|are|was|were|has|contains|holds|ends? up|ended up|left|with),? ){0,9}"
    r"(?:none|nothing|empty|null|nil|n/a|(?:no|zero|0)(?: \w{4,9})? (?:words?|items?|elements?|numbers?|differences?"
    r"|entries))(?: (?:list|set|hand|string|is|are|were|was|left|remain(?:s|ing)?|found|listed|there|differ)){0,3}"
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
    keys: list[str] = field(default_factory=list[str])
    """What its items are paired with, each on its own."""
    said: bool = False
    """Whether it is a part of a sentence."""
    to_come: bool = False
    explained: bool = False
    """Whether nothing makes it a list but that its item is explained."""
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
        nothing = len(self.items) == 1 and _is_nothing(self.items[0])
        return None if self.contested else () if nothing else tuple(self.items)

    @property
    def is_missing(self) -> bool:
        """Whether it says of all its items that they were not found."""
        return bool(self.items) and all(MISSING.fullmatch(one) for one in self.items) and self.stated() != ()


def listed(
    statement: str, asked: Asked = NOTHING_ASKED, spaced_from: int = SOME, marked: bool = False
) -> Listed | None:
    """The list that a statement states, if it states one; so many words with mere spaces between them are one, too."""
    if (bare := statement.rstrip(".!")).endswith(" respectively"):
        statement = bare.removesuffix(" respectively").rstrip(",")
    found = (
        _of_two(statement, asked)
        or _partners(statement, asked)
        or _plain(statement, asked, spaced_from)
        or _about_one(statement, asked, marked)
    )
    if found is None:
        return None
    key = asked.key(found.lead) if len(found.items) == 1 else None
    if not found.lead and len(found.items) == 2 and asked.keys.intersection(found.items) == {found.items[0]}:
        key = found.items.pop(0)
    if key:
        found.lead, found.keys, found.said = key, [key], False
    return found


def _plain(statement: str, asked: Asked, spaced_from: int) -> Listed | None:
    if items := _row(statement):
        return Listed("", items)
    if asked.keys and statement[:1].islower() and len(pair := statement.split()) == 2 and (items := _words(pair)):
        return Listed(items[0], items[1:], items[:1])
    signs = list(_SIGN.finditer(statement))
    if len(signs) > 1 and (found := _paired(statement, asked)):
        return found
    names = [name[1] for sign in signs[-2:] if (name := _ONE_OF_SEVERAL.search(statement[: sign.start()][-80:]))]
    if len(set(names)) > 1:  # several lists on one line
        return Listed(names[0], [], contested=True)
    for sign in signs[:-3:-1]:
        lead, rest = statement[: sign.start()], statement[sign.end() :]
        items = _row(rest) or _spaced(rest, 2)
        if asked.first and sign[0] == "→" and (one := word(lead)) and len(items) == 1:
            return Listed(items[0], [one])
        if len(items) > 1 or (items and len(signs) < 3):
            return Listed(lead, items, [one] if len(items) == 1 and (one := word(lead)) else [])
        if not SAYS.search(rest) or _is_nothing(rest):
            return Listed(lead, [], to_come=not SAYS.search(rest), said=_is_nothing(rest))
    if (told := _told(statement, asked)) or _is_nothing(statement.rpartition(", ")[2]):
        return told or Listed("", [], said=True)
    return Listed("", items) if (items := _spaced(statement, spaced_from)) else None


def _of_two(statement: str, asked: Asked) -> Listed | None:
    """What a sentence says of the one of two lists that is asked for, which says as much of the other one."""
    if asked.first is None or len(statement) > _LONG:
        return None
    lists = list(SIDE.finditer(statement))
    words = list(_QUOTE.finditer(statement))
    if not len(lists) == len(words) == 2 or (lists[0]["first"] is None) == (lists[1]["first"] is None):
        return None
    place = (lists[0]["first"] is not None) != asked.first
    return Listed(lists[place][0].casefold(), [one]) if (one := word(words[place][1])) else None


def _partners(statement: str, asked: Asked) -> Listed | None:
    """The partners of several words that a statement pairs, each in a part of its own: `a is b, c is d, and e is f`."""
    parts = re.split(r"(?:,|;| \|)? and |[;,]| \| ", statement) if asked.keys and len(statement) < _LONG else []
    parts = [part for part in parts if SAYS.search(part)]
    if len(parts) < 2 or not all(map(asked.key, parts)):
        return None
    found = [_plain(part, asked, SOME) for part in parts]
    pairs = [(key, one.items[0]) for one in found if one and len(one.items) == 1 and (key := asked.key(one.lead))]
    return Listed("", [one for _, one in pairs], [key for key, _ in pairs]) if len(pairs) == len(parts) else None


def _about_one(statement: str, asked: Asked, marked: bool) -> Listed | None:
    """An item and what is said about it: `apple - not in List 2`."""
    found = _ABOUT_ONE.match(statement)
    if not found or not (marked or '"' in found[0] or "-" in found[0]) or is_talk(found[1].capitalize()):
        return None
    one = word(found[1])
    if one is None or one in asked.keys or one.isdecimal() or NO_WORD.fullmatch(one) or _ASIDE.fullmatch(one):
        return None
    rest = statement[found.end() :]
    other = _WITHIN.match(rest) and asked.about(rest) is False
    return None if other else Listed("", [one], explained=True)


def _is_nothing(text: str) -> bool:
    return len(text) < _LONG and _NOTHING.fullmatch(text.strip(" .!,;")) is not None


def _row(text: str) -> list[str]:
    """The items of a text that is a list and nothing else, with commas, with semicolons, or with `and`."""
    if BARE.fullmatch(bare := text.strip()):
        return bare.split(", ")
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
        if (one := _item(part)) is not None:
            items.append(one)
        elif SAYS.search(part):
            several = _several(part, place, len(parts))
            if not several:
                return []
            slips += place + 1 < len(parts)
            items += several
    return items if slips * _MANY <= len(parts) else []


def _item(text: str) -> str | None:
    """A word, or what stands for one that was not found."""
    bare = text.strip(" .!")
    return word(text) or (bare.casefold() if MISSING.fullmatch(bare) else None)


def _several(part: str, place: int, parts: int) -> list[str]:
    """The items between two commas that are not just one: `a and b` at the end; or, in a long list, any slip."""
    split = part.split()
    if place + 1 == parts and (found := _words(filter(str.strip, re.split(r" ?\b(?:and|plus) | ?& ", part)))):
        return found
    if parts < _MANY or len(part) > _LONG or "or" in split or (place < _MANY and _SIGN.search(part)):
        return []
    if len(split) > 2 and place in (0, parts - 1):  # what leads to a list, or follows it, on its line
        return [] if _SIGN.search(part) else _words(split[-1:] if place == 0 else split[:1])
    if len(split) > 2 and _VERB.search(part):
        return []
    return _words(split) or ([part.strip().casefold()] if place and len(split) < 3 else [])


def _words(texts: Iterable[str]) -> list[str]:
    found = [word(text) for text in texts]
    known = [one for one in found if one is not None and one != "or"]
    return known if len(known) == len(found) else []


def _paired(text: str, asked: Asked) -> Listed | None:
    """What each of several keys is paired with: `a: x, b: y`."""
    parts = [part for part in _APART.split(text) if SAYS.search(part)]
    pairs = [pair for part in parts if (pair := _PAIR.fullmatch(part))]
    if not len(pairs) == len(parts) > 1:
        return None
    ends = [(pair[3], pair[1]) if asked.first and pair[2] == "→" else (pair[1], pair[3]) for pair in pairs]
    ends = [(key, end) for key, end in ends if asked.about(key) is not False]
    items = [one for _, end in ends if (one := _item(end))]
    return Listed("", items, [key.strip(' "').casefold() for key, _ in ends]) if len(items) == len(ends) else None


def _spaced(text: str, least: int) -> list[str]:
    """The items of a text that has only spaces between them; words only if they are so many, and no sentence."""
    parts = [] if "," in text or ";" in text else text.split()
    if len(parts) > 1 and all(part.removeprefix("-").isdecimal() for part in parts):
        return parts
    if len(parts) < least or text.rstrip().endswith((".", "!")) or parts[0][0].isupper() > parts[-1][0].isupper():
        return []
    return _words(parts) if len(_PROSE.findall(text)) * 50 <= len(parts) else []


def _told(sentence: str, asked: Asked) -> Listed | None:
    """The list inside a sentence that is about words: at its end, at its start, or in quotes."""
    for verb in list(_IS.finditer(sentence))[-_MANY:]:
        lead, rest = sentence[: verb.end()], sentence[verb.end() :]
        about = lead[-_LONG:]
        partner = asked.keys and (asked.key(about) or _PAIRS.search(about))
        if (
            not (partner or _ABOUT_SEVERAL.search(about))
            or DENIES.search(about[-40:])
            or NO_WORD.fullmatch(rest.strip(" .!"))
        ):
            continue
        first = _QUOTED_FIRST.fullmatch(rest)
        if (items := _row(first[1] if first else rest)) and (len(items) > 1 or partner or _ABOUT.search(about)):
            return Listed(lead, items, said=True)
    if are := _ARE.search(sentence):
        items, rest = _row(sentence[: are.start()]), sentence[are.start() :]
        if items and len(items) > 1 and _ABOUT_SEVERAL.search(rest) and not DENIES.search(rest[:15]):
            return Listed(rest, items, said=True)
    talk = _TO_COME.match(sentence) or not _ABOUT_SEVERAL.search(sentence[:_LONG])
    quoted = [] if talk else list(_QUOTED.finditer(sentence))
    if len(quoted) == 1 and not DENIES.search(sentence[: quoted[0].start()][-40:]) and (items := _row(quoted[0][0])):
        return Listed(sentence[: quoted[0].start()], items, said=True)
    return None
