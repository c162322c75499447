r"""Read invented words out of replies: words of some vocabulary and of nothing else.

>>> known = frozenset({"abc", "kloe", "wux"})
>>> read("First, x is abc.\n**Translation:** \"Abc  kloe\".", "Translation", known)
('abc', 'kloe')
>>> read("abc kloe", "Translation", known), read("Translation: I cannot find it.", "Translation", known)
(('abc', 'kloe'), None)
>>> read("Letter Coverage:\n- abc (a, b)\n- kloe\n- wux", "Letter Coverage", known)
('abc', 'kloe', 'wux')
"""

import re

from carrara.answers.labelled import Labelled, unmarked, whole

Words = tuple[str, ...]

_WORD = re.compile(r"[a-z]+")
_WORDS = re.compile(r"[a-z]+(?: ?[ ,;/|+&-] ?[a-z]+)*+")
_JOINT = re.compile(r", and (?=[a-z]+\Z)")
_TAIL = re.compile(
    r"(?:\s(?:in(?:to)? ll[0-9]+|(?:covers|covering|with|for a)\b [^\n]{1,80})"
    r"|,? (?:where|since|because|which)\b [^\n]{1,200}|\W{1,4}[0-9]+(?: [a-z]+){0,4}"
    r"|: (?:[a-z], ?)*[a-z])\Z"
)
_ARROW = re.compile(r"\s?(?:[→>=:]|\btranslates? to\b)\s?")
_ITEM = re.compile(r"(?:\A|(?<=[\s,]))(?:[-+•–]|[0-9]{1,2}[.)])\s+(?=[a-z])")
_LANGUAGES = re.compile(r"\All[0-9]+(?:\s?(?:to|→)\s?ll[0-9]+)?\s?[:=]\s?")
_PROSE = re.compile(
    r"\b(?:the|an?|is|are|was|be|of|to|in|on|and|or|not|none?|i|it|see|above|below|unknown|unclear|impossible|undefined"
    r"|unable|cannot|words?|translations?|letters?|languages?|answers?|found|given|available|here|there|sorry)\b"
)
_MANY = 12
PLACEHOLDER = "word"
"""What stands for an answer where a prompt shows its form: a reply that repeats it states nothing."""


def read(reply: str, label: str, known: frozenset[str], several: bool = False) -> Words | None:
    """Return the words that a reply states, in order; None if it states none that are `known`.

    Args:
        reply: The reply.
        label: The label of the answer line.
        known: The words of all vocabularies.
        several: Whether the question asks for a choice of words. An arrow leads away from them, and to a translation.
    """
    words = _WordReader(known, several)
    label += "(?:: ll[0-9]+ (?:to|→) ll[0-9]+(?=:))?"
    announced = r"words(?: (?:of|from|in) LL0)?"
    return Labelled(label, announced, words.read_sentence, whole, words.is_mostly_known, words.read_unknown).read(reply)


class _WordReader:
    """Read sentences, with the words that are known, and `several` where words are chosen and not translated."""

    def __init__(self, known: frozenset[str], several: bool) -> None:
        self._known, self._place = known, 0 if several else -1

    def is_mostly_known(self, line: str) -> bool:
        """Return whether half of a line is words that are known."""
        words = _WORD.findall(line.lower())
        return 2 * sum(word in self._known for word in words) >= max(1, len(words))

    def read_unknown(self, line: str) -> Words | None:
        """Return the words of a line that is nothing but a few words of no vocabulary and of no sentence."""
        line = unmarked(line.strip(" .!")).lower()
        words = _WORD.findall(line)
        few = 1 < len(words) <= _MANY and self._known.isdisjoint(words) and _WORDS.fullmatch(line) is not None
        return tuple(words) if few and set(words) != {PLACEHOLDER} and not _PROSE.search(line) else None

    def read_sentence(self, text: str) -> Words | None:
        """Return the words of a sentence. Of `x y → abc kloe` that is the translation, or the choice of words."""
        text = _LANGUAGES.sub("", unmarked(text).lower())
        text = _ITEM.sub("", _TAIL.sub("", text.rstrip(" .!,;:✓✅✔☑\ufe0f")))
        sides = _ARROW.split(text)
        if len({len(_WORD.findall(side)) for side in sides}) == 1:
            return self._read_words(sides[self._place])
        rows = [self._read_words(_ARROW.split(item)[self._place]) for item in re.split(r"[,;]", text)]
        return tuple(word for row in rows if row for word in row) if len(sides) > 1 and all(rows) else None

    def _read_words(self, text: str) -> Words | None:
        text = " ".join(_JOINT.sub(" ", text).split())
        joined = _WORD.findall(text if "and" in self._known else text.replace(" and ", " "))
        right = _WORDS.fullmatch(text) and self._known.issuperset(joined) and set(joined) != {PLACEHOLDER}
        return tuple(joined) if right else None
