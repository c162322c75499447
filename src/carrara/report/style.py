"""The style of all charts: colours in light and dark mode, the font, and the style of each series.

Reports, charts and the papers' figures all use this module. The series colours can be told apart with each of the
three kinds of colour blindness (CIE Lab distance of any two: 15 or more), and have a contrast of 3 or more. `tag` and
`drawing` write SVG elements, and escape their content.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup, escape

from carrara.results import Row, Series
from carrara.util.sanitize import distinct, visible

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', Arial, sans-serif"

LIGHT = {
    "background": "#fbfbfa", "surface": "#ffffff", "rule": "#e4e6e8", "rule-strong": "#b9bfc5",
    "text": "#1d2329", "muted": "#5b656f", "pale": "#a8adb5", "accent": "#1b5f97", "heat": "#2a74ae",
    "ground": "#e9ebed", "trouble": "#a63d12", "note": "#fbf4ea", "note-edge": "#d9a662",
    "s0": "#0c518b", "s1": "#b3450c", "s2": "#008b51", "s3": "#bc74ab", "s4": "#c87d04", "s5": "#1097e8",
    "s6": "#694e28", "s7": "#4f5160",
    "ok": "#b8c6d2", "unparsed": "#d6a233", "empty": "#f0d9a0", "unread": "#8f7a1d", "limited": "#a9825c",
    "truncated": "#c9621f", "refused": "#8b3f86", "called": "#5b6fb5",
    "filtered": "#b02e52", "overflow": "#2b8a7a", "shortened": "#5aa88f", "error": "#2b3036",
}  # fmt: skip
DARK = {
    "background": "#14171a", "surface": "#1a1e22", "rule": "#2d3339", "rule-strong": "#56606a",
    "text": "#e5e8ea", "muted": "#a0aab3", "pale": "#626b75", "accent": "#7ab6e6", "heat": "#4d9bd6",
    "ground": "#22272c", "trouble": "#f0936a", "note": "#2a2318", "note-edge": "#9c7334",
    "s0": "#2f93dd", "s1": "#e0762f", "s2": "#5eddab", "s3": "#c4719f", "s4": "#f1c53a", "s5": "#a9ccff",
    "s6": "#b09d65", "s7": "#ece3ea",
    "ok": "#4d5b68", "unparsed": "#d6a233", "empty": "#7d6a35", "unread": "#b9a03c", "limited": "#c9a27b",
    "truncated": "#e07a36", "refused": "#c07abb", "called": "#8c9fe0",
    "filtered": "#e06284", "overflow": "#45b5a2", "shortened": "#7fd0b8", "error": "#e5e8ea",
}  # fmt: skip
"""The same names as in light mode. CSS has each as a custom property (`--text`)."""

COLOURS = 8
"""Colours of series, `s0` to `s7`. Further series use them again, with dashed lines."""
DASHES: Sequence[tuple[float, ...]] = ((), (7, 5), (1.5, 5))
"""Lengths of strokes and gaps; the first is a solid line."""
MARKERS = (
    "M-4.5 0C-4.5 -2.5 -2.5 -4.5 0 -4.5S4.5 -2.5 4.5 0S2.5 4.5 0 4.5S-4.5 2.5 -4.5 0Z",  # disc
    "M-4 -4H4V4H-4Z",  # square
    "M0 -5.2L5 3.8H-5Z",  # triangle
    "M0 -5.5L5 0L0 5.5L-5 0Z",  # diamond
    "M0 5.2L5 -3.8H-5Z",  # triangle, down
    "M-1.6 -4.8H1.6V-1.6H4.8V1.6H1.6V4.8H-1.6V1.6H-4.8V-1.6H-1.6Z",  # plus
    "M-5 -2.5L-2.5 -5L0 -2.5L2.5 -5L5 -2.5L2.5 0L5 2.5L2.5 5L0 2.5L-2.5 5L-5 2.5L-2.5 0Z",  # cross
    "M-5 -2.6H5V2.6H-5Z",  # bar
)


def css() -> str:
    """Return the colours as custom properties, in light and dark mode, and a class for each colour and dash."""
    light, dark = (" ".join(f"--{name}: {value};" for name, value in colours.items()) for colours in (LIGHT, DARK))
    series = [f".s{n} {{ color: var(--s{n}); }}" for n in range(COLOURS)] + [".pale { color: var(--pale); }"]
    dashes = [f".dash{n} {{ stroke-dasharray: {' '.join(f'{x:g}' for x in DASHES[n])}; }}" for n in (1, 2)]
    return "\n".join(
        [
            f":root {{ color-scheme: light dark; --sans: {FONT}; {light} }}",
            f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}",
            *series,
            *dashes,
        ]
    )


@dataclass(frozen=True)
class SeriesStyle:
    """The style of one series in every chart, legend and table."""

    number: int
    """The position among the series."""
    series: Series
    name: str
    """A short name, different from those of the other series."""
    full: str
    colour: int
    shape: int
    """The number of the marker. Series of one colour have different markers and dashes."""
    dash: int = 0
    opacity: float = 1.0
    is_pale: bool = False
    """Whether it is grey: a published model beside the user's models."""

    @property
    def colour_name(self) -> str:
        """A name in `LIGHT` and `DARK`, and a CSS class."""
        return "pale" if self.is_pale else f"s{self.colour}"

    @property
    def line_class(self) -> str:
        return f"{self.colour_name} dash{self.dash}"

    @property
    def path(self) -> str:
        """The marker."""
        return MARKERS[self.shape % len(MARKERS)]

    def marker(self, x: float, y: float) -> Markup:
        place = f"translate({x:.1f} {y:.1f})"
        return tag("path", d=self.path, transform=place, class_=f"marker {self.colour_name}")

    @property
    def swatch(self) -> Markup:
        """A key for legends and tables. The name beside it says the same in words."""
        stroke = tag("path", d="M1 7H21", class_=f"line {self.line_class}")
        return tag("svg", stroke, self.marker(11, 7), viewBox="0 0 22 14", class_="swatch", aria_hidden="true")


