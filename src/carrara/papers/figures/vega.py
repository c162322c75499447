"""Draw figures with Vega-Altair, one function for each form, without a browser and without a network."""

import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from math import cos, pi, sin
from statistics import median
from textwrap import wrap
from typing import Any

from carrara.papers.figures.figure import Figure, Form, Mark
from carrara.report.style import COLOURS, DARK, DASHES, FONT, LIGHT, MARKER_SIZE, SeriesStyle
from carrara.results import Series
from carrara.util.errors import RunError
from carrara.util.sanitize import short

INSTALL = "pip install 'carrara[figures]'"
NAME = 60
"""The most characters of a model's name."""
LINE = 120
"""The most characters of a line of a note."""
COLUMNS, COLUMN = 26, 36
"""The number of columns in a row of a grid, and the width of one."""
PADDING = {"left": 16, "top": 8, "right": 28, "bottom": 8}
"""The factor for a font that is wider than the measured one."""
MARKER = 72
"""The area of a marker."""
HEAT = [LIGHT["ground"], "#9fc3de", LIGHT["heat"], "#0d3f6b"]
"""Colours of a grid of scores from 0 to 1."""
DIVERGING = ["#a3400c", LIGHT["ground"], LIGHT["s0"]]
"""Colours of a grid of correlations from -1 to 1."""
ON_LIGHT, ON_DARK = "#1a1a1a", "white"
"""Colours of the numbers in a grid. They are the same in dark mode, because the cells are."""
_DESCRIPTIONS = re.compile(r' (?:aria-label|aria-roledescription|role|aria-hidden|pointer-events)="[^"]*"')
_TAG, _LONG, _NUMBER = re.compile(r"<[^>]*>"), re.compile(r"-?\d+\.\d\d+"), re.compile(r"-?\d+(?:\.\d+)?")


def chart(figure: Figure) -> Any:
    """Return the chart of Vega-Altair with title, panels, keys and notes."""
    drawn = _BUILDERS[figure.form](_altair(), figure)
    title = {
        "text": figure.title,
        "subtitle": [line for note in figure.notes for line in wrap(note, LINE)],
        "anchor": "start",
        "color": LIGHT["text"],
        "subtitleColor": LIGHT["muted"],
    }
    text = {"labelColor": LIGHT["muted"], "titleColor": LIGHT["muted"], "titleFontWeight": "normal", "labelLimit": 320}
    return (
        drawn.properties(title=title, background=LIGHT["surface"], padding=PADDING)
        .configure(font=FONT)
        .configure_view(strokeWidth=0)
        .configure_axis(
            grid=True,
            gridColor=LIGHT["rule"],
            domainColor=LIGHT["rule-strong"],
            tickColor=LIGHT["rule-strong"],
            **text,
        )
        .configure_legend(labelLimit=320, labelColor=LIGHT["text"], symbolLimit=0, symbolStrokeWidth=2, symbolSize=90)
        .configure_title(fontSize=13, subtitleFontSize=11, offset=12)
        .configure_header(title=None, labelFontSize=12, labelFontWeight="bold", labelColor=LIGHT["text"])
    )


def svg(figure: Figure) -> str:
    """Draw the figure as SVG.

    Coordinates have one decimal, and marks have no description, because the table has their values.
    """
    drawn = str(_converter().vegalite_to_svg(chart(figure).to_json(), vl_version=_version()))
    drawn = _DESCRIPTIONS.sub("", drawn)
    return _TAG.sub(lambda tag: _LONG.sub(_round, tag[0]), drawn)


