"""Ordinal numbers, as questions name positions."""

import re

from carrara.answers.number_words import ORDINALS
from carrara.types import UndecidableError

_ORDINAL = re.compile(r"([0-9]{1,9})(?:st|nd|rd|th)")


def write_ordinal(n: int) -> str:
    """Return the ordinal of a number: a word for a small one.

    >>> write_ordinal(2), write_ordinal(11), write_ordinal(22)
    ('second', '11th', '22nd')
    """
    if n <= len(ORDINALS):
        return ORDINALS[n - 1]
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def read_ordinal(text: str) -> int:
    """Return the number of an ordinal. Raises UndecidableError.

    >>> read_ordinal("second"), read_ordinal("22nd")
    (2, 22)
    """
    if text in ORDINALS:
        return ORDINALS.index(text) + 1
    if found := _ORDINAL.fullmatch(text):
        return int(found[1])
    raise UndecidableError(f"{text} is no ordinal")
