"""Text that UTF-8 can encode, and characters with the same properties in every Python version.

JSON can express half of a surrogate pair, and UTF-8 cannot. Each Python version has its own tables of Unicode: a
character that Python 3.11 does not know is a letter in Python 3.13.
"""

from bisect import bisect_right
from functools import cache

from carrara.util.data import lines

NO_CHARACTER = "\ue000"
"""The replacement of a character that Unicode 14.0 does not have: neither a letter nor white space."""

HAN = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Chinese characters, as they stand in a set of a regular expression. No spaces stand between Chinese words, so these
characters do not show where a word ends."""
WORD_START, WORD_END = rf"(?<![^\W{HAN}])(?<!-)", rf"(?![^\W{HAN}]|-)"
"""Patterns of places before and after which no word goes on. A hyphen is part of a word."""

_CHANGED = {
    "\u0295": "\u0250",  # a letter without case since 16.0: a small letter before
    **dict.fromkeys("\u10fc\ua7f2\ua7f3\ua7f4\uab69", "\u02bb"),  # small letters since 15.0: without case before
}
"""Characters whose properties changed after Unicode 14.0, each with one that has the properties it had."""


def replace_surrogates(text: str) -> str:
    """Replace every half of a surrogate pair by �. Without one, return the same object.

    >>> replace_surrogates("a\\ud800b"), replace_surrogates("one 😀")
    ('a�b', 'one 😀')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def unicode14(text: str) -> str:
    """Replace each character whose properties depend on the Python version by one with the same properties everywhere.

    Unicode 14.0 is the version of Python 3.11, the oldest that Carrara supports. The result has the length of the text,
    and is the same object if nothing is replaced. Use it to examine a text, not to display it.

    >>> unicode14("Élan, 漢字 😀"), unicode14("a\\U0001fae8 b")  # a shaking face, of Unicode 15.0
    ('Élan, 漢字 😀', 'a\\ue000 b')
    """
    if text.isascii():
        return text
    replacements = dict[int, str]()
    for character in set(text) - _SAME:
        if (known := _is_known(character)) == character:
            _SAME.add(character)
        else:
            replacements[ord(character)] = known
    return text.translate(replacements) if replacements else text


_SAME = set[str]()
"""Characters that need no replacement. Each is looked up once."""


def _is_known(character: str) -> str:
    return _CHANGED.get(character, NO_CHARACTER if bisect_right(_bounds(), ord(character)) % 2 else character)


@cache
def _bounds() -> list[int]:
    """Return the bounds of the runs of code points that Unicode 14.0 leaves unassigned, ascending."""
    return [int(number, 16) for number in lines("unassigned")]
