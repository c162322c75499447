"""Lengths, counts and durations: their input, their display, and their limits.

A length is `0`, `4k` or `1M`; k is 1,024 tokens and M 1,048,576.
"""

import re

from carrara.util.errors import UsageError
from carrara.util.log import logger

Key = tuple[tuple[int, float, str], ...]
_PART = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?|[^0-9]+|[0-9]+")


def natural(text: str) -> Key:
    """Return the sort key of a name.

    >>> sorted(["20", "sum", "5", "0.5", "qa10", "len", "qa2"], key=natural)
    ['0.5', '5', '20', 'len', 'qa2', 'qa10', 'sum']
    """
    parts = ((0, float(part), part) if "0" <= part[0] <= "9" else (1, 0.0, part) for part in _PART.findall(text))
    return tuple(parts) or ((1, 0.0, ""),)  # an empty name comes after numbers


_UNITS = {"": 1, "k": 1024, "m": 1024**2}
_LENGTH = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kKmM]?)")

MAX_LENGTH = 1 << 30
"""The most tokens of a prompt: a thousand times a million."""
_CHARACTERS = 30
"""The most characters of a length."""

WARN_ABOVE = 1_000_000
MAX_COUNT = 100_000_000
"""The number of things that a command makes without the user's consent, because extra zeros are a common slip."""


def read_length(text: str) -> int:
    """
    >>> read_length("32k"), read_length("1M"), read_length("1000"), read_length("0.5k")
    (32768, 1048576, 1000, 512)
    """
    match = _LENGTH.fullmatch(text.strip()) if len(text) <= _CHARACTERS else None
    if match:
        length = float(match[1]) * _UNITS[match[2].lower()]
        if length == int(length) and length <= MAX_LENGTH:
            return int(length)
        if length > MAX_LENGTH:
            raise UsageError(f"{text} are more tokens than a prompt may have: give at most {write_length(MAX_LENGTH)}")
    shown = text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}…"
    raise UsageError(f"{shown!r} is not a length; write tokens as 0, 1000, 4k (4,096) or 1M (1,048,576)")


LARGEST = -1
"""The length `max`: that of the largest prompt that a server reads whole."""


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
    """Return an estimated length with two digits.

    >>> about_length(700.3), about_length(5530), about_length(43_000), about_length(3_300_000)
    ('700', '5.4k', '42k', '3.1M')
    """
    for unit, size in (("M", 1024**2), ("k", 1024)):
        if length >= size:
            number = length / size
            return f"{number:.0f}{unit}" if number >= 9.95 else f"{number:.1f}".removesuffix(".0") + unit
    return f"{length:.2g}" if length < 100 else f"{round(length, -1):.0f}"


def count(number: int, what: str) -> str:
    """Return a number with its noun, in the plural unless it is one.

    >>> count(1, "task"), count(3, "reply"), count(1200, "more cell")
    ('1 task', '3 replies', '1,200 more cells')
    """
    if number == 1:
        return f"1 {what}"
    return f"{number:,} {what[:-1]}ies" if what[-1] == "y" and what[-2] not in "aeiou" else f"{number:,} {what}s"


def about_count(number: int) -> str:
    """Return a number that is written out up to 10,000, and above in thousands or millions.

    >>> about_count(512), about_count(61_440), about_count(5_614_545), about_count(12_345_678_901)
    ('512', '61k', '5.6M', '12346M')
    """
    if number < 10_000:
        return f"{number:,}"
    return f"{number / 1000:.0f}k" if number < 1_000_000 else f"{number / 1e6:.{1 if number < 1e9 else 0}f}M"


def duration(seconds: float) -> str:
    """Return a duration in its largest unit.

    >>> duration(12), duration(1800), duration(90000)
    ('12 s', '30 min', '25 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 2 * 3600 else f"{seconds / 3600:.0f} h"


def check_count(count: int, what: str, allowed: bool) -> None:
    """Warn of a large count before the work begins.

    Raises:
        UsageError: The count exceeds the limit, and the user has not allowed it.
    """
    if count > MAX_COUNT and not allowed:
        raise UsageError(
            f"{count:,} {what} are asked for, more than {MAX_COUNT:,}: lower `n`, or allow it with `allow_large=True`"
        )
    if count > WARN_ABOVE:
        logger.warning(f"{count:,} {what} are to be made")
