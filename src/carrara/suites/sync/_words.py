r"""Reading invented words out of replies.

What counts stands behind the last `Translation:` or `Letter Coverage:`, on its line or in a list below, if it is words
of some vocabulary. Where that is nowhere, an announcement is read, and then lines that are nothing but such words: the
last or the first. Several answers side by side state none.

>>> known = frozenset({"abc", "kloe", "wux"})
>>> read("First, x is abc.\n**Translation:** \"Abc  kloe\".", "Translation", known)
('abc', 'kloe')
>>> read("abc kloe", "Translation", known), read("Translation: I cannot find it.", "Translation", known)
(('abc', 'kloe'), None)
>>> read("Letter Coverage:\n- abc (a, b)\n- kloe\n- wux", "Letter Coverage", known)
('abc', 'kloe', 'wux')
"""

import re
from collections.abc import Sequence
from itertools import islice, takewhile

from carrara.answers.layout import plain, tidy

Words = tuple[str, ...]

_WORD = re.compile(r"[a-z]+")
_WORDS = re.compile(r"[a-z]+(?: ?[ ,;/|+&-] ?[a-z]+)*+")
_JOINT = re.compile(r", and (?=[a-z]+\Z)")
_SENTENCE = re.compile(r"(?<=[.!])\s+(?=[a-z])(?<![0-9]\.\s)")
_ASIDE = re.compile(r"\([^()\n]{0,300}\)")
_OTHER = re.compile(
    r"\W*(?:or|alternativ\w*|equivalent\w*|another|also|maybe|perhaps|possibly|wait|actually|hmm|but|no(?=\W?[,.!]))\b"
)
_TAIL = re.compile(
    r"(?:\s(?:in(?:to)? ll[0-9]+|(?:covers|covering|with|for a)\b [^\n]{1,80})"
    r"|,? (?:where|since|because|which)\b [^\n]{1,200}|\W{1,4}[0-9]+(?: [a-z]+){0,4}"
    r"|: (?:[a-z], ?)*[a-z])\Z"
)
_ARROW = re.compile(r"\s?(?:[-=–—]{0,2}[>→⟶➝➔➜➞➡⇒⟹↦]|=|:|\\(?:long)?rightarrow|\\to\b|\btranslates? to\b)\s?")
_AROUND = re.compile(r"[\"“”‘’'`*$<{}\[\]]")
_ITEM = re.compile(r"(?:\A|(?<=[\s,]))(?:[-+•–]|[0-9]{1,2}[.)])\s+(?=[a-z])")
_LANGUAGES = re.compile(r"\All[0-9]+(?:\s?(?:to|[-=]?>|→)\s?ll[0-9]+)?\s?[:=]\s?")
_WRAPPED = re.compile(r"(?<=[,;\[{(])\s*\n\s*|\s*\n\s*(?=[\]}])")
_IN_TAG = re.compile(r"<([a-z]+(?:[ ,;]{1,2}[a-z]+)*+)>", re.IGNORECASE)
_CLOSED_TAG = re.compile(r"</([a-z]+)>", re.IGNORECASE)
_GIVES_UP = re.compile(
    r"(?i)\W*(?:(?:i|we|it|there|this|the)\b.{0,60}?)?\b(?:cannot|can['’]t|could not|couldn['’]t|unable|not|unknown"
    r"|none|n/a|no|don['’]t know|impossible|undefined|unclear)\b"
)
_START = (
    r"(?im)(?:^|(?<=[.!?:] )|(?<=, [\"']))[^\w\n]{0,4}(?:(?:so|thus|therefore|hence|and|the|my|final|correct|overall"
    r"|full|best|three|different|chosen|LL[0-9]+|to|→|->)\b[,:]? ){0,5}"
)
_ANNOUNCED = re.compile(
    rf"{_START}(?:answer|result|words(?: (?:of|from|in) LL0)?)(?: (?:is|are)\b[^\w\n]{{0,3}}|[^\w\n]{{0,3}}[:=])"
)
_PROSE = re.compile(
    r"\b(?:the|an?|is|are|was|be|of|to|in|on|and|or|not|none?|i|it|see|above|below|unknown|unclear|impossible|undefined"
    r"|unable|cannot|words?|translations?|letters?|languages?|answers?|found|given|available|here|there|sorry)\b",
    re.IGNORECASE,
)
_QUOTES = " \"'“”‘’*`.!"
_MANY = 12
_LONGEST = 2_000
"""Characters of a list that may be an answer."""
PLACEHOLDER = "word"
"""What stands for an answer where a prompt shows its form: a reply that repeats it states nothing."""
_FEW = 200
"""Labels and lines that are looked at, from the last one on."""


def read(reply: str, label: str, known: frozenset[str], several: bool = False) -> Words | None:
    """The words that a reply states, in order; None if it states none that are `known`.

    A translation is asked for, or `several` words that are chosen, of which an arrow leads away.
    """
    reading, said = _Reading(known, several), reply
    tags = set(_CLOSED_TAG.findall(said))
    bare = _IN_TAG.sub(lambda tag: tag[tag[1] not in tags and known.issuperset(_WORD.findall(tag[1].lower()))], said)
    text = plain(tidy(bare)).replace("&gt;", ">")
    marks = list(_labels(label).finditer(text))[-_FEW:]
    while marks:
        mark = marks.pop()
        line = text[mark.end() : mark.end() + _LONGEST + 1]
        if words := reading.below(line):
            return words if _alone(reading, text, marks, mark, words) else None
        if words := _invented(line.strip().split("\n", 1)[0].strip(_QUOTES), known):
            return words
        if reading.decides(line.strip().split("\n", 1)[0]):
            return None
    for mark in list(_ANNOUNCED.finditer(text))[: -_FEW - 1 : -1]:
        if words := reading.below(text[mark.end() : mark.end() + _LONGEST + 1]):
            return words
    return _bare(reading, text)


