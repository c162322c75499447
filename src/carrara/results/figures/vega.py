"""Figures as charts of Vega-Altair: one builder a form. Files are drawn without a browser and without a network."""

import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from math import cos, pi, sin
from statistics import median
from textwrap import wrap
from typing import Any

from carrara.core.errors import RunError
from carrara.results.figures.figure import Figure, Form, Mark
from carrara.results.sanitize import short

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#333333")
"""Okabe and Ito's, which the colour-blind tell apart; yellow, which paper swallows, is a brown here."""
PALE = "#a8adb5"
"""What is published, where it stands beside one's own."""
_DESCRIBED = re.compile(r' (?:aria-label|aria-roledescription|role|aria-hidden|pointer-events)="[^"]*"')
_TAG, _LONG = re.compile(r"<[^>]*>"), re.compile(r"-?\d+\.\d\d+")
DASHES = ([1, 0], [6, 3], [2, 2])
GREENS = ["#f7fcf5", "#c7e9c0", "#74c476", "#238b45", "#00441b"]
ACROSS, WIDE = 26, 36
"""Columns of a grid that stand beside each other, and how wide one is."""
LINE = 120
"""Characters of a note on a line."""
INSTALL = "pip install 'carrara[figures]'"
SYMBOLS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "triangle-left"]


def chart(figure: Figure) -> Any:
    """The whole: title, panels, keys, notes."""
    drawn = _BUILDERS[figure.form](_altair(), figure)
    title = {
        "text": figure.title,
        "subtitle": [line for note in figure.notes for line in wrap(note, LINE)],
        "anchor": "start",
        "subtitleColor": "#555",
    }
    return (
        drawn.properties(title=title, background="white")
        .configure_view(strokeWidth=0)
        .configure_axis(grid=True, gridColor="#e6e6e6", labelLimit=320, titleFontWeight="normal")
        .configure_legend(labelLimit=320, symbolLimit=0, symbolStrokeWidth=2)
        .configure_title(fontSize=13, subtitleFontSize=11, offset=12)
        .configure_header(title=None, labelFontSize=12, labelFontWeight="bold")
    )


def svg(figure: Figure) -> str:
    """Small: coordinates to a tenth, and no description of each mark, for the values stand in a table."""
    drawn = str(_converter().vegalite_to_svg(chart(figure).to_json(), vl_version=_version()))
    drawn = _DESCRIBED.sub("", drawn)
    return _TAG.sub(lambda tag: _LONG.sub(_rounded, tag[0]), drawn)


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")


def png(figure: Figure, scale: float = 2) -> bytes:
    return bytes(_converter().vegalite_to_png(chart(figure).to_json(), vl_version=_version(), scale=scale))


def missing() -> bool:
    """Return whether a package is missing that pictures are drawn with."""
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


