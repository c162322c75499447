"""Which of four choices a reply takes: by its letter, by its text, or by saying that it cannot be known.

>>> options = ("Biscuit", "Pepper", "Juniper", "I don't know")
>>> read("The answer is (B).", options), read("Juniper", options), read("The text does not say.", options)
('Pepper', 'Juniper', "I don't know")
>>> read("(A) Biscuit, (B) Pepper, (C) Juniper or (D) I don't know", options) is None
True
>>> read("Biscuit and Juniper are not mentioned, so Pepper.", options), read("I can't tell if it is A or B.", options)
('Pepper', "I don't know")

Whatever names a choice becomes a word for it, and so do words that say that it cannot be known. What a reply recites,
denies or concedes goes, and the rest is read as an answer from a closed list.

Every pattern is bounded, as in `carrara.answers.reading`. There are many, so a very long reply is read at its ends.
"""

import re
from collections.abc import Mapping, Sequence

from carrara.answers.casing import looked_up
from carrara.answers.choices import Choices
from carrara.answers.layout import tidy
from carrara.answers.numerals import ORDINALS

_END = 10_000
"""Characters that are read at either end of a reply."""
_WORDS = ("choicea", "choiceb", "choicec", "choiced")
"""What stands for the choices while a reply is read."""
_UNKNOWN = _WORDS[-1]

# --- how it is written ---

_SIGNS = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "（": "(", "）": ")", "Ａ": "A", "Ｂ": "B", "Ｃ": "C", "Ｄ": "D"}
)
_TAG = re.compile(r"<([A-D])>")
_UNDERLINED = re.compile(r"(?<!\w)_{1,3}|_{1,3}(?!\w)")
_NOT_APPLICABLE = re.compile(r"\A\W{0,9}n/a\W{0,9}\Z", re.I)
_SPACES = re.compile(r"[^\S\n]+")
_KEY = re.compile(r"[{,]\s{0,40}[\"'](\w{1,20})[\"']\s?:")
_KEY_OF_CHOICE = re.compile(
    r"(?:\w{1,10}_)?(?:answer|choice|letter|option|selected|selection)(?:_\w{1,10})?", re.IGNORECASE
)

# --- what names a choice ---

_BOLD = r"[*_`$\"']{0,3}"
_LETTER = re.compile(
    r"\(\s?([A-Da-d])\s?\)|[\[{<]([A-D])[\]}>]|(?<!\w)(?<![.']) ?([a-d])\)"
    rf"|^{_BOLD}([a-d])(?=[.:]\s)"
    r"|(?<!\w)(?<!\w')([B-D])(?!'?\w)(?!\.\w)"
    # An A that is no article: it ends something, or a verb or a conjunction follows.
    rf"|(?<!\w)(?<!\w')(A)(?={_BOLD}(?:\s?(?:$|[,;:!?)\]}}|/❌✅✗✓✘✔]|[-–—=]\s|\.(?!\w))"
    r"|\s(?:is|isn't|are|aren't|was|because|since|as|seems|and|or|nor|but|rather|if|though|[B-D])\b))"
    # A small letter behind a word that announces it
    r"|(?i:\b(?:option|choice|ans(?:wer)?\.?|letter|choose|pick|select(?:ed)?)(?:\s(?:is|would be|must be))?"
    r"(?:[:=]|:?[ ])\W{0,3}([b-d])(?!'?\w)"
    rf"|\b(?:option|choice|letter|choose|pick|select)\s{_BOLD}(a)(?!\w|'|\s[a-z])"
    rf"|\b(?:answer|it)(?:\sis:?|:|'s)\s{_BOLD}([a-d])(?={_BOLD}\W?$))",
    re.MULTILINE,
)
_ORDINAL = re.compile(r"\b(?:(first)|(second)|(third)|(fourth|final|last))\s(?:option|choice)\b", re.IGNORECASE)
_LEADING = re.compile(
    r"(?:(?:in front of|next to|in|at|on|under|behind|from|for|with|to|by|of|near|beside)\s)?"
    r"(?:(?:an?|the|mrs?\.?)\s)?",
    re.IGNORECASE,
)
_SPELLED = {
    "airplane": "aeroplane",
    "aluminum": "aluminium",
    "donut": "doughnut",
    "gray": "grey",
    "mustache": "moustache",
    "woolen": "woollen",
}
_SPELLING = re.compile(rf"\b(?:{'|'.join(_SPELLED)})\b", re.IGNORECASE)
_CARDINALS = (
    "three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty"
)
_TENS = "thirty forty fifty sixty seventy eighty ninety hundred"
_FIGURES = {
    **{word: str(n) for n, word in enumerate(_CARDINALS.split(), 3)},
    **{word: f"{n}0" for n, word in enumerate(_TENS.split(), 3)},
    **{word: f"{n}th" for n, word in enumerate(ORDINALS[3:], 4)},
    "second": "2nd",
    "third": "3rd",
}