def _labels(label: str) -> re.Pattern[str]:
    """A label at the start of a line or sentence, and what it is of."""
    of = r"(?: of [\"'“‘][^\"'”’:=\n]{0,120}[\"'”’])?[^:=\n]{0,80}?"
    says = rf"{of}(?:[^\w\n]{{0,3}}[:=：]| (?:is|are)\b:?)"
    return re.compile(rf"{_START}{'[ _]'.join(label.split())}s?\b(?:{says}| [-–—] |[^\w\n]{{0,4}}(?=\n))")


def _invented(line: str, known: frozenset[str]) -> Words | None:
    """The words of a line that is nothing but a few words of no vocabulary and of no sentence."""
    words = _WORD.findall(line.lower())
    few = 1 < len(words) <= _MANY and known.isdisjoint(words) and _WORDS.fullmatch(line.lower()) is not None
    return tuple(words) if few and set(words) != {PLACEHOLDER} and not _PROSE.search(line) else None


class _Reading:
    """How lines are read: with what vocabulary, and whether words are chosen or translated."""

    def __init__(self, known: frozenset[str], several: bool) -> None:
        self._known, self._several = known, several

    def below(self, text: str) -> Words | None:
        """What the rest of a line says, and the lines below that go on with it."""
        return self.together(_WRAPPED.sub(" ", text.lstrip()).split("\n"))

    def together(self, lines: Sequence[str]) -> Words | None:
        """The words of successive lines, one a line; a line of several stands alone, or else it states nothing."""
        rows = [row for row in takewhile(bool, map(self.line, islice(lines, _FEW))) if row]
        if sum(len(line) + 1 for line in lines[: len(rows)]) > _LONGEST or len(rows) == _FEW:
            return None
        if all(len(row) == 1 for row in rows):
            return tuple(word for row in rows for word in row) or None
        return rows[0] if all(row == rows[0] for row in rows) else None

    def line(self, line: str) -> Words | None:
        """The words that a line is made of, if it is made of nothing else but for its reason."""
        if len(line) > _LONGEST:
            return None
        line = line.strip().lower()
        if whole := re.fullmatch(r"\(([^()]*)\)\W{0,3}", line):
            line = whole[1]
        if any(_OTHER.match(aside[0]) for aside in _ASIDE.finditer(line)):
            return None
        first, *others = _SENTENCE.split(_AROUND.sub("", _ASIDE.sub(" ", line)))
        words = self._picked(first)
        if any(_OTHER.match(other) or self._picked(other) not in (None, words) for other in others[:_FEW]):
            return None
        return words

    def decides(self, line: str) -> bool:
        """Whether a line that states nothing tries to, or gives up."""
        words = _WORD.findall(line[:_LONGEST].lower())
        return bool(_GIVES_UP.match(line)) or 2 * sum(word in self._known for word in words) >= max(1, len(words))

    def _picked(self, text: str) -> Words | None:
        """The words of a sentence, of `x y -> abc kloe` those that the arrow leads to, or those that are chosen."""
        text = _TAIL.sub("", _LANGUAGES.sub("", text.strip()).rstrip(" .!,;:✓✅✔☑\ufe0f"))
        place = 0 if self._several else -1
        sides = _ARROW.split(_ITEM.sub("", text))
        if len({len(_WORD.findall(side)) for side in sides}) == 1:
            return self._words(sides[place])
        rows = [self._words(_ARROW.split(item)[place]) for item in re.split(r"[,;]", _ITEM.sub("", text))]
        return tuple(word for row in rows if row for word in row) if len(sides) > 1 and all(rows) else None

    def _words(self, text: str) -> Words | None:
        text = " ".join(_JOINT.sub(" ", text).split())
        joined = _WORD.findall(text if "and" in self._known else text.replace(" and ", " "))
        right = _WORDS.fullmatch(text) and self._known.issuperset(joined) and set(joined) != {PLACEHOLDER}
        return tuple(joined) if right else None


def _alone(reading: _Reading, text: str, marks: list[re.Match[str]], mark: re.Match[str], words: Words) -> bool:
    """Whether no other answer stands right before one, behind the same label."""
    for before in reversed(marks):
        between = text[before.end() : mark.start()] if mark.start() - before.end() < _LONGEST else ""
        other = reading.line(re.sub(r"\n(?:or|and)\W*\Z", "", between.strip()))
        if not other or len(other) != len(words) or before[0].lower() != mark[0].lower():
            return True
        if other != words:
            return False
        mark = before
    return True


def _bare(reading: _Reading, text: str) -> Words | None:
    """What the last lines say, or the first ones, that are nothing but words."""
    first = _WRAPPED.sub(" ", text[: _LONGEST + 1]).split("\n")
    last = first if len(text) <= _LONGEST else _WRAPPED.sub(" ", text[-_LONGEST:]).split("\n")[1:]
    size = next((n for n, line in enumerate(reversed(last)) if not reading.line(line)), len(last))
    opening = reading.together(first)
    closing = reading.together(last[-size:]) if size else opening
    return closing if opening in (None, closing) else None