class Faces:
    """Who is drawn how: one's own models in colour, with a sign each; what is published beside them pale.

    What is told apart within a model (`part`) has its colour, other strokes, and fades.
    """

    def __init__(self, figure: Figure) -> None:
        models = list(dict.fromkeys(mark.model for mark in figure.marks))
        parts = list(dict.fromkeys(mark.part for mark in figure.marks))
        published = {mark.model for mark in figure.marks if mark.published}
        self.beside = published if published < set(models) else set[str]()
        order = sorted(models, key=lambda model: model in self.beside)
        found = dict.fromkeys((mark.model, mark.part) for mark in figure.marks)
        pairs = sorted(found, key=lambda pair: (order.index(pair[0]), parts.index(pair[1])))
        self.names = [_called(*pair) for pair in pairs]
        self.colours, self.dashes, self.signs, self.shades = {}, {}, {}, {}
        for model, part in pairs:
            name, place, rank = _called(model, part), order.index(model), parts.index(part)
            self.colours[name] = PALE if model in self.beside else COLOURS[place % len(COLOURS)]
            self.dashes[name] = DASHES[min(2, rank if len(parts) > 1 else place // len(COLOURS))]
            self.signs[name] = SYMBOLS[place % len(SYMBOLS)]
            self.shades[name] = 1 - 0.65 * rank / max(1, len(parts) - 1)

    def colour(self, alt: Any) -> Any:
        return alt.Color("model:N", title=None, sort=None, scale=self._scale(alt, self.colours))

    def dash(self, alt: Any) -> Any:
        return alt.StrokeDash("model:N", title=None, sort=None, scale=self._scale(alt, self.dashes))

    def sign(self, alt: Any) -> Any:
        return alt.Shape("model:N", title=None, sort=None, scale=self._scale(alt, self.signs))

    def shade(self, alt: Any) -> Any:
        scale = alt.Scale(type="ordinal", domain=self.names, range=[self.shades[name] for name in self.names])
        return alt.Opacity("model:N", title=None, sort=None, scale=scale)

    def _scale(self, alt: Any, by_name: Mapping[str, Any]) -> Any:
        return alt.Scale(domain=self.names, range=[by_name[name] for name in self.names])


def _called(model: str, part: str) -> str:
    return short(f"{model}, {part}" if part else model, 60)


def _name(mark: Mark) -> str:
    return _called(mark.model, mark.part)


def _data(alt: Any, figure: Figure) -> Any:
    return alt.Data(
        values=[
            {
                "model": _name(mark),
                "whose": short(mark.model, 60),
                "part": mark.part,
                "panel": mark.panel,
                "x": mark.x,
                "value": mark.value,
                "low": mark.value if mark.low is None else mark.low,
                "high": mark.value if mark.high is None else mark.high,
                "n": mark.n,
                "said": mark.label or _said(figure, mark.value),
            }
            for mark in figure.marks
        ]
    )


def _said(figure: Figure, value: float) -> str:
    return f"{100 * value:.0f}" if figure.top == 1 else f"{value:g}"


def _panelled(alt: Any, figure: Figure, layers: Sequence[Any], data: Any, columns: int = 3) -> Any:
    """Layers, once for each panel."""
    whole = alt.layer(*layers, data=data)
    if figure.panels == [""]:
        return whole
    return whole.facet(alt.Facet("panel:N", sort=figure.panels, title=None), columns=min(columns, len(figure.panels)))


def _across(alt: Any, figure: Figure) -> Any:
    """Lengths by their logarithm, from 0 on; each that was run has its tick."""
    if figure.axis == "names":
        return alt.X(
            "x:N", sort=[str(x) for x in figure.columns], title=figure.across, axis=alt.Axis(labelAngle=-30, grid=False)
        )
    ticks = [float(x) for x in figure.columns]
    names = json.dumps({f"{tick:.0f}": figure.said(tick) for tick in ticks})
    scale = alt.Scale(type="symlog", constant=1024) if figure.axis == "lengths" else alt.Scale(zero=False, nice=True)
    axis = alt.Axis(values=ticks, labelExpr=f"{names}['' + datum.value] || datum.value", labelOverlap=True)
    return alt.X("x:Q", title=figure.across, scale=scale, axis=axis if figure.axis == "lengths" else alt.Axis())


def _up(alt: Any, figure: Figure, field: str = "value:Q") -> Any:
    scale = alt.Scale(domain=[0, figure.top]) if figure.top is not None else alt.Scale(zero=True)
    return alt.Y(field, title=figure.up, scale=scale)


def _levels(alt: Any, figure: Figure) -> list[Any]:
    if not figure.lines:
        return []
    values = [{"level": value, "called": name} for name, value in figure.lines.items()]
    base = alt.Chart(alt.Data(values=values))
    rule = base.mark_rule(strokeDash=[2, 3], color="#666").encode(y="level:Q")
    text = base.mark_text(align="right", dx=-3, dy=-5, fontSize=10, color="#555").encode(
        y="level:Q", x=alt.value("width"), text="called:N"
    )
    return [rule, text]


# --- the forms ---


def _curves(alt: Any, figure: Figure) -> Any:
    faces, base = Faces(figure), alt.Chart()
    encoded = {"x": _across(alt, figure), "y": _up(alt, figure)}
    line = base.mark_line(strokeWidth=2).encode(**encoded, color=faces.colour(alt), strokeDash=faces.dash(alt))
    band = base.mark_rule(strokeWidth=1).encode(
        x=encoded["x"], y=_up(alt, figure, "low:Q"), y2="high:Q", color=faces.colour(alt)
    )
    point = base.mark_point(filled=True, size=42, opacity=1).encode(
        **encoded, color=faces.colour(alt), shape=faces.sign(alt), tooltip=["model:N", "x:N", "value:Q", "n:Q"]
    )
    sized = [layer.properties(width=300, height=230) for layer in (line, band, point)]
    return _panelled(alt, figure, [*sized, *_levels(alt, figure)], _data(alt, figure), 2)


def _heat(alt: Any, figure: Figure) -> Any:
    models = list(dict.fromkeys(_name(mark) for mark in figure.marks))
    columns = [figure.said(x) for x in figure.columns]
    data = _data(alt, figure)
    for value, mark in zip(data.values, figure.marks, strict=True):
        value["x"] = figure.said(mark.x)
    return _grid(alt, figure, data, models, columns, alt.Scale(domain=[0, 1], range=GREENS), "datum.value > 0.55")


def _matrix(alt: Any, figure: Figure) -> Any:
    names = list(dict.fromkeys(_name(mark) for mark in figure.marks))
    scale = alt.Scale(domain=[-1, 0, 1], range=["#b35806", "#f7f7f7", "#084594"])
    return _grid(alt, figure, _data(alt, figure), names, [str(x) for x in figure.columns], scale,
                 "abs(datum.value) > 0.6")  # fmt: skip


def _grid(
    alt: Any, figure: Figure, data: Any, rows: Sequence[str], columns: Sequence[str], scale: Any, dark: str
) -> Any:
    x = alt.X(
        "x:N",
        sort=list(columns),
        title=figure.across,
        axis=alt.Axis(labelAngle=0 if _narrow(columns) else -40, grid=False),
    )
    y = alt.Y("model:N", sort=list(rows), title=None, axis=alt.Axis(grid=False))
    said = max(len(mark.label or _said(figure, mark.value)) for mark in figure.marks)
    size = {"width": alt.Step(max(WIDE, 7 * said)), "height": alt.Step(20)}
    cell = alt.Chart().mark_rect(stroke="white").encode(x=x, y=y, color=alt.Color("value:Q", scale=scale, legend=None))
    text = alt.Chart().mark_text(fontSize=11).encode(
        x=x, y=y, text="said:N", color=alt.condition(dark, alt.value("white"), alt.value("#222"))
    )  # fmt: skip
    side_by_side = max(1, ACROSS // len(columns))
    return _panelled(alt, figure, [cell.properties(**size), text.properties(**size)], data, side_by_side)


def _narrow(columns: Sequence[str]) -> bool:
    return max(map(len, columns), default=0) <= 5


def _bars(alt: Any, figure: Figure) -> Any:
    faces, base = Faces(figure), alt.Chart()
    x = alt.X(
        "x:N", sort=[str(one) for one in figure.columns], title=figure.across, axis=alt.Axis(labelAngle=-30, grid=False)
    )
    offset = alt.XOffset("model:N", sort=faces.names)
    width = alt.Step(max(9, 40 // max(1, len(faces.names))))
    bar = base.mark_bar().encode(
        x=x, xOffset=offset, y=_up(alt, figure), color=faces.colour(alt), opacity=faces.shade(alt)
    )
    band = base.mark_rule(color="#444").encode(x=x, xOffset=offset, y=_up(alt, figure, "low:Q"), y2="high:Q")
    sized = [layer.properties(width=width, height=220) for layer in (bar, band)]
    return _panelled(alt, figure, [*sized, *_levels(alt, figure)], _data(alt, figure), 2)


def _stack(alt: Any, figure: Figure) -> Any:
    """One bar a model, cut into its parts."""
    parts = list(dict.fromkeys(mark.part for mark in figure.marks))
    whose = list(dict.fromkeys(short(mark.model, 60) for mark in figure.marks))
    colour = alt.Color(
        "part:N", sort=None, title=None, scale=alt.Scale(domain=parts, range=list(COLOURS[: len(parts)]))
    )
    bar = alt.Chart().mark_bar().encode(
        y=alt.Y("whose:N", sort=whose, title=None),
        x=alt.X("value:Q", title=figure.up, stack="zero", scale=alt.Scale(domain=[0, 1])),
        color=colour,
        order=alt.Order("rank:Q"),
    ).properties(width=340, height=alt.Step(20))  # fmt: skip
    data = _data(alt, figure)
    for value in data.values:
        value["rank"] = parts.index(value["part"])
    return _panelled(alt, figure, [bar], data, 1)


def _scatter(alt: Any, figure: Figure) -> Any:
    faces, base = Faces(figure), alt.Chart()
    encoded = {"x": _across(alt, figure), "y": _up(alt, figure)}
    point = base.mark_point(filled=True, size=70, opacity=1).encode(
        **encoded, color=faces.colour(alt), shape=faces.sign(alt)
    )
    text = base.mark_text(align="left", dx=7, fontSize=10).encode(**encoded, text="said:N", color=faces.colour(alt))
    written = [text] if any(mark.label for mark in figure.marks) else []
    sized = [layer.properties(width=300, height=230) for layer in (point, *written)]
    return _panelled(alt, figure, sized, _data(alt, figure), 2)


def _dots(alt: Any, figure: Figure) -> Any:
    """A point for each model, and a bar at their median."""
    faces = Faces(figure)
    columns = [str(x) for x in figure.columns]
    x = alt.X("x:N", sort=columns, title=figure.across, axis=alt.Axis(labelAngle=-30, grid=False))
    point = alt.Chart().mark_point(filled=True, size=55, opacity=0.9).encode(
        x=x, y=_up(alt, figure), color=faces.colour(alt), shape=faces.sign(alt)
    )  # fmt: skip
    middles = [
        {"x": column, "value": median(mark.value for mark in figure.marks if str(mark.x) == column)}
        for column in columns
    ]
    tick = alt.Chart(alt.Data(values=middles)).mark_tick(color="#222", thickness=2, size=22).encode(
        x=x, y=_up(alt, figure)
    )  # fmt: skip
    return alt.layer(point, tick, data=_data(alt, figure)).properties(width=alt.Step(30), height=240)


def _histogram(alt: Any, figure: Figure) -> Any:
    steps = sorted({float(mark.x) for mark in figure.marks})
    wide = min((b - a for a, b in itertools.pairwise(steps)), default=1.0)
    data = _data(alt, figure)
    for value in data.values:
        value["end"] = float(value["x"]) + wide
    bar = alt.Chart().mark_bar(color=COLOURS[0]).encode(
        x=alt.X("x:Q", title=figure.across, bin="binned"), x2="end:Q", y=_up(alt, figure)
    ).properties(width=300, height=200)  # fmt: skip
    return _panelled(alt, figure, [bar], data, 2)


def _radar(alt: Any, figure: Figure) -> Any:
    """Categories around a circle, a closed line for each model."""
    faces, names = Faces(figure), [str(x) for x in figure.columns]
    angles = {name: pi / 2 - 2 * pi * k / len(names) for k, name in enumerate(names)}

    def place(name: str, radius: float) -> dict[str, float]:
        return {"h": radius * cos(angles[name]), "v": radius * sin(angles[name])}

    outline = []
    for model in faces.names:
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
        .mark_line(color="#ddd", strokeWidth=1)
        .encode(h, v, detail="ring:N", order="rank:Q")
    )
    text = (
        alt.Chart(alt.Data(values=[{"name": name, **place(name, 1.16)} for name in names]))
        .mark_text(fontSize=11)
        .encode(h, v, text="name:N")
    )
    level = (
        alt.Chart(alt.Data(values=[{"r": f"{r:g}", **place(names[0], r)} for r in (0.5, 1.0)]))
        .mark_text(fontSize=9, dx=10, color="#777")
        .encode(h, v, text="r:N")
    )
    line = (
        alt.Chart(alt.Data(values=outline))
        .mark_line(strokeWidth=2)
        .encode(h, v, color=faces.colour(alt), strokeDash=faces.dash(alt), order="rank:Q")
    )
    return alt.layer(net, line, text, level).properties(width=420, height=380)


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
