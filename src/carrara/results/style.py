"""What each series looks like: a short name, a colour, a marker, the same everywhere on the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from carrara.results.analysis import Row, Series
from carrara.results.sanitize import distinct
from carrara.results.svg import tag

COLOURS = 8
"""Colours in the style sheet. Further series take them again, with dashed lines."""

_MARKERS = (
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",  # disc
    "M-4 -4h8v8h-8z",  # square
    "M0 -5.2L5 3.8H-5z",  # triangle
    "M0 -5.5L5 0L0 5.5L-5 0z",  # diamond
    "M0 5.2L5 -3.8H-5z",  # triangle, down
    "M-1.6 -4.8h3.2v3.2h3.2v3.2h-3.2v3.2h-3.2v-3.2h-3.2v-3.2h3.2z",  # plus
    "M-5 -2.5L-2.5 -5L0 -2.5L2.5 -5L5 -2.5L2.5 0L5 2.5L2.5 5L0 2.5L-2.5 5L-5 2.5L-2.5 0z",  # cross
    "M-5 -2.6h10v5.2h-10z",  # bar
)


@dataclass(frozen=True)
class Face:
    number: int
    series: Series
    name: str
    full: str

    @property
    def colour(self) -> str:
        return f"s{self.number % COLOURS}"

    @property
    def line(self) -> str:
        return f"{self.colour} dash{min(2, self.number // COLOURS)}"

    def marker(self, x: float, y: float) -> Markup:
        path = _MARKERS[self.number % len(_MARKERS)]
        return tag("path", d=path, transform=f"translate({x:.1f} {y:.1f})", class_=f"marker {self.colour}")

    @property
    def swatch(self) -> Markup:
        """A key for legends and tables; the name beside it says the same in words."""
        stroke = tag("path", d="M1 7H21", class_=f"line {self.line}")
        return tag("svg", stroke, self.marker(11, 7), viewBox="0 0 22 14", class_="swatch", aria_hidden="true")


def faces_of(rows: Sequence[Row]) -> dict[Series, Face]:
    """All series, the best first: by the mean over their rows, as a leaderboard is read."""
    means: dict[Series, list[float]] = {}
    for row in rows:
        means.setdefault(row.series, []).extend([row.stat.mean] if row.stat.scored else [])
    order = sorted(means, key=lambda series: (-sum(means[series]) / max(1, len(means[series])), series))
    models = _short_names(list(dict.fromkeys(series.model for series in order)))
    shorter = {series: str(Series(models[series.model], series.variant)) for series in order}
    names, full = distinct(shorter.values(), 60), distinct(map(str, order), 160)
    return {
        series: Face(number, series, names[shorter[series]], full[str(series)]) for number, series in enumerate(order)
    }


def _short_names(models: Sequence[str]) -> dict[str, str]:
    """The end of each model's name, where that still tells them apart: `gpt-x` for `provider/gpt-x`.

    What follows a space are its arguments, in which slashes mean something else; they stay.
    """
    shorter = {model: _end(model) for model in models}
    ends = list(shorter.values())
    return {model: end if ends.count(end) == 1 else model for model, end in shorter.items()}


def _end(model: str) -> str:
    name, space, arguments = model.partition(" ")
    return (name.rstrip("/").rpartition("/")[2] or name) + space + arguments
