"""How sentences say who gave what to whom (task 5): nothing but the words around tell which name is which.

`Fred got the milk from Jeff, who got it from Mary` is a chain of gifts, of which the last is asked for, unless the
question names somebody.
"""

import re

from carrara.tasks.babilong._facts import WhatGiven, WhoGave, WhoReceived
from carrara.tasks.babilong._roles import Roles, Sides, after, around, behind
from carrara.tasks.babilong._subjects import of_another, pronoun

_GAVE = r"\b(?:gave|gives?|given|hand(?:ed|s)|pass(?:ed|es)|transferred|delivered)"
_GOT = r"\b(?:received|receives|got|gets|was (?:given|handed|passed)|accepted|obtained)"
_TO = rf"(?:{_GAVE}\b(?:[^;,.]{{0,40}} to)?|^\W*(?:to|→|->))"
_ON = r"(?:-+>|[→⇒➔])"
_BEFORE_WHO = r"\bfrom\W*\0\W*who\b"
"""The giver of a gift, and of one before it: from Jeff, who got it from Mary."""


def given(query: WhatGiven) -> Roles:
    giver, taker = re.escape(query.who), re.escape(query.to)
    gave = rf"\b(?:{giver}|{pronoun(query.who)})\b[^;,.\0]{{0,20}}?{_GAVE}"
    both = around(
        rf"{gave}[^;.]{{0,25}}?\0[^;,.]{{0,12}}\bto (?:{taker}|him|her)\b",
        rf"{gave} (?:{taker}|him|her)\W+(?:\w+\W+){{0,2}}\0",
        rf"\0[^;,.]{{0,12}}{_GAVE} to {taker} by {giver}\b",
        rf"{_GOT}[^;.\0]{{0,15}}\0 from {giver}\b",
    )
    either = Sides(after(rf"{_GAVE} (?:{taker}|him|her)"), behind(rf"\bto {taker}\b"))
    turned = around(
        rf"\b{taker}\b[^;,.\0]{{0,20}}{_GAVE}[^;.]{{0,25}}?\0[^;,.]{{0,12}}\bto {giver}\b",
        rf"\b{taker}\b[^;,.\0]{{0,20}}{_GAVE} {giver}\W+(?:\w+\W+){{0,2}}\0",
    )
    barred = Sides(around=turned)
    return Roles((Sides(around=both), either), barred=barred, of_another=of_another(query.who, query.to))


def giver(query: WhoGave) -> Roles:
    it = _it(query.thing)
    by = after(r"(?:\b(?:by|from)|\bgiver\b[^;,.]{0,30} (?:is|was))", near=True)
    gave = rf"(?:\W+(?!and\b)\w+){{0,3}}?\W+{_GAVE}"
    claims: tuple[Sides, ...] = (
        Sides(around=around(_BEFORE_WHO)),
        Sides(by, re.compile(gave + it, re.I)),
        Sides(behind=re.compile(gave, re.I)),
    )
    if query.to:
        taker = re.escape(query.to)
        asked = around(
            rf"\0{gave} {taker}{it}",
            rf"\0{gave}{it}[^;,.]{{0,15}} to {taker}\b",
            rf"\0{gave} {taker}\b(?! (?:the|an?)\b)",
            rf"\0 to {taker}\b",
            rf"\b{taker}(?:,? who)?\b[^;,.\0]{{0,12}}{_GOT}[^;,.\0]{{0,20}} from\W*\0",
            rf"\bto {taker} by\W*\0",
            rf"\0\W*{_ON}\W*{taker}\b",
        )
        claims = (Sides(around=asked), *claims)
    return Roles(claims, Sides(after(_TO, near=True), behind(_GOT, gap=12)))


def receiver(query: WhoReceived) -> Roles:
    it = _it(query.thing)
    taker = r"\b(?:received by|(?:recipient|receiver)\b[^;,.]{0,30} (?:is|was))"
    claims: tuple[Sides, ...] = (
        Sides(after(rf"(?:{_GAVE}{it}[^;,.]{{0,15}} to|{taker})", near=True), behind(_GOT + it)),
        Sides(after(_TO, near=True), behind(_GOT)),
    )
    if query.who:
        giver = re.escape(query.who)
        gave = rf"\b(?:{giver}|{pronoun(query.who)})\b[^;,.\0]{{0,20}}?{_GAVE}"
        asked = around(
            rf"{gave}{it}[^;,.\0]{{0,15}} to\W*\0",
            rf"{gave}\W*\0{it}",
            rf"\0[^;,.]{{0,12}}{_GOT}{it}[^;,.]{{0,12}}\b(?:from|by) {giver}\b",
            rf"\0 by {giver}\b",
            rf"\b{giver}\W*{_ON}\W*\0",
        )
        claims = (Sides(around=asked), *claims)
    never = Sides(after(r"(?<!received )\b(?:by|from)", near=True), behind(_GAVE, gap=12))
    return Roles(claims, never, barred=Sides(around=around(_BEFORE_WHO)))


def _it(thing: str) -> str:
    return rf"\b[^;,.]{{0,30}}\b(?:{re.escape(thing)}|it)\b"
