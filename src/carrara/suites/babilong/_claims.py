"""How sentences say what a bAbI question asks, and where a label stands that is not the answer.

`Bill gave the milk to Fred` answers who gave and who received it; nothing but the words around tell which is which.
"""

import re
from functools import lru_cache

from carrara.suites.babilong._facts import (
    ColourOf,
    FearOf,
    HowMany,
    Neighbour,
    PersonBefore,
    Query,
    ThingBefore,
    WhatCarried,
    WhatGiven,
    WhereIs,
    WhereThing,
    WhereWill,
    WhoGave,
    WhoReceived,
    WhyGet,
    WhyGo,
    opposite,
)
from carrara.suites.babilong._roles import Roles, Sides, after, behind

_IS = r"(?:\b(?:is|are|be|was|were|lies|lay|remains?|stays?|ended up|ends up|found)\b|['’](?:s|re)\b)"
_NOW = r"(?:\b(?:is|are|be|lies|remains?|stays?|ended up|ends up|found)\b|['’](?:s|re)\b)"
_PLACE = r"location(?! of\b)"
_WENT = r"(?:went|moved|travell?ed|journeyed)"
_MOVED = rf"(?:{_WENT}|(?:is|was|are|were) (?:in|at))"
_LEFT = (
    r"(?:\b(?:from|left|leaves|leaving|exit(?:s|ed|ing))(?:\W+the)?\W*"
    r"|\b(?:initially|originally|previously|earlier|had been|used to be)\b[^,;]*)$"
)
_LAID = r"\b(?:left|leaves|put|puts|dropped|drops|discarded|placed|laid)\b(?! and)[^;,]{0,40}? in(?:\W+the)?\W*$"
_GAVE = r"\b(?:gave|gives?|given|hand(?:ed|s)|pass(?:ed|es)|transferred|delivered)"
_GOT = r"\b(?:received|receives|got|gets|was (?:given|handed|passed)|accepted|obtained)"
_TO = rf"(?:{_GAVE}\b(?:[^;,.]{{0,40}} to)?|^\W*(?:to|→|->))"
_ONLY = r"(?:\W+(?:only|both|just|still|now|currently|exactly|a total of|the following|items?|objects?|things?))*"
_HOLDS = r"\b(?:carry|carries|carrying|holds?|holding|has|have|possesses|possession|left with)"


@lru_cache(maxsize=256)
def roles(query: Query | None) -> Roles:
    """The roles that a question asks for."""
    match query:
        case WhereThing(thing):
            is_in = Sides(after(_one(thing, _PLACE), _NOW))
            return Roles((is_in, Sides(re.compile(_LAID, re.I))), Sides(re.compile(_LEFT, re.I)))
        case WhereIs(who):
            here = after(_one(who, _PLACE), _NOW).pattern
            noted = rf"\b{re.escape(who)}[*_'’]{{0,3}} ?(?:[:=→–-]|->)\W*$"
            # Where somebody else went is no answer.
            one = rf"\b(?:{re.escape(who)}|[Ss]?[Hh]e|[Ii]t|[Tt]hey|[Bb]oth)\b"
            other = rf"^(?!.*{one}).*\b[A-Z]\w+ (?:and [A-Z]\w+ )?{_MOVED}\b"
            return Roles((Sides(re.compile(f"{here}|{noted}", re.I)),), Sides(re.compile(f"{_LEFT}|{other}")))
        case ThingBefore(one, place) | PersonBefore(one, place):
            there = rf"\b{re.escape(place)}\b"
            was = rf"(?:{_IS}|\b(?:went|moved|got|had been)\b|:)"
            first = after(rf"\b(?:before|prior to|until)\b[^;]{{0,40}}?{there}", was)
            then = behind(r"(?:\b(?:before|prior to|then|to|into)\b|->|→)", there, gap=40)
            # Where somebody went says nothing of a thing yet.
            alone = re.compile(rf"^\W*\w+ (?:then )?{_WENT}(?: back)? to(?: the)?\W*$", re.I)
            never = Sides(alone) if isinstance(query, ThingBefore) else Sides()
            return Roles((Sides(first, then), Sides(after(_one(one), _IS))), never)
        case Neighbour(way, place):
            there = rf"(?:\b{re.escape(place)}|\bit)\b"
            side = after(rf"\b{way}(?: side)? of (?:the )?{there}", rf"(?:{_IS}|:)")
            turned = after(there, _IS, rf"\b{opposite(way)}\b")
            return Roles((Sides(side, behind(_IS, rf"\b{way}", rf"\bof (?:the )?{there}")), Sides(turned)))
        case WhatGiven(_, to):
            other = re.escape(to)
            return Roles((Sides(after(rf"{_GAVE} (?:{other}|him|her)"), behind(rf"\bto {other}\b")),))
        case WhoGave(thing):
            it = _it(thing)
            giver = after(r"(?:\b(?:by|from)|\bgiver\b[^;,.]{0,30} (?:is|was))", near=True)
            gave = rf"(?:\W+(?!and\b)\w+){{0,3}}?\W+{_GAVE}"
            return Roles(
                (Sides(giver, re.compile(gave + it, re.I)), Sides(behind=re.compile(gave, re.I))),
                Sides(after(_TO, near=True), behind(_GOT, gap=12)),
            )
        case WhoReceived(thing):
            it = _it(thing)
            taker = r"\b(?:received by|(?:recipient|receiver)\b[^;,.]{0,30} (?:is|was))"
            return Roles(
                (
                    Sides(after(rf"(?:{_GAVE}{it}[^;,.]{{0,15}} to|{taker})", near=True), behind(_GOT + it)),
                    Sides(after(_TO, near=True), behind(_GOT)),
                ),
                Sides(after(r"(?<!received )\b(?:by|from)", near=True), behind(_GAVE, gap=12)),
            )
        case HowMany(who):
            left = r"\b(?:total(?: of)?|leaves|leaving|remain(?:s|ing)?|is|are)"
            return Roles((*_held(who), Sides(after(left + _ONLY, near=True))))
        case WhatCarried(who):
            away = r"\b(?:drop(?:s|ped)?|discard(?:s|ed)?|put(?:s|ting)? down|left|leaves|leaving|gave|gives)"
            return Roles(_held(who), Sides(after(away, near=True)))
        case FearOf(who):
            one = _one(who)
            kind = after(rf"{one},? (?:is|being|was|who is)(?: also)?", near=True)
            feared = after(one, r"\b(?:afraid|fears?|scared|frightened|terrified)")
            return Roles((Sides(feared),), Sides(kind, re.compile(r"\W+(?:are|fear)\b", re.I)))
        case ColourOf(who) | WhyGo(who) | WhyGet(who):
            return Roles((Sides(after(_one(who), rf"(?:{_IS}|\b(?:felt|feels|feeling|got)\b)")),))
        case WhereWill(who):
            return Roles((Sides(after(_one(who), r"(?:\b(?:will|would|goes|going)\b|['’]ll\b)")),))
        case _:
            return Roles()


def _one(name: str, *more: str) -> str:
    return rf"\b(?:{'|'.join((re.escape(name), *more))}|s?he|it|they)\b"


def _it(thing: str) -> str:
    return rf"\b[^;,.]{{0,30}}\b(?:{re.escape(thing)}|it)\b"


def _held(who: str) -> tuple[Sides, Sides]:
    """What somebody has, not what they took or put down."""
    return Sides(after(_one(who), _HOLDS + _ONLY, near=True)), Sides(after(_HOLDS + _ONLY, near=True))
