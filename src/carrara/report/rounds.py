"""Charts of how many facts survive rounds of compaction. reader_tables.py has the tables."""

from collections.abc import Sequence

from markupsafe import Markup

from carrara.report.chart import COMPACT, LABEL_GAP, WIDE, Frame, grid, names, text
from carrara.report.style import SeriesStyle, Styles, drawing, tag
from carrara.results.rounds import RoundRow, Survival
from carrara.util.quantities import count
from carrara.util.sanitize import short

FRAMES = {"wide": WIDE, "compact": COMPACT}
TICKS = 12
"""The most labels of the axis."""


def survival_charts(rows: Sequence[RoundRow], styles: Styles) -> list[tuple[str, list[Markup]]]:
    """Return the name of each task with its charts of survival by age, wide and compact, with a line for each series.

    A task all of whose facts went through one round has none.
    """
    drawn = []
    for task in dict.fromkeys(row.task for row in rows if len(row.ages) > 1):
        lines = [(styles[row.series], row.ages) for row in rows if row.task == task and row.ages]
        name = short(task) or "All tasks"
        drawn.append((name, [_chart(name, lines, frame, kind) for kind, frame in FRAMES.items()]))
    return drawn


def _chart(task: str, lines: Sequence[tuple[SeriesStyle, Sequence[Survival]]], frame: Frame, kind: str) -> Markup:
    last = max(survivals[-1].age for _, survivals in lines)
    step = -(-last // TICKS)
    parts = [
        *grid(frame, "facts kept"),
        *(
            text(str(age), frame.x((age - 0.5) / last), frame.y(0) + 20, "tick", "middle")
            for age in range(step, last + 1, step)
        ),
        text("rounds since a fact was read", frame.x(1), frame.y(0) + 41, "axis", "end"),
    ]
    for style, survivals in lines:
        points = [(frame.x((survival.age - 0.5) / last), survival) for survival in survivals]
        marks = [
            tag("g", tag("title", _in_words(style, one)), style.marker(x, frame.y(one.share))) for x, one in points
        ]
        path = "M" + "L".join(f"{x:.1f} {frame.y(one.share):.1f}" for x, one in points)
        line = tag("path", d=path, class_=f"line {style.line_class}")
        parts.append(tag("g", line, *marks, data_series=style.number, class_="series"))
    if frame.has_names and len(lines) * LABEL_GAP < frame.y(0) - frame.y(1):
        parts += names(frame, [(style, frame.y(survivals[-1].share)) for style, survivals in lines])
    title = f"{task}: needed facts that are kept, by rounds of compaction"
    about = "; ".join(f"{style.name}: {_in_words(style, survivals[-1])}" for style, survivals in lines)
    return drawing(title, about, frame.width, frame.height, *parts, class_=f"chart {kind}")


def _in_words(style: SeriesStyle, survival: Survival) -> str:
    interval = f"{survival.low:.2f} to {survival.high:.2f}"
    rounds, facts = count(survival.age, "round"), count(survival.facts, "fact")
    return f"{style.name}, {rounds}: {survival.share:.2f} ({interval}, {facts})"
