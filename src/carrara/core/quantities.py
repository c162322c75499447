"""Quantities as text."""


def count(number: int, what: str) -> str:
    """Return a number with its noun, in the plural where there is not exactly one.

    >>> count(1, "task"), count(3, "reply"), count(1200, "more cell")
    ('1 task', '3 replies', '1,200 more cells')
    """
    if number == 1:
        return f"1 {what}"
    return f"{number:,} {what[:-1]}ies" if what[-1] == "y" and what[-2] not in "aeiou" else f"{number:,} {what}s"


def duration(seconds: float) -> str:
    """Return a duration in its largest unit.

    >>> duration(12), duration(1800), duration(90000)
    ('12 s', '30 min', '25 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 2 * 3600 else f"{seconds / 3600:.0f} h"
