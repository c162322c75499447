"""Lengths as people write them: `0`, `4k`, `1M`; k is 1,024 tokens and M 1,048,576."""

import re

from carrara.core.errors import UsageError

_UNITS = {"": 1, "k": 1024, "m": 1024**2}
_LENGTH = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kKmM]?)")

MOST = 1 << 30
"""Tokens that a prompt may have: a thousand times a million."""
_CHARACTERS = 30
"""Characters that a length may have."""


def read_length(text: str) -> int:
    """
    >>> read_length("32k"), read_length("1M"), read_length("1000"), read_length("0.5k")
    (32768, 1048576, 1000, 512)
    """
    found = _LENGTH.fullmatch(text.strip()) if len(text) <= _CHARACTERS else None
    if found:
        length = float(found[1]) * _UNITS[found[2].lower()]
        if length == int(length) and length <= MOST:
            return int(length)
        if length > MOST:
            raise UsageError(f"{text} are more tokens than a prompt may have: give at most {write_length(MOST)}")
    shown = text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}…"
    raise UsageError(f"{shown!r} is not a length; write tokens as 0, 1000, 4k (4,096) or 1M (1,048,576)")


def read_lengths(text: str) -> list[int]:
    return list(dict.fromkeys(read_length(part) for part in text.split(",")))


def write_length(length: int) -> str:
    """
    >>> write_length(4096), write_length(10 * 1024**2), write_length(1000), write_length(0)
    ('4k', '10M', '1000', '0')
    """
    for unit, size in (("M", 1024**2), ("k", 1024)):
        if length and length % size == 0:
            return f"{length // size}{unit}"
    return str(length)


def about_length(length: float) -> str:
    """One that was estimated, to two digits.

    >>> about_length(700.3), about_length(5530), about_length(43_000), about_length(3_300_000)
    ('700', '5.4k', '42k', '3.1M')
    """
    for unit, size in (("M", 1024**2), ("k", 1024)):
        if length >= size:
            number = length / size
            return f"{number:.0f}{unit}" if number >= 9.95 else f"{number:.1f}".removesuffix(".0") + unit
    return f"{length:.2g}" if length < 100 else f"{round(length, -1):.0f}"