def _round(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")


def png(figure: Figure, scale: float = 2) -> bytes:
    return bytes(_converter().vegalite_to_png(chart(figure).to_json(), vl_version=_version(), scale=scale))


def dark_css() -> str:
    """Return CSS that gives the SVG of a figure, inside a page, the colours of dark mode."""
    pairs = {LIGHT[name]: DARK[name] for name in LIGHT if name != "ground"}
    rules = [
        f'svg [{attribute}="{light}"] {{ {attribute}: {dark}; }}'
        for light, dark in pairs.items()
        for attribute in ("fill", "stroke")
    ]
    return f"@media (prefers-color-scheme: dark) {{ {' '.join(rules)} }}"


def missing() -> bool:
    """Return whether a package for drawing pictures is missing."""
    return not all(map(find_spec, ("altair", "vl_convert")))


def _altair() -> Any:
    try:
        import altair
    except ImportError:
        raise RunError(f"to draw a figure takes Vega-Altair: {INSTALL}") from None
    altair.data_transformers.disable_max_rows()
    return altair


def _converter() -> Any:
    _altair()
    try:
        import vl_convert
    except ImportError:
        raise RunError(f"to draw a figure takes vl-convert: {INSTALL}") from None
    return vl_convert


def _version() -> str:
    return ".".join(str(_altair().SCHEMA_VERSION).removeprefix("v").split(".")[:2])


# --- what is common to the forms ---


class _Encodings:
    """Return the colour, dash, marker and opacity of each series, as encodings of Vega-Altair."""

    def __init__(self, alt: Any, figure: Figure) -> None:
        styles = _styles(figure)
        self.names = [style.name for style in styles]

        def scale(value: Callable[[SeriesStyle], Any], **more: Any) -> Any:
            return alt.Scale(domain=self.names, range=list(map(value, styles)), **more)

        common = {"shorthand": "model:N", "title": None, "sort": None}
        self.colour = alt.Color(**common, scale=scale(lambda style: LIGHT[style.colour_name]))
        self.marker = alt.Shape(**common, scale=scale(lambda style: _marker(style.path)))
        self.opacity = alt.Opacity(**common, scale=scale(lambda style: style.opacity, type="ordinal"))
        self._dashes = {style.name: style.dash for style in styles}

    def lines(self, alt: Any, **encodings: Any) -> list[Any]:
        """Return one layer for each dash. With dashes as an encoding, the legend would draw its markers dashed."""
        layers = []
        for dash in sorted(set(self._dashes.values())):
            names = [name for name in self.names if self._dashes[name] == dash]
            chosen = alt.Chart().transform_filter(alt.FieldOneOfPredicate("model", names))
            line = chosen.mark_line(
                strokeDash=list(DASHES[dash] or (1, 0)), strokeWidth=2.25, strokeCap="round", strokeJoin="round"
            )
            layers.append(line.encode(**encodings, color=self.colour))
        return layers


def _styles(figure: Figure) -> list[SeriesStyle]:
    """Return the style of each series: own models in colour with a marker each, published ones in grey.

    The parts of a model have its colour, different dashes, and decreasing opacity.
    """
    models = list(dict.fromkeys(mark.model for mark in figure.marks))
    parts = list(dict.fromkeys(mark.part for mark in figure.marks))
    published = {mark.model for mark in figure.marks if mark.published}
    pale = published if published < set(models) else set[str]()
    order = sorted(models, key=lambda model: model in pale)
    found = {(mark.model, mark.part): _name(mark) for mark in figure.marks}
    pairs = sorted(found, key=lambda pair: (order.index(pair[0]), parts.index(pair[1])))
    styles = []
    for number, (model, part) in enumerate(pairs):
        place, rank = order.index(model), parts.index(part)
        variant = rank if len(parts) > 1 else place // COLOURS
        style = SeriesStyle(
            number=number,
            series=Series(model, part),
            name=found[model, part],
            full=f"{model}, {part}" if part else model,
            colour=place % COLOURS,
            shape=place + variant,
            dash=min(variant, len(DASHES) - 1),
            opacity=1 - 0.65 * rank / max(1, len(parts) - 1),
            is_pale=model in pale,
        )
        styles.append(style)
    return styles


def _marker(path: str) -> str:
    """Return a path in Vega's coordinates: a box from -1 to 1."""
    return _NUMBER.sub(lambda number: f"{float(number[0]) / MARKER_SIZE:g}", path)


def _name(mark: Mark) -> str:
    return short(f"{mark.model}, {mark.part}" if mark.part else mark.model, NAME)


def _data(alt: Any, figure: Figure) -> Any:
    return alt.Data(
        values=[
            {
                "model": _name(mark),
                "owner": short(mark.model, NAME),
                "part": mark.part,
                "panel": mark.panel,
                "x": mark.x,
                "value": mark.value,
                "low": mark.value if mark.low is None else mark.low,
                "high": mark.value if mark.high is None else mark.high,
                "n": mark.n,
                "label": mark.label or _label(figure, mark.value),
            }
            for mark in figure.marks
        ]
    )


def _label(figure: Figure, value: float) -> str:
    return f"{100 * value:.0f}" if figure.maximum == 1 else f"{value:g}"


def _add_panels(alt: Any, figure: Figure, layers: Sequence[Any], data: Any, columns: int = 3) -> Any:
    """Return layers, repeated for each panel."""
    whole = alt.layer(*layers, data=data)
    if figure.panels == [""]:
        return whole
    return whole.facet(alt.Facet("panel:N", sort=figure.panels, title=None), columns=min(columns, len(figure.panels)))


def _across(alt: Any, figure: Figure) -> Any:
    """Return an axis of lengths by their logarithm, from 0 on, with a tick for each length that was run."""
    if figure.x_kind == "names":
        return alt.X(
            "x:N",
            sort=[str(x) for x in figure.columns],
            title=figure.x_label,
            axis=alt.Axis(labelAngle=-30, grid=False),
        )
    ticks = [float(x) for x in figure.columns]
    names = json.dumps({f"{tick:.0f}": figure.format_x(tick) for tick in ticks})
    scale = alt.Scale(type="symlog", constant=1024) if figure.x_kind == "lengths" else alt.Scale(zero=False, nice=True)
    axis = alt.Axis(values=ticks, labelExpr=f"{names}['' + datum.value] || datum.value", labelOverlap=True)
    return alt.X("x:Q", title=figure.x_label, scale=scale, axis=axis if figure.x_kind == "lengths" else alt.Axis())


def _up(alt: Any, figure: Figure, field: str = "value:Q") -> Any:
    scale = alt.Scale(domain=[0, figure.maximum]) if figure.maximum is not None else alt.Scale(zero=True)
    return alt.Y(field, title=figure.y_label, scale=scale)


def _levels(alt: Any, figure: Figure) -> list[Any]:
    if not figure.levels:
        return []
    values = [{"level": value, "called": name} for name, value in figure.levels.items()]
    base = alt.Chart(alt.Data(values=values))
    rule = base.mark_rule(strokeDash=[2, 3], color=LIGHT["muted"]).encode(y="level:Q")
    text = base.mark_text(align="right", dx=-3, dy=-5, fontSize=10, color=LIGHT["muted"]).encode(
        y="level:Q", x=alt.value("width"), text="called:N"
    )
    return [rule, text]


# --- the forms ---


def _curves(alt: Any, figure: Figure) -> Any:
    series, base = _Encodings(alt, figure), alt.Chart()
    encoded = {"x": _across(alt, figure), "y": _up(alt, figure)}
    lines = series.lines(alt, **encoded)
    band = base.mark_rule(strokeWidth=1).encode(
        x=encoded["x"], y=_up(alt, figure, "low:Q"), y2="high:Q", color=series.colour
    )
    point = base.mark_point(filled=True, size=MARKER, opacity=1, stroke=LIGHT["surface"], strokeWidth=1).encode(
        **encoded, color=series.colour, shape=series.marker, tooltip=["model:N", "x:N", "value:Q", "n:Q"]
    )
    sized = [layer.properties(width=300, height=230) for layer in (*lines, band, point)]
    return _add_panels(alt, figure, [*sized, *_levels(alt, figure)], _data(alt, figure), 2)


def _heat(alt: Any, figure: Figure) -> Any:
    models = list(dict.fromkeys(_name(mark) for mark in figure.marks))
    columns = [figure.format_x(x) for x in figure.columns]
    data = _data(alt, figure)
    for value, mark in zip(data.values, figure.marks, strict=True):
        value["x"] = figure.format_x(mark.x)
    return _grid(alt, figure, data, models, columns, alt.Scale(domain=[0, 1], range=HEAT), "datum.value > 0.6")


def _matrix(alt: Any, figure: Figure) -> Any:
    names = list(dict.fromkeys(_name(mark) for mark in figure.marks))
    scale = alt.Scale(domain=[-1, 0, 1], range=DIVERGING)
    columns = names if set(names) == set(figure.columns) else [str(x) for x in figure.columns]
    return _grid(alt, figure, _data(alt, figure), names, columns, scale,
                 "abs(datum.value) > 0.7")  # fmt: skip


def _grid(
    alt: Any, figure: Figure, data: Any, rows: Sequence[str], columns: Sequence[str], scale: Any, dark: str
) -> Any:
    x = alt.X(
        "x:N",
        sort=list(columns),
        title=figure.x_label,
        axis=alt.Axis(labelAngle=0 if _narrow(columns) else -40, grid=False),
    )
    y = alt.Y("model:N", sort=list(rows), title=None, axis=alt.Axis(grid=False))
    longest = max(len(mark.label or _label(figure, mark.value)) for mark in figure.marks)
    size = {"width": alt.Step(max(COLUMN, 7 * longest)), "height": alt.Step(20)}
    cell = (
        alt.Chart()
        .mark_rect(stroke=LIGHT["surface"])
        .encode(x=x, y=y, color=alt.Color("value:Q", scale=scale, legend=None))
    )
    text = alt.Chart().mark_text(fontSize=11).encode(
        x=x, y=y, text="label:N", color=alt.condition(dark, alt.value(ON_DARK), alt.value(ON_LIGHT))
    )  # fmt: skip
    side_by_side = max(1, COLUMNS // len(columns))
    return _add_panels(alt, figure, [cell.properties(**size), text.properties(**size)], data, side_by_side)


def _narrow(columns: Sequence[str]) -> bool:
    return max(map(len, columns), default=0) <= 5


def _bars(alt: Any, figure: Figure) -> Any:
    series, base = _Encodings(alt, figure), alt.Chart()
    x = alt.X(
        "x:N",
        sort=[str(one) for one in figure.columns],
        title=figure.x_label,
        axis=alt.Axis(labelAngle=-30, grid=False),
    )
    offset = alt.XOffset("model:N", sort=series.names)
    width = alt.Step(max(9, 40 // max(1, len(series.names))))
    bar = base.mark_bar().encode(x=x, xOffset=offset, y=_up(alt, figure), color=series.colour, opacity=series.opacity)
    band = base.mark_rule(color=LIGHT["text"]).encode(x=x, xOffset=offset, y=_up(alt, figure, "low:Q"), y2="high:Q")
    sized = [layer.properties(width=width, height=220) for layer in (bar, band)]
    return _add_panels(alt, figure, [*sized, *_levels(alt, figure)], _data(alt, figure), 2)


def _stack(alt: Any, figure: Figure) -> Any:
    """Draw one bar for each model, divided into its parts."""
    parts = list(dict.fromkeys(mark.part for mark in figure.marks))
    owners = list(dict.fromkeys(short(mark.model, NAME) for mark in figure.marks))
    colours = [LIGHT[f"s{n % COLOURS}"] for n in range(len(parts))]
    colour = alt.Color("part:N", sort=None, title=None, scale=alt.Scale(domain=parts, range=colours))
    bar = alt.Chart().mark_bar().encode(
        y=alt.Y("owner:N", sort=owners, title=None),
        x=alt.X("value:Q", title=figure.y_label, stack="zero", scale=alt.Scale(domain=[0, 1])),
        color=colour,
        order=alt.Order("rank:Q"),
    ).properties(width=340, height=alt.Step(20))  # fmt: skip
    data = _data(alt, figure)
    for value in data.values:
        value["rank"] = parts.index(value["part"])
    return _add_panels(alt, figure, [bar], data, 1)


def _scatter(alt: Any, figure: Figure) -> Any:
    series, base = _Encodings(alt, figure), alt.Chart()
    encoded = {"x": _across(alt, figure), "y": _up(alt, figure)}
    point = base.mark_point(filled=True, size=MARKER, opacity=1).encode(
        **encoded, color=series.colour, shape=series.marker
    )
    text = base.mark_text(align="left", dx=7, fontSize=10).encode(**encoded, text="label:N", color=series.colour)
    written = [text] if any(mark.label for mark in figure.marks) else []
    sized = [layer.properties(width=300, height=230) for layer in (point, *written)]
    return _add_panels(alt, figure, sized, _data(alt, figure), 2)


def _dots(alt: Any, figure: Figure) -> Any:
    """Draw a point for each model, and a bar at their median."""
    series = _Encodings(alt, figure)
    columns = [str(x) for x in figure.columns]
    x = _across(alt, figure)
    point = alt.Chart().mark_point(filled=True, size=MARKER, opacity=0.9).encode(
        x=x, y=_up(alt, figure), color=series.colour, shape=series.marker
    )  # fmt: skip
    middles = [
        {"x": column, "value": median(mark.value for mark in figure.marks if str(mark.x) == column)}
        for column in columns
    ]
    tick = alt.Chart(alt.Data(values=middles)).mark_tick(color=LIGHT["text"], thickness=2, size=22).encode(
        x=x, y=_up(alt, figure)
    )  # fmt: skip
    return alt.layer(point, tick, data=_data(alt, figure)).properties(width=alt.Step(30), height=240)


def _histogram(alt: Any, figure: Figure) -> Any:
    steps = sorted({float(mark.x) for mark in figure.marks})
    wide = min((b - a for a, b in itertools.pairwise(steps)), default=1.0)
    data = _data(alt, figure)
    for value in data.values:
        value["end"] = float(value["x"]) + wide
    bar = alt.Chart().mark_bar(color=LIGHT["s0"]).encode(
        x=alt.X("x:Q", title=figure.x_label, bin="binned"), x2="end:Q", y=_up(alt, figure)
    ).properties(width=300, height=200)  # fmt: skip
    return _add_panels(alt, figure, [bar], data, 2)


def _radar(alt: Any, figure: Figure) -> Any:
    """Draw categories around a circle, with a closed line for each model."""
    series, names = _Encodings(alt, figure), [str(x) for x in figure.columns]
    angles = {name: pi / 2 - 2 * pi * k / len(names) for k, name in enumerate(names)}

    def place(name: str, radius: float) -> dict[str, float]:
        return {"h": radius * cos(angles[name]), "v": radius * sin(angles[name])}

    outline = []
    for model in series.names:
        own = {str(mark.x): mark.value for mark in figure.marks if _name(mark) == model}
        corners = [name for name in names if name in own]
        outline += [
            {"model": model, "rank": k, "n": str(name), "value": own[name], **place(name, own[name])}
            for k, name in enumerate([*corners, corners[0]])
        ]
    rings = [
        {"ring": r, "rank": k, **place(name, r)}
        for r in (0.25, 0.5, 0.75, 1.0)
        for k, name in enumerate([*names, names[0]])
    ]
    scale = alt.Scale(domain=[-1.45, 1.45])
    h = alt.X("h:Q", axis=None, scale=scale)
    v = alt.Y("v:Q", axis=None, scale=scale)
    net = (
        alt.Chart(alt.Data(values=rings))
        .mark_line(color=LIGHT["rule"], strokeWidth=1)
        .encode(h, v, detail="ring:N", order="rank:Q")
    )
    text = (
        alt.Chart(alt.Data(values=[{"name": name, **place(name, 1.16)} for name in names]))
        .mark_text(fontSize=11, color=LIGHT["text"])
        .encode(h, v, text="name:N")
    )
    level = (
        alt.Chart(alt.Data(values=[{"r": f"{r:g}", **place(names[0], r)} for r in (0.5, 1.0)]))
        .mark_text(fontSize=9, dx=10, color=LIGHT["muted"])
        .encode(h, v, text="r:N")
    )
    lines = series.lines(alt, x=h, y=v, order="rank:Q")
    return alt.layer(net, *lines, text, level, data=alt.Data(values=outline)).properties(width=420, height=380)


_BUILDERS: Mapping[Form, Callable[[Any, Figure], Any]] = {
    "curves": _curves,
    "heat": _heat,
    "bars": _bars,
    "stack": _stack,
    "matrix": _matrix,
    "scatter": _scatter,
    "dots": _dots,
    "histogram": _histogram,
    "radar": _radar,
}
