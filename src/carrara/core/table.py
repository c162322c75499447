"""A plain table, as lines: numbers to the right, no colours, so that it can be piped."""

from collections.abc import Iterable, Iterator, Sequence


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """
    >>> for line in table(["test", "n"], [["qa1", "12"]]):
    ...     print(line)
    test  n
    ----  --
    qa1   12
    """
    cells = [list(columns), *(list(row) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    for n, row in enumerate(cells):
        shown = [
            text.rjust(width) if n and text[:1].isdigit() else text.ljust(width)
            for text, width in zip(row, widths, strict=True)
        ]
        yield "  ".join(shown).rstrip()
        if n == 0:
            yield "  ".join("-" * width for width in widths)
