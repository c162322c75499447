r"""Reading one word out of a reply, where any word is possible.

Whoever reads a closed list of answers knows them by sight. Here a word is known by where it stands: alone on a line,
behind a label, at the end of a sentence that says what it is, in quotes. Words that the question quotes count only
where the reply says plainly that they are it, and several words side by side are no answer.

>>> ask = 'For the first word "apple", the corresponding second word is:'
>>> read_word('The second word associated with "apple" is "Banana".', ask), read_word("apple: banana", ask)
('banana', 'banana')
>>> read_word("It is banana or cherry.", ask), read_word("I could not find it.", ask)
(None, None)
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain, takewhile

from carrara.answers.choices import before_explanation
from carrara.answers.evidence import PERHAPS, SO
from carrara.answers.layout import laid_out
from carrara.answers.statements import (
    ANY,
    ASIDE,
    BULLET,
    DENIES,
    FEW,
    NO_WORD,
    SAYS,
    TAKES_BACK,
    behind_labels,
    is_talk,
    statements,
    ungrouped,
    word,
)

_W = rf"\"?{ANY}{{1,60}}\"?"
_BESIDE = rf"(?:(?:,? (?:or|and)|,|/)(?: (?:{PERHAPS}))? ?{_W}){{0,30}}"
_ENDS = (
    r"(?=[.!]*\Z|;| - |—|, \w{1,20}:|,? (?:because|since|as|which|based|given|according|not|rather|instead|so|where|but"
    r"|though|in|from|for|at|after|with)\b)"
)
_TIED = (
    r"(?:(?:paired|associated|matched|linked|followed|correspond(?:s|ing)?|map(?:s|ped)?|points?|lead(?:s|ing)?)"
    r" (?:with|to|by)|(?:continues?|goes|goes on|pairs) with)"
)
_ASKED_ABOUT = re.compile(rf"{_TIED} {_W}\W*\Z", re.IGNORECASE)
_POINTED = re.compile(
    rf"(?:\b(?:(?:is|was|be|are|equals|becomes|comes(?= \")|it['’]s|that['’]s)(?! {_TIED})|{_TIED})\b:?"
    r"|(?P<sign>:|=+|→|—| -(?= )))"
    rf" ?(?:either |the (?:word|number) )?(?P<words>{_W}{_BESIDE}){_ENDS}",
    re.IGNORECASE,
)
_WORD_IS = re.compile(
    r"(?<!is )\bthe (?:(?:\w+ ){1,3}word\b|word (?:that|which|after|with) \w)[^,;:]{0,80}\Z", re.IGNORECASE
)
_CALLED = re.compile(rf"{_TIED}|(?:\w+ )?the (?:word|number)\b|[^\s:]*:", re.IGNORECASE)
_ONCE = r"(?:only |just |exactly )?(?:once|one time)\b"
_HEAD = re.compile(
    rf"(?:(?:{SO}|and|yes),? )?(?:it (?:appears|seems) that )?"
    rf"(?:the (?:\w+ )?(?:word|number) )?(?P<word>{_W})"
    rf" (?:-(?= )|(?:is|was) (?=the\b|my\b|next\b|repeat|duplicat|{_TIED})"
    r"|(?:appears?|occurs?|repeats?|comes?|follows|would)\b"
    rf"(?! (?:not|never|no)\b|n['’]t| {_ONCE}))",
    re.IGNORECASE,
)
_DENIED = re.compile(rf"{DENIES.pattern}|\b(?:appears?|occurs?|comes?|is there) {_ONCE}", re.IGNORECASE)
_OPEN = re.compile(r"\b(?:might|may|could) be\b[^.!?]*[.!]?\Z|\?\W{0,9}\Z", re.IGNORECASE)
"""A statement that leaves open what it names."""
_SO = re.compile(rf"\A(?:→|(?:{SO}|yes|sure)[,:]|(?:assistant|a):) ?", re.IGNORECASE)
_QUOTED = re.compile(r'"([^"\n]{1,60})"')
_COMMA = re.compile("[,;]")
_JOINT = re.compile(rf",? (?:or|and)(?: (?:{PERHAPS}))? |[,/] ?", re.IGNORECASE)
_KEY = re.compile(
    r"(?:word|answer|value|result|output|number|solution|response|reply|duplicate|match|partner|pair|found|next"
    "|(?:second|next|repeated)[_-]word)s?"
    "|答案|答え|ответ|respuesta|réponse|antwort|risposta|resposta",
    re.IGNORECASE,
)
_ASIDE_KEY = re.compile(rf"\b(?:{ASIDE}|first[ _]words?)\Z", re.IGNORECASE)
_PAIR = re.compile(rf"(?<![^\s,;])\"?({ANY}{{1,60}})\"? ?[:=→] ?({_W})(?=[,;.]|\Z)")
_COUNTED = re.compile(
    rf"({_W})(?: ?[:=→,]| -| [x×])? ?(?:x?[0-9]{{1,6}}(?: \w{{1,20}})?|twice|thrice)[.!]*\Z", re.IGNORECASE
)
_BESIDES = re.compile(r"(?:, ?| (?:\| )?)")
_LONG = 2_000
"""Characters of a statement that is read: what goes on for longer states no one word."""


def read_word(reply: str, ask: str) -> str | None:
    """The one word or number that a reply gives as its answer to a question; None if it gives none, or several."""
    asked = frozenset(found.casefold() for found in _QUOTED.findall(laid_out(ask)))
    text = laid_out(reply)
    text = ungrouped(text, always=True)
    for part in behind_labels(text, ("answer",)):
        said = statements(part.strip())
        if words := _labelled(said[:1]) or _decided(said, asked):
            return _one(words)
    for part in dict.fromkeys((before_explanation(text), text)):
        if words := _decided(statements(part), asked):
            return _one(words)
    return None


def _one(words: Sequence[str]) -> str | None:
    return words[0] if len(set(words)) == 1 else None


def _decided(said: Iterable[str], asked: frozenset[str]) -> Sequence[str]:
    """The words that statements give as an answer: one, or several that leave it open."""
    said = [statement.removeprefix(BULLET) for statement in said if SAYS.search(statement)]
    said = [statement for statement in said if not _OPEN.search(statement[-_LONG:])]
    for place in range(len(said) - 1, max(0, len(said) - FEW), -1):
        if again := TAKES_BACK.match(said[place]):
            if words := _decided([said[place][again.end() :], *said[place + 1 :]], asked):
                return words
            break
    said = [statement for statement in said if not is_talk(statement)] or said[:1]
    keys = _keys(said, asked)
    alone = [_alone(_SO.sub("", statement), keys) for statement in said]
    ends = [[one for one in takewhile(bool, end) if one] for end in (alone, alone[::-1])]
    # A line of a word that the question names may only say what the next ones are about; several words are a list.
    others = [set(end) - asked for end in ends]
    single = [one for other in others if len(other) == 1 for one in other]
    lone = {one for one in alone if one} - asked  # between a sentence that leads to it and one that closes
    named = single or _told(said, asked) or (sorted(lone) if len(lone) == 1 else [])
    return named or ([] if any(others) else ends[0] or ends[1])


def _keys(said: Iterable[str], asked: frozenset[str]) -> frozenset[str]:
    """The words that the question names, as keys of pairs; none where other pairs are told, too."""
    pairs = {key.casefold() for statement in said for key, _ in _PAIR.findall(statement[:_LONG])}
    return asked if all(key in asked or _KEY.fullmatch(key) for key in pairs) else frozenset()


def _alone(statement: str, keys: frozenset[str]) -> str | None:
    """The word that a statement is: behind the key it is paired with, how often it comes, or said again."""
    if one := word(statement):
        return one
    statement = statement[:_LONG]
    counted = _COUNTED.fullmatch(statement)
    if counted and (one := word(counted[1])) and not (one in keys or one.isdecimal() or _is_label(one)):
        return one
    words = [word(part) for part in _BESIDES.split(statement.strip(".!"))]
    again = len(set(words)) == 1 or (len(words) == 2 and words[0] in keys)
    return words[-1] if again else None


def _is_label(key: str) -> bool:
    return (_KEY.fullmatch(key) or _ASIDE_KEY.search(key)) is not None


def _labelled(said: Sequence[str]) -> list[str]:
    """The words that stand right behind a label."""
    found = _POINTED.match(f": {said[0][:_LONG]}") if said else None
    return _split(found["words"]) if found and not NO_WORD.fullmatch(found["words"]) else []


def _told(said: Sequence[str], asked: frozenset[str]) -> Sequence[str]:
    """The words that the last sentence that does so says are the answer; or else that the last one quotes."""
    said = [statement for statement in said[: -FEW - 1 : -1] if len(statement) <= _LONG]
    keys = _keys(said, asked)
    claims = (_claimed(statement, asked, keys) for statement in said)
    quotes = ([] if _DENIED.search(one) else [*map(word, _QUOTED.findall(one))] for one in said)
    others = ([one for one in quoted if one and one not in asked] for quoted in quotes)
    plain = (
        _claimed(one, frozenset(), keys) for one in said if not _DENIED.search(one) and not _ASKED_ABOUT.search(one)
    )
    return next(filter(None, chain(claims, others, plain)), [])


def _claimed(sentence: str, asked: frozenset[str], keys: frozenset[str]) -> Sequence[str]:
    """The words that a sentence ends in, or begins with, saying that they are the answer; none that is asked about."""
    head = _HEAD.match(sentence)
    if told := [one for key in sorted(asked) for one in _told_of(key, sentence) if one not in asked]:
        return told
    for found in reversed(list(_POINTED.finditer(sentence))):
        key = _COMMA.split(sentence[: found.start()])[-1].strip(' "').casefold()
        if found["sign"] and (not _leads(key, keys) or (head and head.end() <= found.start())):
            continue
        if NO_WORD.fullmatch(found["words"].strip(".!")) and not _is_plain(found):
            continue
        if others := [one for one in _split(found["words"]) if one not in asked]:
            return others
    named = word(head["word"]) if head and not NO_WORD.fullmatch(head["word"]) else None
    return [named] if named and named not in asked else []


def _told_of(key: str, sentence: str) -> list[str]:
    """What a sentence that quotes a key says right behind it that it is: `The partner of "fig" is "date".`"""
    is_it = re.compile(rf'"{re.escape(key)}" (?:is|was) (?:the (?:word|number) )?("{ANY}{{1,60}}")', re.IGNORECASE)
    return [one for found in is_it.finditer(sentence) if (one := word(found[1]))]


def _is_plain(found: re.Match[str]) -> bool:
    """Whether a sentence can but mean the word it ends in: `The repeated word is absent.`"""
    return bool(found["sign"] or _CALLED.match(found[0]) or _WORD_IS.search(found.string[: found.start()]))


def _leads(key: str, keys: frozenset[str]) -> bool:
    """Whether what stands before a colon says that the answer follows."""
    if " " in key:
        return _ASIDE_KEY.search(key) is None
    return key in keys or _KEY.fullmatch(key) is not None


def _split(words: str) -> list[str]:
    return [one for one in map(word, _JOINT.split(words)) if one]