# --- what is said of it ---

_K = r"choice[a-d]\b"
_ABC = r"choice[a-c]\b"
_AND = r"[ ,/|&\"'()]{1,4}(?:(?:or|and|nor|as well as)\s\W{0,3}(?:(?:not|also|the|option)\s)?\W{0,2})?"
_LIST = rf"{_K}(?:{_AND}{_K}){{0,3}}"
_GAP = r"(?:\s(?!choice|(?:so|but|and|then|because|others?|another|else)\b)[\w'-]{1,20})"
_SAID = (
    r"(?:says?|said|tells?|told|mention(?:s|ed)?|stated?|specif(?:y|ies|ied)|given?|gives|provided?|indicate[sd]?"
    r"|includ(?:e|ed)|contain(?:s|ed)?|reveal(?:s|ed)?|describe[sd]?|knows?|known|determined?|infer(?:red)?|answer(?:ed|able)?"
    r"|see|find|found|clear|disclosed?|present|available|identif(?:y|ied)|named?|listed|supported|explain(?:ed)?|appears?"
    r"|established?|discernible|learn)\b"
)
_FACTS = r"(?:info(?:rmation)?|mention|answer|indication|way|details?|clues?|idea|evidence|data|hints?|references?)\b"
_TEXT = r"(?:text|story|passage|context)\b"
_UNSAID = "|".join(
    (
        rf"(?:\b(?:do|does|did|is|are|was|were|has|have|had|could)\s)?(?:\bnot|\bnever|\bnowhere|\b(?!ca)\w{{2,6}}n't)"
        rf"{_GAP}{{0,4}}?\s{_SAID}",
        r"\b(?:can't|can not|cannot)(?:\s(?:really|possibly|be|actually)){0,2}\s(?:say|said|tell|known?|determined?"
        r"|infer(?:red)?|answer(?:ed)?|find|found|identif(?:y|ied)|established?)\b",
        r"\b(?:unable|hard|impossible|not possible|no way) to (?:\w{1,8}\s)?"
        r"(?:say|tell|know|determine|infer|answer|find|identify)\b",
        rf"\bno\s(?:\w{{1,12}}\s){{0,3}}?{_FACTS}",
        rf"\bno(?!\s(?:doubt|need|problem|question|matter)\b){_GAP}{{1,4}}?\s(?:{_SAID}|in the {_TEXT})",
        r"\b(?:gives?|mentions?|contains?|provides?|offers?|names?) no(?! other| doubt)\b",
        rf"\bnothing\s(?:\w{{1,12}}\s){{0,4}}?(?:about\b|of\b|on\b|{_SAID})|\b(?:says|tells us|states) nothing\b",
        rf"\b(?:nobody|no one|none(?:\sof\s(?:the|these|those|them))?){_GAP}{{0,4}}?\s{_SAID}",
        rf"\b(?:not|\w{{2,6}}n't) have (?:\w{{1,8}}\s){{0,2}}?{_FACTS}|\b(?:insufficient|not enough|lacks?|missing)\s"
        rf"(?:\w{{1,12}}\s){{0,2}}?{_FACTS}|\bwithout (?:more|further|additional|any) {_FACTS}|\b{_FACTS} is missing\b",
        rf"\b(?:not|isn't|aren't|nowhere) in the {_TEXT}|\b(?:isn't|not) there\b|\bsilent (?:on|about)\b",
        r"\b(?:left|leaves?)\s(?:\w{1,12}\s){0,4}?(?:out|open)\b|\bomit(?:s|ted)\b|\bfails? to \w{3,10}",
        r"\b(?:unknown|unspecified|unstated|unclear|undetermined|undisclosed|unmentioned|unanswerable|indeterminate"
        r"|indeterminable|idk|dunno|could be any(?: of)?|(?:I\s)?(?:don't|do not|dont) (?:really )?know)\b",
    )
)
_UNTOLD = re.compile(_UNSAID, re.IGNORECASE)
_SPOKEN_OF = re.compile(rf"{_K}|{_UNSAID}", re.IGNORECASE)
_UNSURE = re.compile(
    r"\b(?:(?:I'm|I am|is|be|am)\s)?not (?:(?:quite|entirely|completely|100%|absolutely|totally|really|fully|too)\s)?"
    r"(?:sure|certain|confident|positive)\b|\b(?:I'm |I am )?(?:unsure|uncertain)\b"
    r"|\b(?:I\s)?(?:don't|do not|can't|cannot) (?:know|say|tell|be)(?: sure| certain)? for (?:sure|certain)\b"
    r"|\b(?:can't|cannot) be (?:sure|certain)\b",
    re.IGNORECASE,
)
_TWICE = re.compile(rf"({_K})(?:\W{{1,5}}(?:(?:is|i\.e|namely|meaning|option)\W{{1,2}})?\1)+")
_RECITED = re.compile(r"choicea{0}choiceb{0}choicec{0}choiced\b".format(r"\b\W{1,6}(?:(?:or|and)\W{1,3})?"))
_CROSSED = re.compile(r"^[^\n]*(?:[❌✗✘✖]|\[ \])[^\n]*$", re.MULTILINE)
_WHETHER = re.compile(
    rf"(?:{_UNSAID}){_GAP}{{0,8}}?\s(?:whether|if)\b(?:(?!,\s(?:so|but|therefore|thus|hence)\b)[^.;!?\n]){{0,160}}",
    re.IGNORECASE,
)
_OTHERS = r"\b(?:others?|another|else|remaining|rest|alternatives)\b"
_DENIED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:no|no one|nobody|nothing) (?:other|else)\b{_GAP}{{0,5}}?\s{_SAID}",
        rf"{_OTHERS}{_GAP}{{0,5}}?\s(?:{_UNSAID})|(?:{_UNSAID}){_GAP}{{0,5}}?\s{_OTHERS}",
        rf"\b(?:neither|none of)\s(?:[\w']{{1,12}}\s){{0,4}}?\W{{0,2}}{_LIST}(?:{_GAP}{{0,6}}?\s{_SAID})?",
        # 'Biscuit and Pepper are not mentioned', '(A): not mentioned', but not 'Biscuit, not Pepper'
        rf"{_LIST}(?:\s(?:both|all|also|simply|clearly|just|is|are|was|were|do|does|did|can|could)){{0,3}}\W{{0,3}}?"
        r"(?:(?<!,)\s|(?<=[:(–—-]))(?:not|never|nowhere|cannot|\w{2,6}n't)\b"
        rf"(?!\W{{0,3}}(?:the\s)?{_K}|\s(?:sure|certain|only|entirely|quite|100))(?:{_GAP}{{0,4}}?\s{_SAID})?",
        # 'it does not mention the names Biscuit or Pepper'
        rf"(?:{_UNSAID})(?:[^\w.,:;!?\n]{{1,3}}(?!choice|so\b|but\b|the answer)[\w']{{1,20}}){{0,6}}?"
        rf"[^\w.,:;!?\n]{{1,3}}{_ABC}(?:{_AND}{_K}){{0,3}}",
        rf"(?:{_UNSAID})[^.!?\n]{{0,60}}?{_ABC}{_AND}{_ABC}{_AND}{_ABC}",
        rf"\b(?:can't|cannot|unable to|impossible to) (?:choose|decide) (?:between|among) \W{{0,2}}{_LIST}",
        rf"{_LIST}\s(?:is|are|was|were|would be|would|seems?|looks?|sounds?|might be|may be|could be|can be)\s"
        r"(?:\w{1,10}\s){0,2}?(?:wrong|incorrect|false|tempting|unlikely|irrelevant|impossible|excluded|eliminated"
        r"|ruled out|out|(?:(?:be )?(?:right|correct|true|possible|chosen|the answer|needed|apply|appropriate) )"
        r"(?:only )?if\b)[^.,;!?\n]{0,100}",
        rf"\b(?:eliminat(?:e|ing)|exclud(?:e|ing)|rul(?:e|ing) out|discard|reject|not|rather than|instead of|isn't"
        rf"|aren't|wasn't|can't be|cannot be)\s\W{{0,2}}(?:(?:the|option|either)\s\W{{0,2}})?{_LIST}",
        rf"{_K}[^\w.\n]{{0,4}}(?:no|nope|wrong|incorrect|false)(?=[^\w\s]|\n|\Z)",
    )
)
_CONCEDED = re.compile(
    rf"\b(?:although|though|while|whilst|even if)\b[^.,;!?\n]{{0,120}}?{_K}[^.,;!?\n]{{0,80}}", re.IGNORECASE
)
_EITHER = re.compile(rf"({_K}),? (?:(?:and|or) )?(?:it )?(?:could|might|may) (?:also )?be (?={_K})", re.IGNORECASE)
_GUESSED = re.compile(
    r"\bif (?:I|one) (?:had|have|has|were|was|am) (?:\w{1,9} )?to (?:guess|choose|pick|say)\b[^.!?\n]{0,100}",
    re.IGNORECASE,
)
_OPENING = re.compile(rf"\W{{0,6}}({_K})[^\w\n]{{0,3}}(?:[.:,;(]|\s[–—-]\s)\W{{0,6}}(?!(?:(?:or|and)\W{{1,3}})?{_K})")


