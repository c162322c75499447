"""Natural order of names: qa2 before qa10, 0.5 before 5 before 20, numbers before words."""

import re

Key = tuple[tuple[int, float, str], ...]
_PART = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?|[^0-9]+|[0-9]+")


def natural(text: str) -> Key:
    """Return the sort key of a name.

    >>> sorted(["20", "sum", "5", "0.5", "qa10", "len", "qa2"], key=natural)
    ['0.5', '5', '20', 'len', 'qa2', 'qa10', 'sum']
    """
    parts = ((0, float(part), part) if part[0].isdecimal() else (1, 0.0, part) for part in _PART.findall(text))
    return tuple(parts) or ((1, 0.0, ""),)  # an empty name comes after numbers
