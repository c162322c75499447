"""Draw figures as SVG, with the primitives and the style of the report's charts.

A function for each form draws one panel. `svg` places the panels, and adds title, notes and key.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from textwrap import wrap
from typing import NamedTuple

from markupsafe import Markup

from carrara.papers.figures.figure import Figure, Form, Mark
from carrara.report import chart
from carrara.report.chart import Frame, text
from carrara.report.style import COLOURS, DARK, DASHES, FONT, LIGHT, SeriesStyle, drawing, number, tag
from carrara.results import Series
from carrara.util.sanitize import both_ends, short

NAME = 60
"""The most characters of a model's name."""
LINE = 120
"""The most characters of a line of a note."""
LETTER = 6.6
"""The width of a letter of 12 pixels in a wide font."""
GAP = 28
"""The space between panels, and around the figure."""
LEAST = 600
"""The width that a key may fill even if the panels are narrower."""
ROOM = 26
"""The number of columns of grids that stand side by side."""
HEAT = ("#e9ebed", "#9fc3de", "#2a74ae", "#0d3f6b")
"""Colours of a grid of scores from 0 to 1. They are the same in dark mode."""
DIVERGING = ("#a3400c", "#e9ebed", "#0c518b")
"""Colours of a grid of correlations from -1 to 1."""

X = float | str


class Panel(NamedTuple):
    """A part of a figure with axes of its own."""

    frame: Frame
    parts: Sequence[Markup]


class Scale(NamedTuple):
    """An axis."""

    share: Callable[[X], float]
    """The position of a value, from 0 to 1."""
    ticks: Mapping[float, str]
    """Labels, by their positions."""


class Drawing:
    """A figure with the style of each series.

    The user's models are coloured and have a marker each; published ones beside them are grey. The parts of a model
    have its colour, different dashes, and decreasing opacity.
    """

    def __init__(self, figure: Figure) -> None:
        self.figure = figure
        models = list(dict.fromkeys(mark.model for mark in figure.marks))
        self.parts = list(dict.fromkeys(mark.part for mark in figure.marks))
        published = {mark.model for mark in figure.marks if mark.published}
        pale = published if published < set(models) else set[str]()
        self.models = sorted(models, key=lambda model: model in pale)
        pairs = {(mark.model, mark.part) for mark in figure.marks}
        self.styles = {
            pair: self._style(number, *pair, pair[0] in pale)
            for number, pair in enumerate((m, p) for m in self.models for p in self.parts if (m, p) in pairs)
        }

    def _style(self, number: int, model: str, part: str, is_pale: bool) -> SeriesStyle:
        place, rank = self.models.index(model), self.parts.index(part)
        variant = rank if len(self.parts) > 1 else place // COLOURS
        full = f"{model}, {part}" if part else model
        return SeriesStyle(
            number=number,
            series=Series(model, part),
            name=short(full, NAME),
            full=full,
            colour=place % COLOURS,
            shape=place + variant,
            dash=min(variant, len(DASHES) - 1),
            opacity=1 - 0.65 * rank / max(1, len(self.parts) - 1),
            is_pale=is_pale,
        )

    def style(self, mark: Mark) -> SeriesStyle:
        return self.styles[mark.model, mark.part]

    def series(self, marks: Iterable[Mark]) -> list[tuple[SeriesStyle, list[Mark]]]:
        """Return the marks of each series, in the order of the key."""
        marks_by_style: dict[SeriesStyle, list[Mark]] = {style: [] for style in self.styles.values()}
        for mark in marks:
            marks_by_style[self.style(mark)].append(mark)
        return [(style, style_marks) for style, style_marks in marks_by_style.items() if style_marks]

    def label(self, mark: Mark) -> str:
        return mark.label or (f"{100 * mark.value:.0f}" if self.figure.maximum == 1 else f"{mark.value:g}")