def read(reply: str, options: Sequence[str]) -> str | None:
    """The option that a reply takes; None if it takes none, or leaves it open. The last option is not to know."""
    text = _TAG.sub(r"(\1)", reply.strip())
    if len(text) > 2 * _END:
        text = f"{text[:_END]}\n{text[-_END:]}"
    text = _UNDERLINED.sub("", tidy(_KEY.sub(_line, text.translate(_SIGNS))))
    text = _SPACES.sub(" ", _NOT_APPLICABLE.sub("unknown", text))
    if whole := re.fullmatch(r"\W{0,8}([A-Da-d])\W{0,8}", text):
        return options["abcd".index(whole[1].lower())]
    named = _name_choices(text, options, {})
    if not _SPOKEN_OF.search(named):
        named = _name_choices(text, options, _FIGURES)
    opens = _LETTER.match(text.lstrip(" \n*`>#-\"'$")) is not None
    return Choices(dict(zip(_WORDS, options, strict=True))).read(_drop_denials(named, opens))


def _line(key: re.Match[str]) -> str:
    """A key of JSON on a line of its own."""
    return f"\n{'answer' if _KEY_OF_CHOICE.fullmatch(key[1]) else key[1]}: "


def _name_choices(text: str, options: Sequence[str], figures: Mapping[str, str]) -> str:
    """Return a text in which each name of a choice, a letter or the end of an option, is replaced by its word."""
    words: dict[str, str] = {}
    for option, word in zip(options, _WORDS, strict=True):
        core = _LEADING.sub("", option.lower(), count=1)
        words.setdefault(figures.get(core, core), word)
    longest_first = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    pattern = re.compile(
        rf"(?<![\w-]){_LEADING.pattern}(?<![\w-])({longest_first})(?![\w-])(?! (?:whether|if|for sure|for certain)\b)",
        re.IGNORECASE,
    )

    def by_letter(found: re.Match[str]) -> str:
        return f" {_WORDS['abcd'.index(next(filter(None, found.groups())).lower())]} "

    text = _ORDINAL.sub(lambda found: _WORDS[(found.lastindex or 1) - 1], text)
    text = _SPELLING.sub(lambda found: looked_up(_SPELLED, found[0]), _LETTER.sub(by_letter, text))
    return _TWICE.sub(r"\1", _SPACES.sub(" ", pattern.sub(lambda found: looked_up(words, found[1]), text)))


