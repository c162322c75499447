"""Spans of a context, and which facts they have."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

Span = tuple[int, int]
"""The characters from the first number up to the one before the second."""


def merge(text: str, spans: Iterable[Span]) -> list[Span]:
    """Return spans in order. Those that overlap, or have only white space between them, become one.

    >>> merge("one two three", [(8, 13), (0, 3), (4, 7)])
    [(0, 13)]
    """
    merged: list[Span] = []
    for start, end in sorted(spans):
        last = merged[-1][1] if merged else -1
        if merged and (start <= last or (text[last].isspace() and text[last:start].isspace())):
            merged[-1] = merged[-1][0], max(last, end)
        else:
            merged.append((start, end))
    return merged


def covers(text: str, merged: Sequence[Span], span: Span) -> bool:
    """Return whether merged spans have each character of another one, white space at its ends aside.

    >>> covers("one two three", [(0, 7)], (3, 7)), covers("one two three", [(0, 7)], (4, 10))
    (True, False)
    """
    start, end = span
    part = text[start:end]
    start, end = start + len(part) - len(part.lstrip()), start + len(part.rstrip())
    place = bisect_right(merged, start, key=lambda merged_span: merged_span[0]) - 1
    return place >= 0 and end <= merged[place][1]