def svg(figure: Figure, is_file: bool = True) -> str:
    """Draw a figure.

    Args:
        is_file: Whether the picture is a file of its own, which brings its style sheet. Pages have it already.
    """
    shared = Drawing(figure)
    draw, per_row = _FORMS[figure.form]
    if figure.form in ("heat", "matrix"):
        per_row = max(1, ROOM // len(figure.columns))
    notes = [line for note in figure.notes for line in wrap(note, LINE)]
    parts = [text(figure.title, 0, 14, "title"), *(text(line, 0, 36 + 16 * i, "axis") for i, line in enumerate(notes))]
    width, y = max(_wide(line, 12.5) for line in (figure.title, *notes)), 44.0 + 16 * len(notes)
    for start in range(0, len(figure.panels), per_row):
        names = figure.panels[start : start + per_row]
        panels = [
            draw(shared, [mark for mark in figure.marks if mark.panel == name], name == names[0]) for name in names
        ]
        x, top = 0.0, y + (20 if any(names) else 0)
        for name, (frame, drawn) in zip(names, panels, strict=True):
            head = both_ends(name, int((frame.width - frame.left) / LETTER))
            parts.append(text(head, x + (frame.left + frame.x(1)) / 2, y + 12, "head", "middle"))
            parts.append(tag("g", *drawn, transform=f"translate({number(x)} {number(top)})"))
            x += frame.width + GAP
        width, y = max(width, x - GAP), top + max(frame.height for frame, _ in panels) + GAP
    key, width, bottom = _key(shared, width, y)
    width, height = width + 2 * GAP, bottom + 2 * GAP
    paper = tag("rect", width=width, height=height, class_="paper")
    return drawing(
        figure.title,
        f"{figure.y_label} by {figure.x_label}",
        width,
        height,
        *([tag("style", Markup(_style_sheet()))] if is_file else []),
        paper,
        tag("g", *parts, *key, transform=f"translate({GAP} {GAP})"),
        class_="chart figure",
        style=f"width: {number(width)}px; max-width: 100%",
        xmlns="http://www.w3.org/2000/svg",
    )


def _style_sheet() -> str:
    """Return the style of charts for figures alone, with its colours written out.

    Not all programs know custom properties, and a notebook has other elements of these classes.
    """

    def written(colours: Mapping[str, str]) -> str:
        named = {**colours, "sans": FONT}
        rules = (
            re.sub(r"var\(--([\w-]+)\)", lambda name: named[name[1]], rule) for rule in chart.css().splitlines()[2:]
        )
        return "\n".join(map(_within_figure, rules))  # without the first two rules, which define the colours

    return f"{written(LIGHT)}\n@media (prefers-color-scheme: dark) {{\n{written(DARK)}\n}}"


def _within_figure(rule: str) -> str:
    """
    >>> _within_figure(".chart .tick, .grid { fill: red; }")
    '.figure.chart .tick, .figure .grid { fill: red; }'
    """
    selectors, brace, body = rule.partition("{")
    parts = (part.strip() for part in selectors.split(","))
    return ", ".join(f".figure{'' if part.startswith('.chart') else ' '}{part}" for part in parts) + f" {brace}{body}"


def _wide(label: str, size: float = 12) -> float:
    return len(label) * LETTER * size / 12


def _key(shared: Drawing, width: float, y: float) -> tuple[list[Markup], float, float]:
    """Return the key of the series in columns, and the width and the height up to its end."""
    form, entries = shared.figure.form, list[tuple[Markup, str]]()
    if form == "stack":
        entries = [(_swatch(f"s{n % COLOURS}"), part) for n, part in enumerate(shared.parts)]
    elif form == "bars":
        entries = [(_swatch(style.colour_name, style.opacity), style.name) for style in shared.styles.values()]
    elif form not in ("heat", "matrix", "histogram"):
        for style in shared.styles.values():
            stroke = tag("path", d="M0 0H24", class_=f"line {style.line_class}")
            drawn = [] if form in ("scatter", "dots") else [stroke]
            entries.append((tag("g", *drawn, *([] if form == "radar" else [style.marker(12, 0)])), style.name))
    if not entries:
        return [], width, y - GAP
    column = 48 + max(_wide(name) for _, name in entries)
    columns = max(1, int((max(width, LEAST) + 16) / column))
    rows = -(-len(entries) // columns)
    drawn = []
    for place, (swatch, name) in enumerate(entries):
        left, row = place // rows * column, place % rows
        label = text(name, 32, 4, "label")
        drawn.append(tag("g", swatch, label, transform=f"translate({number(left)} {number(y + 20 * row + 4)})"))
    return drawn, max(width, column * -(-len(entries) // rows) - 16), y + 20 * rows - 8


def _swatch(css_class: str, opacity: float = 1) -> Markup:
    return tag("rect", x=6, y=-6, width=12, height=12, class_=f"block {css_class}", fill_opacity=f"{opacity:.2f}")


# --- axes ---


def _x_scale(figure: Figure) -> Scale:
    """Return the axis of x: names at equal distances, lengths by their logarithm, or numbers."""
    columns = figure.columns
    if figure.x_kind == "names":
        places = {x: (n + 0.5) / len(columns) for n, x in enumerate(columns)}
        return Scale(lambda x: places[x], {place: str(x) for x, place in places.items()})
    if figure.x_kind == "numbers":
        low, high = (float(end) for end in (columns[0], columns[-1]))
        return _linear(low, high)
    low, high = (math.log1p(float(end) / 1024) for end in (columns[0], columns[-1]))

    def share(x: X) -> float:
        return 0.5 if high == low else 0.04 + 0.92 * (math.log1p(float(x) / 1024) - low) / (high - low)

    return Scale(share, {share(x): figure.format_x(x) for x in columns})


def _y_scale(figure: Figure, marks: Sequence[Mark]) -> Scale:
    if figure.maximum is not None:
        return _linear(0, figure.maximum, exact=True)
    ends = [end for mark in marks for end in (mark.value, mark.low, mark.high) if end is not None]
    return _linear(min(0, *ends, *figure.levels.values()), max(0, *ends, *figure.levels.values()))


def _linear(low: float, high: float, exact: bool = False) -> Scale:
    """Return an axis of numbers that begins and ends at ticks, or exactly at the given limits."""
    rough = (high - low or 1) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * n for n in (1, 2, 2.5, 5, 10) if power * n >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last += last == first
    begin, end = (low, high) if exact else (first * step, last * step)

    def share(x: X) -> float:
        return (float(x) - begin) / (end - begin)

    return Scale(
        share, {share(n * step): f"{n * step:,.6g}" for n in range(first, last + 1) if share(n * step) <= 1.001}
    )


def _axes(figure: Figure, x: Scale, y: Scale, width: float, height: float) -> Panel:
    """Return a panel with its axes. The labels of x are turned where they have no room."""
    left = 14 + max(_wide(label) for label in y.ticks.values())
    labels = {place: both_ends(label, 36) for place, label in x.ticks.items()}
    longest = max(map(_wide, labels.values()))
    turned = figure.x_kind == "names" and longest > 0.85 * width / len(labels)
    depth = 10 + 0.5 * longest if turned else 20.0
    if turned:
        left = max(left, 0.87 * longest - min(labels) * width)
    frame = Frame(left + width + 12, 24 + height + depth + 26, 12, left, 24, depth + 26)
    parts = [text(figure.y_label, max(left - 8, _wide(figure.y_label)), 10, "axis", "end")]
    for place, label in y.ticks.items():
        parts.append(frame.across(place, "grid" if place else "grid base"))
        parts.append(text(label, frame.left - 8, frame.y(place) + 4, "tick", "end"))
    end = -math.inf
    for place, label in sorted(labels.items()):
        centre, foot = frame.x(place), frame.y(0)
        if turned:
            turn = f"rotate(-30 {number(centre)} {number(foot + 14)})"
            parts.append(tag("text", label, x=centre, y=foot + 14, text_anchor="end", class_="tick", transform=turn))
        elif centre - _wide(label) / 2 > end:
            parts.append(text(label, centre, foot + 18, "tick", "middle"))
            end = centre + _wide(label) / 2 + 4
    parts.append(text(figure.x_label, frame.x(1), frame.height - 6, "axis", "end"))
    for name, value in figure.levels.items():
        parts.append(frame.across(y.share(value), "chance_level"))
        parts.append(text(name, frame.x(1) - 3, frame.y(y.share(value)) - 5, "tick halo", "end"))
    return Panel(frame, parts)


def _whisker(frame: Frame, y: Scale, x: float, mark: Mark, css_class: str) -> list[Markup]:
    if mark.low is None or mark.high is None:
        return []
    low, high = (frame.y(y.share(end)) for end in (mark.low, mark.high))
    path = f"M{x - 3:.1f} {high:.1f}h6M{x:.1f} {high:.1f}V{low:.1f}M{x - 3:.1f} {low:.1f}h6"
    return [tag("path", d=path, class_=f"whisker {css_class}")]


def _point(style: SeriesStyle, mark: Mark, x: float, y: float) -> Markup:
    return tag("g", tag("title", f"{style.name}: {mark.value:g}"), style.marker(x, y))


# --- the forms ---


def _curves(shared: Drawing, marks: Sequence[Mark], first: bool) -> Panel:
    figure = shared.figure
    x, y = _x_scale(figure), _y_scale(figure, figure.marks)
    frame, parts = _axes(figure, x, y, 320, 230)
    drawn, points = list(parts), list[Markup]()
    for style, style_marks in reversed(shared.series(marks)):  # the user's own models stand on top
        placed = sorted((frame.x(x.share(mark.x)), frame.y(y.share(mark.value)), mark) for mark in style_marks)
        path = "M" + "L".join(f"{left:.1f} {top:.1f}" for left, top, _ in placed)
        drawn.append(tag("path", d=path, class_=f"line {style.line_class}"))
        for left, top, mark in placed:
            drawn += _whisker(frame, y, left, mark, style.colour_name)
            points.append(_point(style, mark, left, top))
    return Panel(frame, [*drawn, *points])


def _scatter(shared: Drawing, marks: Sequence[Mark], first: bool) -> Panel:
    figure = shared.figure
    x, y = _x_scale(figure), _y_scale(figure, figure.marks)
    frame, parts = _axes(figure, x, y, 320, 230)
    drawn = list(parts)
    for mark in sorted(marks, key=lambda mark: -shared.style(mark).number):
        left, top, style = frame.x(x.share(mark.x)), frame.y(y.share(mark.value)), shared.style(mark)
        drawn.append(_point(style, mark, left, top))
        if mark.label:
            at_end = left + 8 + _wide(mark.label) > frame.x(1) + frame.right
            drawn.append(
                text(mark.label, left + (-8 if at_end else 8), top + 4, "tick halo", "end" if at_end else "start")
            )
    return Panel(frame, drawn)


def _dots(shared: Drawing, marks: Sequence[Mark], first: bool) -> Panel:
    """Draw a point for each model, and a line at their median."""
    figure = shared.figure
    x, y = _x_scale(figure), _y_scale(figure, figure.marks)
    frame, parts = _axes(figure, x, y, 38 * len(figure.columns), 240)
    drawn = list(parts)
    for name in figure.columns:
        column_marks = [mark for mark in marks if mark.x == name]
        left = frame.x(x.share(name))
        drawn += [_point(shared.style(mark), mark, left, frame.y(y.share(mark.value))) for mark in column_marks]
        middle = frame.y(y.share(median(mark.value for mark in column_marks)))
        drawn.append(tag("line", x1=left - 11, x2=left + 11, y1=middle, y2=middle, class_="median"))
    return Panel(frame, drawn)


def _bars(shared: Drawing, marks: Sequence[Mark], first: bool) -> Panel:
    figure, n = shared.figure, len(shared.styles)
    x, y = _x_scale(figure), _y_scale(figure, figure.marks)
    thick = max(9, 40 // n)
    frame, parts = _axes(figure, x, y, max(120, len(figure.columns) * thick * (n + 0.8)), 220)
    drawn = list(parts)
    for mark in marks:
        style = shared.style(mark)
        left = frame.x(x.share(mark.x)) + (style.number - n / 2) * thick
        base, top = frame.y(y.share(0)), frame.y(y.share(mark.value))
        tooltip = tag("title", f"{style.name}, {mark.x}: {mark.value:g}")
        drawn.append(
            tag("rect", tooltip, x=left + 0.5, y=min(base, top), width=thick - 1, height=abs(base - top),
                class_=f"block {style.colour_name}", fill_opacity=f"{style.opacity:.2f}")
        )  # fmt: skip
        drawn += _whisker(frame, y, left + thick / 2, mark, "ink")
    return Panel(frame, drawn)


def _histogram(shared: Drawing, marks: Sequence[Mark], first: bool) -> Panel:
    figure = shared.figure
    steps = sorted({float(mark.x) for mark in figure.marks})
    step_width = min((b - a for a, b in pairwise(steps)), default=1.0)
    x, y = _linear(steps[0], steps[-1] + step_width), _y_scale(figure, figure.marks)
    frame, parts = _axes(figure, x, y, 320, 200)
    base, drawn = frame.y(y.share(0)), list(parts)
    for mark in marks:
        left, right, top = (
            frame.x(x.share(mark.x)),
            frame.x(x.share(float(mark.x) + step_width)),
            frame.y(y.share(mark.value)),
        )
        tooltip = tag("title", f"{figure.format_x(mark.x)}: {mark.value:g}")
        drawn.append(
            tag("rect", tooltip, x=left + 0.5, y=top, width=right - left - 1, height=base - top, class_="block s0")
        )
    return Panel(frame, drawn)


def _rows(names: Sequence[str], left: float, height: float) -> list[Markup]:
    """Return names to the left of the rows of a panel."""
    return [text(name, left - 8, height * (n + 0.5) + 4, "tick", "end") for n, name in enumerate(names)]


def _stack(shared: Drawing, marks: Sequence[Mark], first: bool) -> Panel:
    """Draw one bar for each model, divided into its parts."""
    names, height = [short(model, NAME) for model in shared.models], 20.0
    left = 12 + max(map(_wide, names))
    x = _linear(0, 1, exact=True)
    frame = Frame(left + 400, height * len(names) + 44, 20, left, 0, 44)
    drawn = [*_rows(names, left, height), text(shared.figure.y_label, frame.x(1), frame.height - 6, "axis", "end")]
    for place, label in x.ticks.items():
        drawn.append(frame.upright(frame.x(place), "grid" if place else "grid base"))
        drawn.append(text(label, frame.x(place), frame.y(0) + 18, "tick", "middle"))
    ends = dict.fromkeys(shared.models, 0.0)
    for mark in sorted(marks, key=lambda mark: shared.parts.index(mark.part)):
        begin, rank = ends[mark.model], shared.parts.index(mark.part)
        ends[mark.model] += mark.value
        tooltip = tag("title", f"{mark.model}, {mark.part}: {mark.value:g}")
        x0, x1, y0 = frame.x(begin), frame.x(ends[mark.model]), height * shared.models.index(mark.model) + 2
        block = f"block s{rank % COLOURS}"
        drawn.append(tag("rect", tooltip, x=x0, y=y0, width=x1 - x0, height=height - 4, class_=block))
    return Panel(frame, drawn)


def _heat(shared: Drawing, marks: Sequence[Mark], first: bool) -> Panel:
    return _grid(shared, marks, first, shared.figure.columns, lambda value: (HEAT, value, value > 0.6))


def _matrix(shared: Drawing, marks: Sequence[Mark], first: bool) -> Panel:
    models, columns = list(dict.fromkeys(mark.model for mark in shared.figure.marks)), shared.figure.columns
    columns = [*models] if set(models) == set(columns) else columns
    return _grid(shared, marks, first, columns, lambda value: (DIVERGING, (value + 1) / 2, abs(value) > 0.6))


def _grid(
    shared: Drawing,
    marks: Sequence[Mark],
    first: bool,
    columns: Sequence[X],
    shade: Callable[[float], tuple[Sequence[str], float, bool]],
) -> Panel:
    """Draw a cell for each model and x. Only the first panel of a row has the names of models."""
    figure, height = shared.figure, 22.0
    rows = list(dict.fromkeys((mark.model, mark.part) for mark in figure.marks))
    names = [short(f"{model}, {part}" if part else model, NAME) for model, part in rows]
    heads = [both_ends(figure.format_x(x), 36) for x in columns]
    width = max(38, 7 + LETTER * max(len(shared.label(mark)) for mark in figure.marks))
    turned = max(map(_wide, heads)) > width - 4
    left = 12 + max(map(_wide, names)) if first else 0.0
    depth = (14 + 0.65 * max(map(_wide, heads))) if turned else 20
    if turned:
        left = max(left, 0.77 * max(map(_wide, heads)) - width / 2)
    bottom = depth + (26 if figure.x_label else 4)
    frame = Frame(left + width * len(columns), height * len(rows) + bottom, 0, left, 0, bottom)
    drawn = [
        *(_rows(names, left, height) if first else ()),
        text(figure.x_label, frame.x(1), frame.height - 6, "axis", "end"),
    ]
    for n, head in enumerate(heads):
        centre, foot = left + (n + 0.5) * width, frame.y(0) + (14 if turned else 18)
        turn = {"transform": f"rotate(-40 {number(centre)} {number(foot)})"} if turned else {}
        drawn.append(
            tag("text", head, x=centre, y=foot, text_anchor="end" if turned else "middle", class_="tick", **turn)
        )
    for mark in marks:
        x = left + width * columns.index(mark.x)
        y = height * rows.index((mark.model, mark.part))
        colours, share, is_dark = shade(mark.value)
        drawn.append(tag("rect", x=x, y=y, width=width - 1, height=height - 1, fill=_mix(colours, share)))
        ink = "cell on-dark" if is_dark else "cell on-light"
        drawn.append(text(shared.label(mark), x + width / 2, y + height / 2 + 4, ink, "middle"))
    return Panel(frame, drawn)


def _mix(colours: Sequence[str], share: float) -> str:
    """Return the colour at a place between several.

    >>> _mix(("#000000", "#ffffff"), 0.5), _mix(("#000000", "#ffffff"), 7)
    ('#808080', '#ffffff')
    """
    place = min(1.0, max(0.0, share)) * (len(colours) - 1)
    before = min(int(place), len(colours) - 2)
    pairs = zip(*(bytes.fromhex(colour[1:]) for colour in colours[before : before + 2]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (place - before)):02x}" for a, b in pairs)


def _radar(shared: Drawing, marks: Sequence[Mark], first: bool) -> Panel:
    """Draw categories around a circle, with a closed line for each model."""
    names, radius = [str(x) for x in shared.figure.columns], 150.0
    side = 16 + max(map(_wide, names))
    frame = Frame(2 * (radius + side), 2 * radius + 60, 0, 0, 0, 0)
    middle = (radius + side, radius + 30)

    def place(name: str, share: float) -> tuple[float, float]:
        angle = 2 * math.pi * names.index(name) / len(names)
        return middle[0] + radius * share * math.sin(angle), middle[1] - radius * share * math.cos(angle)

    def outline(shares: Mapping[str, float], css_class: str) -> Markup:
        points = " ".join(f"{number(x)},{number(y)}" for x, y in (place(name, shares[name]) for name in shares))
        return tag("polygon", points=points, class_=css_class)

    rings = (0.25, 0.5, 0.75, 1.0)
    drawn = [outline(dict.fromkeys(names, ring), "line ring") for ring in rings]
    drawn += [text(f"{ring:g}", middle[0] + 4, middle[1] - radius * ring - 3, "tick halo") for ring in rings[:-1]]
    for name in names:
        x, y = place(name, 1.14)
        anchor = "middle" if abs(x - middle[0]) < 2 else "start" if x > middle[0] else "end"
        drawn.append(text(name, x, y + 4, "label", anchor))
    for style, style_marks in shared.series(marks):
        scores = {str(mark.x): mark.value for mark in style_marks}
        drawn.append(outline({name: scores[name] for name in names if name in scores}, f"line {style.line_class}"))
    return Panel(frame, drawn)


_FORMS: Mapping[Form, tuple[Callable[[Drawing, Sequence[Mark], bool], Panel], int]] = {
    "curves": (_curves, 2),
    "heat": (_heat, 1),
    "bars": (_bars, 2),
    "stack": (_stack, 1),
    "matrix": (_matrix, 1),
    "scatter": (_scatter, 2),
    "dots": (_dots, 1),
    "histogram": (_histogram, 2),
    "radar": (_radar, 1),
}
"""The function of each form, and the number of its panels in a row."""