def _drop_denials(text: str, opens: bool) -> str:
    """Return a text without the choices that it recites, denies or concedes; a letter that opens it stands alone."""
    denied: set[str] = set()

    def deny(found: re.Match[str]) -> str:
        denied.update(re.findall(_K, found[0]))
        return " "

    text = _WHETHER.sub(_UNKNOWN, _RECITED.sub(" ", _CROSSED.sub(deny, text)))
    for pattern in _DENIED:
        text = pattern.sub(deny, text)
    text, unsaid = _UNTOLD.subn(_UNKNOWN, text)
    text = _without(_UNSURE, text) or _UNSURE.sub(_UNKNOWN, text)
    text = _without(_CONCEDED, text) or text
    text = (_without(_GUESSED, text) or text) if unsaid else text
    text = _EITHER.sub(r"\1 or ", text)
    if not re.search(_K, text):
        return _UNKNOWN if denied.issuperset(_WORDS[:-1]) else ""
    if opens and (opening := _OPENING.match(text)) and not re.search(rf"\n\W{{0,6}}(?!{opening[1]}){_K}", text):
        return f"{opening[1]}\n{text[opening.end() :]}"
    return text


def _without(pattern: re.Pattern[str], text: str) -> str:
    """A text without what a pattern finds, if a choice is left."""
    rest = pattern.sub(" ", text)
    return rest if re.search(_K, rest) else ""
