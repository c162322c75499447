"""Whom the words before a label speak of: what is said of somebody else is no answer.

>>> of_another("Mary")("John was last seen in the ", ""), of_another("Mary")("Mary and John went to the ", "")
(True, False)
>>> of_another_thing("milk")("the apple is in the ", "")
True
"""

import re
from functools import lru_cache

from carrara.tasks.babilong._lexicon import MEN, THINGS, WOMEN
from carrara.tasks.babilong._roles import About, after
from carrara.tasks.babilong._words import OFFICIAL

_WOMEN = frozenset([*WOMEN, *(who for cast in OFFICIAL for who in cast.women)])
_PEOPLE = frozenset([*WOMEN, *MEN, *(who for cast in OFFICIAL for who in cast.people)])
_THINGS = frozenset([*THINGS, *(thing for cast in OFFICIAL for thing in cast.things)])
_PRONOUNS = frozenset({"he", "she", "they", "it", "both"})
_WORD = re.compile(r"[^\W\d_]+")
_STARTS = re.compile(
    r"(?:\A|[;,:|({\[\"“*_.>&-]|\b(?:and|while|but|whereas|though|because|that|when|then|so|where|since|if))\W*\Z", re.I
)
"""What stands before the subject of a clause."""
_LINKED = re.compile(r"\b(?:with|to|from|by|like|of|than|near|for|told|followed)\s\Z", re.IGNORECASE)
_ACTS = re.compile(
    r"\s(?:also |then |now |currently |still |later )?"
    r"(?:is|was|are|were|has|had|holds?|carr(?:y|ies|ied)|went|goes|moved|travell?ed|journeyed|got|took|picked|grabbed"
    r"|stay(?:s|ed)|remain(?:s|ed)|ended|ends|lies|will|would|can|could|may|might|must|gave|handed|passed)\b"
    r"|,? who\b",
    re.IGNORECASE,
)
_TOGETHER = re.compile(r"\W{1,3}(?:and|&)?\W{0,3}")
_BELONGS = re.compile(
    r"\W*(?:(?:is|was|are|were) )?(?:(?:being )?(?:carried|held|taken|feared) )?by (?P<by>\w+)"
    r"|\W*(?:is|was) where (?P<where>\w+)|\s?\((?P<aside>\w+)\)"
)
"""What stands behind a label that is somebody's: carried by Mary, where Mary is, (Mary)."""
_THING_IS = re.compile(r"\b((?:\w+ )?\w+)\W{0,3}(?:\s(?:is|was|lies|went|got)\b|\s?(?:[:=|→]|-+>))", re.IGNORECASE)


def pronoun(who: str) -> str:
    """A pattern of the pronoun that stands for somebody."""
    who = who.title()
    return "she" if who in _WOMEN else "he" if who in _PEOPLE else "s?he"


def named(who: str) -> str:
    """A name right before what is said of it: `Mary: milk`, `| Mary | milk |`, `John has the apple, Mary the milk`."""
    return after(rf"\b{re.escape(who)}\b(?!\))(?:['’]s(?: \w+){{1,3}})?", near=True).pattern


def of_another(*known: str) -> About:
    """Whether the words around a label are about somebody whom the question does not name."""
    own = re.compile("|".join(map(re.escape, known)), re.I)
    direct = re.compile(named(known[0]), re.I) if len(known) == 1 else None
    pronouns = re.compile(rf"(?:{'|'.join(map(pronoun, known))}|they|it|both)", re.I)

    def about_another(before: str, behind: str) -> bool:
        owner = _BELONGS.match(behind)
        if not owner and direct and direct.search(before):
            return False
        group = [owner[owner.lastgroup or 0]] if owner else _subject(before)
        names = [name for name in group if name in _PEOPLE or name.lower() in _PRONOUNS]
        return bool(names) and not any(own.fullmatch(name) or pronouns.fullmatch(name) for name in names)

    return about_another


def of_another_thing(thing: str) -> About:
    """Whether the words before a label say of another thing where it is."""

    def about_another(before: str, behind: str) -> bool:
        for found in reversed(_THING_IS.findall(before)):
            things = {found.lower(), found.lower().split()[-1]}
            if things & {thing.lower(), *_PRONOUNS}:
                return False
            if things & _THINGS:
                return True
        return False

    return about_another


@lru_cache(maxsize=10_000)
def _subject(before: str) -> tuple[str, ...]:
    """The names and pronouns that are the subject of the last clause before a label."""
    names = [word for word in _WORD.finditer(before) if word[0] in _PEOPLE or word[0].lower() in _PRONOUNS]
    for i in range(len(names) - 1, -1, -1):
        head = before[: names[i].start()]
        if _STARTS.search(head) or (_ACTS.match(before, names[i].end()) and not _LINKED.search(head)):
            first = i
            while first and _TOGETHER.fullmatch(before, names[first - 1].end(), names[first].start()):
                first -= 1
            return tuple(name[0] for name in names[first : i + 1])
    return ()
