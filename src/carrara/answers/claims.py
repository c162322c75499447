"""What sentences say that answer a question of yes or no in its own words.

>>> asked = 'Is the word "oak" one of the words in the context?'
>>> PRESENT.answers("The word you are asking about is not in the context.", asked), PRESENT.answers(asked, asked)
(['no'], [])
>>> SAME.answers("They share an attribute.", ""), BEFORE.answers("ash comes before oak", 'Is "oak" before "ash"?')
(['yes'], ['no'])

A sentence that denies something else than what is asked, that asks, plans or doubts, says nothing: it is passed over.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, Protocol

from carrara.answers.evidence import NOT, PERHAPS


class Says(Protocol):
    def answers(self, text: str, ask: str) -> list[str]:
        """What each sentence of a plain text says that answers a question: yes or no."""


class Claim(NamedTuple):
    """What is said of the words in question: `The word is not present in the context.`"""

    yes: str
    no: str

    def answers(self, text: str, ask: str) -> list[str]:
        told: list[str] = []
        for sentence in _sentences(_QUOTED.sub("it", text)):
            if turn := _TURN.match(sentence):  # what it turns against was not all that is to say
                told = [answer for answer in told if answer == "no"]
            told += self._of(sentence[turn.end() :] if turn else sentence)
        return told

    def _of(self, sentence: str) -> list[str]:
        """What a sentence says: one thing, or nothing."""
        said = _claim(self)
        if not said.search(sentence) or _OPEN.search(sentence):
            return []
        sentence = _BESIDE_THE_POINT.sub("", sentence)
        if not _SUBJECT.search(sentence) or _NO_OTHER.search(sentence):
            return []
        answers, begun = set[str](), False
        for clause in _CLAUSE.split(sentence):
            verb = _VERB.search(clause)
            found = [match for match in said.finditer(clause) if begun or (verb and verb.end() <= match.end())]
            begun = begun or verb is not None
            denied = [match.start() for match in _NOT.finditer(said.sub(_blank, clause))]
            if len(denied) > 1 or (denied and (not found or denied[0] > found[-1].start())):
                return []
            for match in found:
                no = (match["no"] is not None) != bool(denied and denied[0] < match.start())
                answers.add("no" if no else "yes")
        return [*answers] if len(answers) == 1 else []


class Order:
    """Which of two words a sentence puts before the other: `"oak" comes after "ash"`."""

    def answers(self, text: str, ask: str) -> list[str]:
        words = _NAMED.findall(ask)
        if len(words) != 2 or not _EARLIER.search(ask):
            return []
        plain = [sentence for sentence in _sentences(text) if not _OPEN.search(sentence)]
        ways = (("yes", "no", _order(*words)), ("no", "yes", _order(*reversed(words))))
        told: list[str] = []
        for sentence in plain:
            for before, after, order in ways:
                if (found := order.search(sentence)) and len(denied := _NOT.findall(found["how"])) < 2:
                    told.append(before if (found["before"] is not None) != bool(denied) else after)
        return told


_THIS = r"(?:it|them|this|that|(?:the|this|that|such an?|any such)(?: \w+){0,2}? (?:word|sequence|phrase)|the words)\b"
_PLACE = r"(?:the|this|your|that)(?: \w+)? (?:context|lists?|text|passage|words)"

PRESENT = Claim(
    yes=rf"\b(?:present|found|included|listed(?! below| above| here)|exists?|occurs?|appears?(?! to\b| that\b)"
    rf"|there(?=\W*\Z)|(?:in|among|(?:one|part) of) (?:{_PLACE}|them)|(?:contain|include|mention)s? {_THIS}"
    rf"|(?:has|have) (?:it|{_THIS} it)"
    rf"|(?:occurrence|mention|instance|trace|sign|match)(?:e?s)? (?:of|for) {_THIS}|such (?:words?|sequence))\b",
    no=rf"\b(?:absent|missing|lacks? {_THIS}|(?:different|another|wrong) order|separately|scattered)\b"
    rf"|(?:\bnot|n['’]t|\bcannot|\bunable to|\bfail(?:s|ed)? to)(?: be)?(?: able to)? (?:find|see|locate|spot|detect)"
    rf" (?:{_THIS}|any (?:occurrence|mention|instance|trace|match))(?: (?:\w+ ){{0,3}}?(?:in|among) {_PLACE})?",
)
SAME = Claim(
    yes=r"\b(?:same|identical|shares?)\b",
    no=r"\b(?:different|differs?|distinct|separate|another (?:list|role|attribute))\b",
)
BEFORE = Order()

_LONG = 2_000
"""Characters of a sentence that is read."""
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^“”\n]*”|‘[^‘’\n]{1,60}’|(?<!\w)'[^'\n]{1,60}'(?!\w)")
"""What is quoted is what is asked about: `it`."""
_NAMED = re.compile(r'"([^"\n]*)"')
_EARLIER = re.compile(r"\b(?:before|earlier)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s|[\n;]")
_CLAUSE = re.compile(r"[,:—]|\s-\s|\b(?:and(?! the same)|so)\b", re.IGNORECASE)
_TURN = re.compile(r"\W*(?:but|however|though|although|yet|still)\b", re.IGNORECASE)
_OPEN = re.compile(
    r"\?\W{0,9}\Z|\A\W*(?:here|below|these are|those are|the following|let)\b"
    r"|\b(?:but|although|though|however|except|while|whereas|only(?! once)|if|whether|unless|instead|the question is"
    rf"|may|might|(?:c|w|sh)ould(?! not|n['’]t)|must|{PERHAPS}|probably|likely|unlikely|unclear|unsure"
    r"|necessarily|assum\w*|suppos\w*|guess\w*|(?:need|want|have|has) to|will|let me)\b"
    r"|(?:\b(?:not|cannot|unable to|impossible to)|n['’]t)(?: be)? (?:\w+ )?(?:sure|certain|clear|know|tell|say|said"
    r"|confirm|determine|verify|guarantee|think|believe|check)",
    re.IGNORECASE,
)
"""Where a sentence says two things, or leaves it open: `The words are present, but not in this order.`"""
_BESIDE_THE_POINT = re.compile(
    r"\b(?:with (?:no|nothing)|without)\b[^,.:]{0,60}|\b(?:there(?: is|['’]s) )?no (?:doubt|question)\b", re.IGNORECASE
)
_NO_OTHER = re.compile(
    r"\bno\b(?! (?:such|words?|it|occurrences?|mentions?|instances?|trace|sign|match(?:es)?|sequence|longer|list|role)"
    r"\b)",
    re.IGNORECASE,
)
_NOT = re.compile(
    rf"{NOT}|\b(?:no|none|nowhere|nothing|neither\b(?:[^,:]{{0,200}}\bnor)?|nor|unable|fail(?:s|ed)?|false|untrue)\b",
    re.IGNORECASE,
)
_BE = r"(?:is|are|was|were|do|does|did|has|have|ca|appears?|occurs?|exists?|belongs?|stands?|comes?)(?:n['’]t)?"
_SUBJECT = re.compile(
    r"\A\W*not\b|\b(?:it|they|both|their|neither)\b"
    r"|\b(?:the|this|that|these|those|two|all|every|any|your|such|no)(?: (?!same\b)\w+){0,2}?"
    r" (?:words?|occurrences?|mentions?|instances?|match(?:es)?|terms?|items?|sequence|phrase|string|pair|attributes?"
    r"|roles?|lists?|ones?)\b"
    r"(?! (?:that|which) (?:are|is|appears?)\b)"
    r"|(?:\A|[,:—] |\b(?:and|so|that) )\W*(?!(?:there|here|words|what|which|who|some|many|others?|context)\b)"
    rf"[\w-]+ {_BE}\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    rf"\A\W*not\b|\b(?:{_BE}|cannot|can|could(?:n['’]t)?|found|see|contains?|includes?|mentions?|lacks?|shares?|unable|fail(?:s|ed)?)\b"
    r"|['’](?:s|re)\b",
    re.IGNORECASE,
)
_EARLIER_THAN = r"before|preced(?:es|ed(?! by))|prior to|ahead of|earlier(?: \w+){0,4}? than|followed by"
_LATER_THAN = r"after|follow(?:s|ed(?! by))|preceded by|behind|later(?: \w+){0,4}? than"


def _sentences(text: str) -> Iterator[str]:
    return (sentence for sentence in _SENTENCE.split(text) if len(sentence) <= _LONG)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


@lru_cache(maxsize=8)
def _claim(claim: Claim) -> re.Pattern[str]:
    return re.compile(
        rf"(?:(?<!words )|(?<=such words )|(?=include|contain|mention|ha(?:s|ve) ))(?:(?P<no>{claim.no})|{claim.yes})",
        re.IGNORECASE,
    )


@lru_cache(maxsize=64)
def _order(one: str, other: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w-]){re.escape(one)}(?![\w-])(?P<how>[^,:]{{0,60}}?)"
        rf"\b(?:(?P<before>{_EARLIER_THAN})|{_LATER_THAN})\b(?:[\s\"'“‘]|\b(?:the|word|does|is)\b)*+"
        rf"(?<![\w-]){re.escape(other)}(?![\w-])",
        re.IGNORECASE,
    )
