"""Differences with their intervals, one below the other, about the line where there is none."""

from collections.abc import Sequence

from markupsafe import Markup

from carrara.comparison.statistics import Comparison
from carrara.core.lengths import write_length
from carrara.results.sanitize import both_ends
from carrara.results.svg import drawing, tag

WIDTH, ROW, TOP, BOTTOM = 640.0, 26.0, 10.0, 40.0
LEFT, RIGHT = 190.0, 30.0
LABEL = 26
"""Letters of a row's name."""


def forest(title: str, rows: Sequence[Comparison], margin: float | None = None) -> Markup:
    """`margin` is drawn where the second may fall behind by so much."""
    ends = [abs(end) for row in rows for end in (row.low, row.high, row.difference) if end is not None]
    most = min(1.0, max([*ends, margin or 0.0, 0.05]) * 1.1)
    height = TOP + ROW * len(rows) + BOTTOM

    def x(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value + most) / (2 * most)

    step = next(one for one in (0.02, 0.05, 0.1, 0.2, 0.5) if one >= most / 3)
    ticks = [n * step for n in range(-int(most / step), int(most / step) + 1)]
    foot = TOP + ROW * len(rows)
    parts = [
        part
        for tick in ticks
        for part in (
            tag("line", x1=x(tick), x2=x(tick), y1=TOP, y2=foot, class_="zero" if tick == 0 else "grid"),
            tag(
                "text", f"{tick:+.2g}".replace("-", "−") if tick else "0", x=x(tick), y=foot + 16, text_anchor="middle"
            ),
        )
    ]
    parts.append(tag("text", "difference, second minus first", x=x(0), y=foot + 34, text_anchor="middle"))
    if margin is not None and margin < most:
        parts.append(tag("line", x1=x(-margin), x2=x(-margin), y1=TOP, y2=foot, class_="margin"))
    for place, row in enumerate(rows):
        y = TOP + ROW * (place + 0.5)
        name = both_ends(row.test or "all tests", LABEL)
        at = f" {write_length(row.length)}" if row.length is not None else ""
        clear = row.verdict() in ("better", "worse")
        parts.append(tag("text", f"{name}{at}", x=LEFT - 12, y=y + 4, text_anchor="end"))
        if row.low is not None and row.high is not None:
            parts.append(
                tag("line", x1=x(row.low), x2=x(row.high), y1=y, y2=y, class_="span clear" if clear else "span")
            )
        parts.append(
            tag("circle", cx=x(row.difference), cy=y, r=5 if clear else 4, class_="dot clear" if clear else "dot")
        )
    said = "; ".join(f"{row.test or 'all'} {row.difference:+.2f}" for row in rows[:6])
    return drawing(title, said, WIDTH, height, *parts, class_="chart forest")