Styles = Mapping[Series, SeriesStyle]


def styles_of(rows: Sequence[Row]) -> Styles:
    """Return the style of each series, ordered by the mean over their rows as on a leaderboard."""
    means: dict[Series, list[float]] = {}
    for row in rows:
        means.setdefault(row.series, []).extend([row.stat.mean] if row.stat.scored else [])
    order = sorted(means, key=lambda series: (-sum(means[series]) / max(1, len(means[series])), series))
    models = _short_names(list(dict.fromkeys(series.model for series in order)))
    shorter = {series: str(Series(models[series.model], series.variant)) for series in order}
    names, full = distinct(shorter.values(), 60), distinct(map(str, order), 160)
    return {
        series: SeriesStyle(
            number=number,
            series=series,
            name=names[shorter[series]],
            full=full[str(series)],
            colour=number % COLOURS,
            shape=number + number // COLOURS,
            dash=min(number // COLOURS, len(DASHES) - 1),
        )
        for number, series in enumerate(order)
    }


def name_by_difference(styles: Styles) -> Styles:
    """Return the styles of several series of one model, named by their variants, for a page that names the model.

    Styles of several models, or of one series, stay as they are.
    """
    if len({series.model for series in styles}) != 1 or len(styles) == 1:
        return styles
    names = distinct((series.variant for series in styles if series.variant), 60)
    return {series: replace(style, name=names.get(series.variant, style.name)) for series, style in styles.items()}


def _short_names(models: Sequence[str]) -> dict[str, str]:
    """Return the end of each model's name, if it is still unique: `gpt-x` for `provider/gpt-x`.

    Arguments follow the name after a space. They may contain slashes, and are kept.
    """
    shorter = {model: _end(model) for model in models}
    ends = list(shorter.values())
    return {model: end if ends.count(end) == 1 else model for model, end in shorter.items()}


def _end(model: str) -> str:
    name, space, arguments = model.partition(" ")
    return (name.rstrip("/").rpartition("/")[2] or name) + space + arguments


def tag(name: str, /, *content: str | Markup, **attributes: str | float | int) -> Markup:
    """Return an element. Attributes are named as in Python: `class_`, `stroke_width`, `data_series`.

    >>> tag("text", "<b>", x=1.0, text_anchor="end")
    Markup('<text x="1" text-anchor="end">&lt;b&gt;</text>')
    """
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(visible(value if isinstance(value, str) else number(value)))}"'
        for key, value in attributes.items()
    )
    inner = "".join(part if isinstance(part, Markup) else escape(visible(part)) for part in content)
    return Markup(f"<{name}{shown}>{inner}</{name}>")  # every part is escaped


def number(value: float) -> str:
    """Return a coordinate to a tenth, which is as fine as can be seen."""
    shown = f"{value:.1f}".removesuffix(".0")
    return "0" if shown == "-0" else shown


def drawing(title: str, description: str, width: float, height: float, *content: Markup, **attributes: str) -> Markup:
    """Return a complete picture with its alternative text."""
    return tag(
        "svg",
        tag("title", title),
        tag("desc", description),
        *content,
        viewBox=f"0 0 {number(width)} {number(height)}",
        role="img",
        **attributes,
    )
