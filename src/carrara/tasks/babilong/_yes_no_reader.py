"""Yes, no and maybe (tasks 6, 9, 10, 17, 18): as words, or as a sentence that agrees with the question or denies it.

>>> verdict(IsIn("Mary", "garden"), "No, she is in the kitchen."), verdict(IsIn("Mary", "garden"), "No one knows.")
('no', None)
>>> verdict(IsBigger("box", "chest", fits=True), "The chest is bigger than the box.")
'no'
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from carrara.answers.choices import before_explanation, latest
from carrara.answers.evidence import PERHAPS, SO, WRONG
from carrara.answers.layout import tidy
from carrara.answers.reading import Found, agreed, said
from carrara.tasks.babilong._facts import IsBeside, IsBigger, IsIn, Way, opposite
from carrara.tasks.babilong._roles import ANY, AT_FIRST, NOT, THEN, WENT
from carrara.tasks.babilong._subjects import pronoun

_WORDS = (
    r"(?P<yes>yes|yeah|yep)"
    # `no` is a determiner more often than an answer: "no longer", "no information", "no one".
    r"|(?P<no>nope|no(?=\W*\Z|\s*\n|[^\w\s'’-]|\s[^\w\s]"
    r"|\s(?:no|or|and|nor|yes|maybe|because|since|as|for|she|he|it|they|the|this|that)\b)(?!\.\s?\d))"
    rf"|(?P<maybe>(?:{PERHAPS})(?: (?:yes|no))?|there(?:['’]s| is) a (?:chance|possibility)"
    r"|it(?:['’]s| is) possible"
    r"|uncertain|unclear|unknown|undetermined|not (?:certain|clear|known)|(?:not enough|insufficient) information"
    r"|(?:can(?:not| not|['’]t)|could(?: not|n['’]t)|(?:not possible|impossible|unable) to) (?:be )?"
    r"(?:determined?|sa(?:y|id)|tell|told|known?|concluded?|confirm(?:ed)?|certain|sure))"
)
_WORD = re.compile(rf"(?<![\w-])(?:{_WORDS})(?![\w-])", re.IGNORECASE)
_RIGHT = (
    r"(?P<right>true|correct|right|affirmative)"
    rf"|(?P<wrong>{WRONG}|negative|not (?:true|correct|right|the case))"
)
_SO = rf"\W{{0,4}}(?:(?:{SO}|then|well),?\s)?"
_OPENING = re.compile(
    rf"{_SO}(?:{_WORDS}|(?:that(?:['’]s| is)\s)?(?:{_RIGHT}))(?=\W*\Z|\s*[^\w\s'’]|\n)"
    r"(?!(?:,?\s(?:(?:and|or)\s)?|\s?/\s?)(?:yes|no|maybe)\b)",
    re.IGNORECASE,
)
_SHORT = re.compile(
    rf"{_SO}(?:i (?:think|believe)(?: that)? )?(?:(?:the|this) (?:statement|claim|sentence) is (?:{_RIGHT})"
    r"|(?:it|s?he|they)(?:['’]s| (?:is|does|are|do|can|will))(?P<not> not|n['’]t)?"
    r"|(?P<gone>not (?:any ?more|any longer|now|there)|no longer))\W*",
    re.IGNORECASE,
)
_REMARK = re.compile(
    rf"\W*(?:(?:but|so|and) )?(?:(?:that|this|it|which)(?:['’]s| is| would be) )?(?:{_RIGHT})\W*", re.IGNORECASE
)
_IN_JSON = re.compile(r"([\"']\w{1,20}[\"']\s?:\s?)[\"']?(true|false)\b", re.IGNORECASE)
_GOES = rf"(?:{WENT}|goes|moves|left|leaves)"
_SENTENCE = re.compile(rf"(?<=[.!?])\s+|\n+|[,;] (?=(?:(?:but|and) )?{THEN}\b)", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;:]|\bbut\b")
_NOT = re.compile(NOT, re.IGNORECASE)
_FALSE = rf"(?:\b(?:{WRONG})|(?:\bnot|\bno longer|n['’]t) (?:true|correct|right|the case))"
_UNTRUE = re.compile(rf"{_FALSE}(?: to (?:say|claim|state|conclude|assume|think))? that\b", re.IGNORECASE)
_IS_FALSE = re.compile(
    rf"[^\w\n]{{0,8}}(?:(?:is|was|would be|must be)(?: \w+ly| thus| therefore)? ?)?(?:{_FALSE}\b|no(?=\W*\Z))",
    re.IGNORECASE,
)
_FIRST = re.compile(rf"\b{AT_FIRST}\b", re.IGNORECASE)
_BEGAN, _BEGINS = re.compile(rf"\b{AT_FIRST}\b,?\s\Z", re.IGNORECASE), re.compile(rf"\W*\b{AT_FIRST}\b", re.IGNORECASE)
_TURNED = {"yes": "no", "no": "yes"}
_FAR = 200
_SHORTEST = len("he is in x")
_OPEN = re.compile(
    rf"{NOT}|\bno (?:evidence|information|indication|proof)\b"
    r"|\b(?:if|whether|unless|asks?|asked|question|suppose|assum\w*)\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(rf"\b(?:may|might|could|{PERHAPS}|either)\b", re.IGNORECASE)
_NO_PLACE = "story|text|context|passage|question|novel|book|middle|same|end|beginning"
_SIDES: dict[Way, str] = {
    "above": r"\babove|\bover\b|\bon top",
    "below": r"\bbelow|\bunder|\bbeneath",
    "to the left": r"\bleft\b",
    "to the right": r"\bright\b",
}

Asked = IsIn | IsBeside | IsBigger


def verdict(query: Asked | None, text: str) -> str | None:
    """`yes`, `no` or `maybe`, whether the task knows the last or not."""

    def claimed(part: str) -> Sequence[str]:
        opening = _OPENING.match(part)
        if opening:
            return [_answer(opening)]
        return _read_statement(query, before_explanation(part)) if query else []

    meant = ANY.meant(_find)
    text = _IN_JSON.sub(lambda found: f"{found[1]}{'yes' if found[2].lower() == 'true' else 'no'}", text)
    return agreed(said(tidy(text), _read_whole, meant, claimed, lambda part: latest(part, meant)))


def _answer(found: re.Match[str]) -> str:
    parts = found.groupdict()
    return "yes" if parts["yes"] or parts["right"] else "maybe" if parts["maybe"] else "no"


def _find(text: str) -> Iterator[Found[str]]:
    for found in _WORD.finditer(text):
        yield Found(found.start(), found.end(), found.lastgroup or "")


def _read_whole(text: str) -> str | None:
    if found := _WORD.fullmatch(text):
        return found.lastgroup
    if found := _SHORT.fullmatch(text):
        return "no" if found["not"] or found["wrong"] or found["gone"] else "yes"
    return None


def _read_statement(query: Asked, text: str) -> Sequence[str]:
    """Return what the last sentence about the matter of the question says of it."""
    remark: str | None = None
    sentences = _SENTENCE.split(text)
    for i in range(len(sentences) - 1, -1, -1):
        sentence = sentences[i]
        if found := _REMARK.fullmatch(sentence):
            remark = "yes" if found["right"] else "no"
            continue
        if len(sentence) < _SHORTEST or (sentence.endswith("?") and not remark):
            continue
        match query:
            case IsIn():
                said = _of_place(query, sentence)
                if said or _FIRST.search(sentence):
                    said = _moved_on(query, sentences, i + 1) or said
            case IsBeside():
                said = _of_side(query, sentence)
            case IsBigger():
                said = _of_size(query, sentence)
        if said:
            return [_TURNED.get(said, said) if remark == "no" else said]
        remark = None
    return []


def _moved_on(query: IsIn, sentences: Sequence[str], place: int) -> str | None:
    """What comes of a claim if the sentence behind it says where somebody went afterwards."""
    who = rf"\b(?:{re.escape(query.who)}|{pronoun(query.who)})"
    later = rf"\W*(?:(?:but|and|so) )?(?:{THEN},? (?:that )?{who} (?:\w+ )?|{who} {THEN} ){_GOES}\b"
    if place == len(sentences) or not re.match(later, sentences[place], re.IGNORECASE):
        return None
    went = re.compile(rf"{who} (?:\w+ ){{0,2}}{_GOES}(?: back)?(?: to the ([\w -]{{1,40}}))?", re.IGNORECASE)
    ways = [found[1] or "" for sentence in sentences[place:] for found in went.finditer(sentence)]
    return "yes" if ways and re.match(rf"{re.escape(query.place)}\b", ways[-1], re.IGNORECASE) else "no"


@lru_cache(maxsize=64)
def _place_claim(query: IsIn) -> re.Pattern[str]:
    return re.compile(
        rf"\b(?:{re.escape(query.who)}|{pronoun(query.who)})(?P<how>(?:['’]s|\s(?:(?:no longer|now|currently)\s)?"
        r"(?:is|isn['’]t|may|might|could|must|can(?:not|['’]t)|remains|stays))"
        r"(?:(?!\b(?:is|was|went|and|he|she|who)\b)[^.;!?\n]){0,40}?)\s"
        rf"(?:(?:in|at|inside)\sthe\s(?P<where>{re.escape(query.place)}|[\w-]+)\b|there\b)(?P<more>[^.,;!?\n]{{0,60}})",
        re.IGNORECASE,
    )


def _of_place(query: IsIn, sentence: str) -> str | None:
    place = re.escape(query.place)
    for found in reversed(list(_place_claim(query).finditer(sentence))):
        where, how, more = (found["where"] or "").lower(), found["how"], found["more"]
        alternative = re.match(r"\s+or\b", more) is not None
        here = where == query.place.lower() or (alternative and re.search(rf"\b{place}\b", more) is not None)
        answer: str | None
        if _NOT.search(how):
            answer = "no" if here or not where else None
        elif _DOUBT.search(how) or alternative:
            answer = "maybe" if here or not where else "no" if alternative else None
        elif here:
            answer = "yes"
        else:
            answer = "no" if where and where not in _NO_PLACE.split("|") else None
        if answer := _in_context(sentence, found.start(), found.start("more"), answer):
            return answer
    return None


@lru_cache(maxsize=64)
def _side_claims(query: IsBeside) -> tuple[tuple[re.Pattern[str], Way], ...]:
    one, other = (rf"\bthe {re.escape(name)}\b" for name in (query.one, query.other))
    how = r"(?P<how>(?:(?!\bthe (?!left|right|top))[^.;!?\n]){0,60}?)"
    return (
        (re.compile(one + how + other, re.IGNORECASE), query.way),
        (re.compile(other + how + one, re.IGNORECASE), opposite(query.way)),
    )


def _of_side(query: IsBeside, sentence: str) -> str | None:
    for claim, way in _side_claims(query):
        for found in reversed(list(claim.finditer(sentence))):
            ways = {side for side in _SIDES if re.search(_SIDES[side], found["how"], re.IGNORECASE)}
            answer = "yes" if way in ways else "no" if opposite(way) in ways else None
            if _NOT.search(found["how"]):
                answer = "no" if way in ways else None
            if answer := _in_context(sentence, *found.span(), answer):
                return answer
    return None


@lru_cache(maxsize=64)
def _size_claims(query: IsBigger) -> tuple[tuple[re.Pattern[str], bool], ...]:
    large, small = (rf"\bthe {re.escape(name)}\b(?! of\b)" for name in (query.large, query.small))
    on = r"(?:(?!\bthe\b)[^.;!?\n])"
    size = r"\b(?:(?P<more>bigger|larger|greater)|(?P<less>smaller)|(?P<fits>fits?))\b"
    how = rf"(?P<how>{on}{{0,60}}?){size}{on}{{0,20}}"
    return (
        (re.compile(large + how + small, re.IGNORECASE), True),
        (re.compile(small + how + large, re.IGNORECASE), False),
    )


def _of_size(query: IsBigger, sentence: str) -> str | None:
    for claim, of_large in _size_claims(query):
        for found in reversed(list(claim.finditer(sentence))):
            bigger = found["more"] is not None
            if _NOT.search(found["how"]) or (found["fits"] and re.search(r"\btoo (?:big|large)\b", found["how"])):
                bigger = not bigger
            said = "yes" if bigger == of_large else "no"
            if answer := _in_context(sentence, *found.span(), said):
                return answer
    return None


def _in_context(sentence: str, start: int, end: int, answer: str | None) -> str | None:
    """What a claim comes to among the words around it: said of the start or asked it is none, denied its contrary."""
    before, behind = sentence[max(0, start - _FAR) : start], sentence[end : end + _FAR]
    clause = _CLAUSE.split(before)[-1]
    if _BEGAN.search(before) or _BEGINS.match(behind):
        return None
    if _UNTRUE.search(clause) or _IS_FALSE.match(behind):
        return _TURNED.get(answer or "")
    return None if _OPEN.search(clause) else answer
