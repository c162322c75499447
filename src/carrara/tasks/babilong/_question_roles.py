"""How sentences say what a bAbI question asks, and where a label stands that is not the answer."""

import re
from functools import lru_cache

from carrara.tasks.babilong import _gifts
from carrara.tasks.babilong._facts import (
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
from carrara.tasks.babilong._roles import AT_FIRST, THEN, WENT, Roles, Sides, after, around, behind
from carrara.tasks.babilong._subjects import named, of_another, of_another_thing, pronoun

_IS = r"(?:\b(?:is|are|be|was|were|lies|lay|remains?|stays?|ended up|ends up|found)\b|['’](?:s|re)\b)"
_NOW = r"(?:\b(?:is|are|be|lies|remains?|stays?|ended up|ends up|found)\b|['’](?:s|re)\b)"
_PLACE = r"location(?! of\b)"
_LEFT = (
    r"(?:\b(?:from|left|leaves|leaving|exit(?:s|ed|ing))(?:\W+the)?\W*"
    r"|\b(?:initially|originally|previously|formerly|earlier|had been|used to be)\b[^,;]*)$"
)
_LAID = r"\b(?:left|leaves|put|puts|dropped|drops|discarded|placed|laid)\b(?! and)[^;,]{0,40}? in(?:\W+the)?\W*$"
_BEFORE = (
    r"(?:(?:previous|prior|past|former|earlier)(?: \w+)?|before(?: (?:that|this))?"
    r"|(?:first|initial|original|old) (?:location|place|position|room))"
)
_ON = r"(?:-*>|=>|[→⇒➔]|,? (?:and )?then\b)"
_ONLY = r"(?:\W+(?:only|both|just|still|now|currently|exactly|a total of|the following|items?|objects?|things?))*"
_HOLDS = r"\b(?:carry|carries|carrying|holds?|holding|has|have|possesses|possession|left with)"
_LOST = r"(?:drop(?:s|ped)|discard(?:s|ed)|puts?|left|leaves|gave|gives|hand(?:s|ed)|pass(?:es|ed))"
_TAKEN = r"(?:took|takes|got|gets|grabbed|grabs|pick(?:s|ed)|received|carried|brought|moved)"


@lru_cache(maxsize=256)
def roles(query: Query | None) -> Roles:
    """The roles that a question asks for."""
    match query:
        case WhereThing(thing):
            is_in = Sides(after(rf"\b(?:{re.escape(thing)}|{_PLACE}|it|they)\b", _NOW))
            return Roles(
                (is_in, Sides(re.compile(_LAID, re.I))),
                Sides(re.compile(_LEFT, re.I)),
                barred=_no_longer(),
                passed=_since(r"(?:[A-Z]\w+|(?i:s?he))", rf"{_TAKEN} (?:it|the {re.escape(thing)})(?: \w+)? to"),
                of_another=of_another_thing(thing),
            )
        case WhereIs(who):
            here = after(_one(who, _PLACE), _NOW).pattern
            # Where somebody else went is no answer, whatever the name.
            one = rf"\b(?:{re.escape(who)}|[Ss]?[Hh]e|[Ii]t|[Tt]hey|[Bb]oth)\b"
            other = rf"^(?!.*{one}).*\b[A-Z]\w+ (?:and [A-Z]\w+ )?(?:{WENT}|(?:is|was|are|were) (?:in|at))\b"
            return Roles(
                (Sides(re.compile(f"{here}|{named(who)}", re.I)),),
                Sides(re.compile(f"{_LEFT}|{other}")),
                barred=_no_longer(),
                passed=_since(_name(who), rf"(?:{WENT}|goes|moves|left|leaves)"),
                of_another=of_another(who),
            )
        case ThingBefore(one, place) | PersonBefore(one, place):
            there = rf"\b{re.escape(place)}\b"
            was = rf"(?:{_IS}|\b(?:went|moved|got|had been)\b|:)"
            first = after(rf"\b(?:before|prior to|until)\b[^;]{{0,40}}?{there},?", was)
            then = behind(r"(?:\b(?:before|prior to|then|to|into)\b|->|→)", there, gap=40)
            # Where somebody went says nothing of a thing yet.
            alone = re.compile(rf"^\W*\w+ (?:then )?{WENT}(?: back)? to(?: the)?\W*$", re.I)
            never = Sides(alone) if isinstance(query, ThingBefore) else Sides()
            another = of_another_thing(one) if isinstance(query, ThingBefore) else of_another(one)
            turned = around(
                rf"{there}[^;,.\0]{{0,30}}\b(?:before|prior to)\b(?: the)?\W*\0",
                rf"\b(?:before|prior to)\b(?: the)?\W*\0[^;.\0]{{0,60}}\b(?:in|at|to) (?:the )?{re.escape(place)}\b",
            )
            were = (Sides(first, then), Sides(after(_one(one), _IS)))
            return Roles(were, never, barred=Sides(around=turned), of_another=another)
        case Neighbour(way, place):
            there = rf"(?:\b{re.escape(place)}|\bit)\b"
            side = after(rf"\b{way}(?: side)? of (?:the )?{there}", rf"(?:{_IS}|:)")
            turned = after(there, _IS, rf"\b{opposite(way)}\b")
            lies = r"[^;,.\0]{0,20}\b(?:is|lies|was)\b[^;,.\0]{0,20}"
            ways = "(?:north|south|east|west)(?: side)? of (?:the )?"
            elsewhere = around(
                rf"\0{lies}\b(?!{way}\b){ways}{re.escape(place)}\b",
                rf"\b{re.escape(place)}\b{lies}\b(?!{opposite(way)}\b){ways}\W*\0",
            )
            lying = (Sides(side, behind(_IS, rf"\b{way}", rf"\bof (?:the )?{there}")), Sides(turned))
            return Roles(lying, barred=Sides(around=elsewhere))
        case WhatGiven():
            return _gifts.given(query)
        case WhoGave():
            return _gifts.giver(query)
        case WhoReceived():
            return _gifts.receiver(query)
        case HowMany(who):
            left = r"\b(?:total(?: of)?|leaves|leaving|remain(?:s|ing)?|is|are)"
            claims = (*_possessions(who), Sides(after(left + _ONLY, near=True)))
            return Roles(claims, passed=_since(_name(who), rf"(?:{_LOST}|{_TAKEN})"), of_another=of_another(who))
        case WhatCarried(who):
            away = r"\b(?:drop(?:s|ped)?|discard(?:s|ed)?|put(?:s|ting)? down|left|leaves|leaving|gave|gives)"
            gone = _since(_name(who), rf"{_LOST} (?:it|them|both|everything)")
            return Roles(_possessions(who), Sides(after(away, near=True)), passed=gone, of_another=of_another(who))
        case FearOf(who):
            one = _one(who)
            kind = after(rf"{one},? (?:is|being|was|who is)(?: also)?", near=True)
            feared = after(one, r"\b(?:afraid|fears?|scared|frightened|terrified)").pattern
            fears = Sides(re.compile(f"{feared}|{named(who)}", re.I))
            return Roles((fears,), Sides(kind, re.compile(r"\W+(?:are|fear)\b", re.I)), of_another=of_another(who))
        case ColourOf(who) | WhyGo(who) | WhyGet(who):
            felt = after(_one(who), rf"(?:{_IS}|\b(?:felt|feels|feeling|got)\b)").pattern
            return Roles((Sides(re.compile(f"{felt}|{named(who)}", re.I)),), of_another=of_another(who))
        case WhereWill(who):
            goes = after(_one(who), r"(?:\b(?:will|would|goes|going)\b|['’]ll\b)").pattern
            return Roles((Sides(re.compile(f"{goes}|{named(who)}", re.I)),), of_another=of_another(who))
        case _:
            return Roles()


def _no_longer() -> Sides:
    """Where somebody or something was, not is."""
    on = r"(?:(?!\b(?:later|then|now|but|after\w*|finally)\b)[^,;])*$"
    said = "(?<!said )(?<!noted )(?<!stated )(?<!mentioned )"
    earlier = rf"\bused to be\b{on}|\b{AT_FIRST}\b,?{on}|(?:^|[,;(])\W*{_BEFORE}\W*$|\b{said}{_BEFORE}\W*[:,]{on}"
    return Sides(re.compile(earlier, re.I), re.compile(rf"\W*{AT_FIRST}\b|\W*{_ON}\W*$|\W*before(?:hand)?\W*$", re.I))


def _since(who: str, what: str) -> re.Pattern[str]:
    """What somebody did after what was said, as the next clause or sentence has it."""
    then = rf"(?i:{THEN})"
    return re.compile(rf"\W{{1,5}}(?i:(?:but|and)\W+)?(?:{then},? (?:that )?{who} (?:\w+ )?|{who} {then} ){what}\b")


def _name(who: str) -> str:
    return rf"(?:{re.escape(who)}|(?i:{pronoun(who)})|[Tt]hey|[Ww]ho)"


def _one(name: str, *more: str) -> str:
    return rf"\b(?:{'|'.join((re.escape(name), *more))}|s?he|it|they)\b"


def _possessions(who: str) -> tuple[Sides, Sides]:
    """Match what somebody has, not what they took or put down."""
    holds = after(_one(who), _HOLDS + _ONLY, near=True).pattern
    return Sides(re.compile(f"{holds}|{named(who)}", re.I)), Sides(after(_HOLDS + _ONLY, near=True))
