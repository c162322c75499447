"""All charts that are drawn as SVG: scores by length and by tokens, differences, statuses, trainings, memories.

CSS styles them (`css`), so that they follow light and dark mode.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from carrara.report import style
from carrara.report.style import SeriesStyle, Styles, drawing, number, tag
from carrara.results import Row
from carrara.util.quantities import about_count, write_length
from carrara.util.sanitize import both_ends

TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
LABEL_GAP = 17
"""The space between names at the ends of lines."""


def css() -> str:
    """Return the style sheet of all charts."""
    return f"{style.css()}\n{Path(__file__).with_name('chart.css').read_text(encoding='utf-8').strip()}"


@dataclass(frozen=True)
class Frame:
    """The measures of a chart. Some charts are drawn twice, because small screens need larger letters."""

    width: float
    height: float
    right: float
    left: float = 40
    top: float = 26
    bottom: float = 50

    @property
    def has_names(self) -> bool:
        """Whether the names of series are beside their lines."""
        return self.right > 60

    def x(self, share: float) -> float:
        return self.left + share * (self.width - self.left - self.right)

    def y(self, score: float) -> float:
        return self.height - self.bottom - score * (self.height - self.top - self.bottom)

    def across(self, score: float, css_class: str) -> Markup:
        """Draw a horizontal line."""
        return tag("line", x1=self.left, x2=self.x(1), y1=self.y(score), y2=self.y(score), class_=css_class)

    def upright(self, x: float, css_class: str) -> Markup:
        """Draw a vertical line."""
        return tag("line", x1=x, x2=x, y1=self.y(1), y2=self.y(0), class_=css_class)


WIDE = Frame(880, 400, 170)
COMPACT = Frame(460, 300, 14)


def text(words: str, x: float, y: float, css_class: str, anchor: str = "start") -> Markup:
    attributes = {} if anchor == "start" else {"text_anchor": anchor}
    return tag("text", words, x=x, y=y, class_=css_class, **attributes)


def _polyline(points: Iterable[tuple[float, float]], colour: int) -> Markup:
    shown = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return tag("polyline", points=shown, class_=f"line s{colour % style.COLOURS}")


# --- scores against length ---


def score_chart(
    task: str,
    rows: Sequence[Row],
    styles: Styles,
    frame: Frame,
    kind: str,
    about: str = "against context length",
) -> Markup:
    """Draw the scores of one task: lines with interval bars over the chance level.

    One length gives a row for each model.

    Lengths are at equal distances: only their order counts.
    """
    lengths = sorted({row.length for row in rows})
    lines = [
        (series_style, sorted((row for row in rows if row.series == series), key=lambda row: row.length))
        for series, series_style in styles.items()
    ]
    lines = [(series_style, series_rows) for series_style, series_rows in lines if series_rows]
    title = f"{task}: mean score {about}"
    if len(lengths) == 1:
        return _ranking(title, lines, lengths[0], frame, kind)
    step = 1 / len(lengths)
    slot = frame.x(step) - frame.x(0)
    spread = min(slot * 0.62, 11 * (len(lines) - 1))

    def place(length: int, line: int) -> float:
        offset = (line / (len(lines) - 1) - 0.5) * spread if len(lines) > 1 else 0.0
        return frame.x((lengths.index(length) + 0.5) * step) + offset

    placed = [
        (series_style, [(place(row.length, line), row, _score_in_words(row)) for row in series_rows])
        for line, (series_style, series_rows) in enumerate(lines)
    ]
    parts = [*grid(frame), *_chance_level(frame, rows, lengths), *_length_axis(frame, lengths)]
    parts += _series(frame, placed)
    return drawing(title, _in_words(lines), frame.width, frame.height, *parts, class_=f"chart {kind}")


def _series(frame: Frame, lines: Sequence[tuple[SeriesStyle, Sequence[tuple[float, Row, str]]]]) -> Iterator[Markup]:
    """Yield each series as a line through its scores, which have a place and a description, and the names."""
    for series_style, points in lines:
        path = "M" + "L".join(f"{x:.1f} {frame.y(row.stat.mean):.1f}" for x, row, _ in points)
        bars = [_whisker(frame, series_style, x, row) for x, row, _ in points if row.stat.attempts]
        marks = [_point(series_style, x, frame.y(row.stat.mean), row, words) for x, row, words in points]
        stroke = tag("path", d=path, class_=f"line {series_style.line_class}")
        yield tag("g", *bars, stroke, *marks, data_series=series_style.number, class_="series")
    if frame.has_names and len(lines) * LABEL_GAP < frame.y(0) - frame.y(1):  # there is no room for more names
        yield from names(frame, [(series_style, frame.y(points[-1][1].stat.mean)) for series_style, points in lines])


def grid(frame: Frame, name: str = "mean score") -> list[Markup]:
    """Draw the lines of an axis from 0 to 1."""
    parts = [text(name, 4, 13, "axis")]
    for tick in TICKS:
        parts.append(frame.across(tick, "grid" if tick else "grid base"))
        parts.append(text(f"{tick:g}", frame.left - 8, frame.y(tick) + 4, "tick", "end"))
    return parts


def _length_axis(frame: Frame, lengths: Sequence[int]) -> list[Markup]:
    label_step = -(-len(lengths) * 40 // int(frame.x(1) - frame.x(0)))  # labels are some 40 units wide
    parts = [
        text(write_length(length), frame.x((i + 0.5) / len(lengths)), frame.y(0) + 20, "tick", "middle")
        for i, length in enumerate(lengths)
        if (len(lengths) - 1 - i) % label_step == 0
    ]
    return [*parts, text("context length, tokens", frame.x(1), frame.y(0) + 41, "axis", "end")]


def _chance_level(frame: Frame, rows: Sequence[Row], lengths: Sequence[int]) -> list[Markup]:
    """Draw the chance level as an area below the lines, with a step for each length."""
    steps = []
    for i, length in enumerate(lengths):
        chance_levels = [row.stat.chance_level for row in rows if row.length == length]
        y = frame.y(sum(chance_levels) / len(chance_levels))
        steps.append(f"{frame.x(i / len(lengths)):.1f} {y:.1f}L{frame.x((i + 1) / len(lengths)):.1f} {y:.1f}")
    edge = "L".join(steps)
    ground = f"M{frame.x(0):.1f} {frame.y(0):.1f}L{edge}L{frame.x(1):.1f} {frame.y(0):.1f}Z"
    parts = [tag("path", d=ground, class_="ground"), tag("path", d=f"M{edge}", class_="chance_level")]
    if frame.has_names:  # on small charts the first points would be here
        y = float(steps[0].partition(" ")[2].partition("L")[0]) - 6
        parts.append(text("blind guessing", frame.left + 6, y, "tick halo"))
    return parts


def _whisker(frame: Frame, series_style: SeriesStyle, x: float, row: Row) -> Markup:
    low, high = frame.y(row.stat.low), frame.y(row.stat.high)
    path = f"M{x - 3:.1f} {high:.1f}h6M{x:.1f} {high:.1f}V{low:.1f}M{x - 3:.1f} {low:.1f}h6"
    return tag("path", d=path, class_=f"whisker {series_style.colour_name}")


def _point(series_style: SeriesStyle, x: float, y: float, row: Row, words: str) -> Markup:
    """Draw a hollow marker if no reply was an answer: a score of 0 then says nothing about the model."""
    kind = "point" if row.stat.attempts else "point hollow"
    return tag("g", tag("title", f"{series_style.name}, {words}"), series_style.marker(x, y), class_=kind)


def _score_in_words(row: Row) -> str:
    stat = row.stat
    if not stat.attempts:
        return f"{write_length(row.length)}: none of {stat.n} replies is an answer"
    return f"{write_length(row.length)}: {stat.mean:.2f} ({stat.low:.2f} to {stat.high:.2f}, n = {stat.n})"


def names(frame: Frame, ends: Sequence[tuple[SeriesStyle, float]]) -> list[Markup]:
    """Draw names to the right of the lines, moved apart if lines end at the same height."""
    ordered = sorted(ends, key=lambda end: end[1])
    places: list[float] = []
    for _, y in ordered:
        places.append(max(y, places[-1] + LABEL_GAP) if places else y)
    over = max(0.0, places[-1] - frame.y(0))
    for i in reversed(range(len(places))):
        limit = frame.y(0) if i == len(places) - 1 else places[i + 1] - LABEL_GAP
        places[i] = min(places[i], limit) if over else places[i]
    return [
        tag(
            "g",
            series_style.marker(frame.x(1) + 8, place),
            _name(series_style.name, frame.x(1) + 19, place, frame.right - 22),
            data_series=series_style.number,
            class_="series",
        )
        for (series_style, _), place in zip(ordered, places, strict=True)
    ]


def _name(name: str, x: float, y: float, room: float) -> Markup:
    """Draw a name in the available space.

    It is shortened by its number of letters, and clipped, because some letters are wide.
    """
    return tag(
        "svg", text(both_ends(name, int(room / 7)), 0, 14, "name"), x=x, y=y - 10, width=room, height=20, class_="clip"
    )


def _ranking(
    title: str, lines: Sequence[tuple[SeriesStyle, Sequence[Row]]], length: int, frame: Frame, kind: str
) -> Markup:
    """Draw one length: scores on one axis, with a row for each series."""
    row_height, top, bottom = 34, 30, 44
    left, right = (230.0, 40.0) if frame.has_names else (150.0, 20.0)
    ranking_frame = Frame(frame.width, top + row_height * len(lines) + bottom, right, left, top, bottom)
    foot = ranking_frame.y(0)
    chance_levels = [row.stat.chance_level for _, rows in lines for row in rows]
    chance = ranking_frame.x(sum(chance_levels) / len(chance_levels))
    parts = [tag("rect", x=left, y=top, width=chance - left, height=foot - top, class_="ground")]
    for tick in TICKS:
        parts.append(ranking_frame.upright(ranking_frame.x(tick), "grid" if tick else "grid base"))
        parts.append(text(f"{tick:g}", ranking_frame.x(tick), foot + 18, "tick", "middle"))
    parts.append(ranking_frame.upright(chance, "chance_level"))
    parts.append(text(f"mean score at {write_length(length)}", ranking_frame.x(1), foot + 36, "axis", "end"))
    for i, (series_style, rows) in enumerate(lines):
        y, stat = top + row_height * (i + 0.5), rows[0].stat
        low, high = ranking_frame.x(stat.low), ranking_frame.x(stat.high)
        whisker = f"M{low:.1f} {y - 4:.1f}v8M{low:.1f} {y:.1f}H{high:.1f}m0 -4v8"
        bar = [tag("path", d=whisker, class_=f"whisker {series_style.colour_name}")] if stat.attempts else []
        point = _point(series_style, ranking_frame.x(stat.mean), y, rows[0], _score_in_words(rows[0]))
        name = _name(series_style.name, 0.0, y, left - 14)
        parts.append(tag("g", name, *bar, point, data_series=series_style.number, class_="series"))
    return drawing(title, _in_words(lines), ranking_frame.width, ranking_frame.height, *parts, class_=f"chart {kind}")


def _in_words(lines: Sequence[tuple[SeriesStyle, Sequence[Row]]]) -> str:
    """Return a description of the chart for screen readers."""
    return " ".join(
        f"{series_style.name}: {'; '.join(map(_score_in_words, rows))}; chance level {rows[-1].stat.chance_level:.2f}."
        for series_style, rows in lines
    )


# --- scores against tokens ---


class Point(NamedTuple):
    """A score, with the tokens that an item took."""

    tokens: float
    row: Row


def spending_chart(task: str, points: Sequence[Point], styles: Styles, frame: Frame, kind: str) -> Markup:
    """Draw the scores of one task over the tokens of all calls for an item, on a logarithmic axis.

    A series is a line that goes from its shortest to its longest length.
    """
    lines = [
        (
            series_style,
            sorted((point for point in points if point.row.series == series), key=lambda point: point.row.length),
        )
        for series, series_style in styles.items()
    ]
    lines = [(series_style, series_points) for series_style, series_points in lines if series_points]
    ticks = _decimal_ticks([point.tokens for point in points])
    low, high = math.log(ticks[0]), math.log(ticks[-1])

    def place(tokens: float) -> float:
        return frame.x((math.log(max(tokens, ticks[0])) - low) / (high - low))

    parts = [*grid(frame), *_token_axis(frame, {place(tick): about_count(tick) for tick in ticks})]
    placed = [
        (series_style, [(place(point.tokens), point.row, _tokens_in_words(point)) for point in series_points])
        for series_style, series_points in lines
    ]
    parts += _series(frame, placed)
    title = f"{task}: mean score against tokens spent"
    about = " ".join(
        f"{series_style.name}: {'; '.join(map(_tokens_in_words, series_points))}."
        for series_style, series_points in lines
    )
    return drawing(title, about, frame.width, frame.height, *parts, class_=f"chart {kind}")


def _token_axis(frame: Frame, ticks: Mapping[float, str]) -> list[Markup]:
    parts = [frame.upright(x, "grid") for x in ticks]
    parts += [text(name, x, frame.y(0) + 20, "tick", "middle") for x, name in ticks.items()]
    return [*parts, text("tokens for an item, all calls", frame.x(1), frame.y(0) + 41, "axis", "end")]


def count_chart(
    lines: Sequence[tuple[SeriesStyle, Sequence[tuple[float, float]]]], frame: Frame = COMPACT, kind: str = "counts"
) -> Markup:
    """Draw the tokens of prompts that a server counted over those that were sent, both on logarithmic axes."""
    ticks = _decimal_ticks([tokens for _, points in lines for point in points for tokens in point])
    low, high = math.log(ticks[0]), math.log(ticks[-1])

    def share(tokens: float) -> float:
        return (math.log(max(tokens, ticks[0])) - low) / (high - low)

    parts = [text("tokens counted", 4, 13, "axis")]
    for tick in ticks:
        x, y = frame.x(share(tick)), frame.y(share(tick))
        parts += [frame.upright(x, "grid"), frame.across(share(tick), "grid")]
        parts.append(text(about_count(tick), x, frame.y(0) + 20, "tick", "middle"))
        parts.append(text(about_count(tick), frame.left - 8, y + 4, "tick", "end"))
    parts.append(text("tokens sent", frame.x(1), frame.y(0) + 41, "axis", "end"))
    ends = {"x1": frame.x(0), "y1": frame.y(0), "x2": frame.x(1), "y2": frame.y(1)}
    parts.append(tag("line", **ends, class_="chance_level"))
    for series_style, points in lines:
        places = [(frame.x(share(sent)), frame.y(share(counted))) for sent, counted in points]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        dots = [
            tag("circle", tag("title", f"{counted:,.0f} of {sent:,.0f}"), cx=x, cy=y, r=4, class_="marker")
            for (x, y), (sent, counted) in zip(places, points, strict=True)
        ]
        stroke = tag("path", d=path, class_=f"line {series_style.line_class}")
        classes = f"series {series_style.colour_name}"
        parts.append(tag("g", stroke, *dots, data_series=series_style.number, class_=classes))
    about = " ".join(
        f"{series_style.name}: {', '.join(f'{counted:,.0f} of {sent:,.0f}' for sent, counted in points)}."
        for series_style, points in lines
    )
    title = "Tokens of prompts: counted by the server against sent"
    return drawing(title, about, frame.width, frame.height, *parts, class_=f"chart {kind}")


def _decimal_ticks(values: Sequence[float], most: int = 6) -> list[int]:
    """Return numbers such as 200, 500 and 1,000 that enclose the values, and no more of them than fit.

    >>> _decimal_ticks([170, 3200]), _decimal_ticks([90, 2_000_000]), _decimal_ticks([500])
    ([100, 200, 500, 1000, 2000, 5000], [10, 100, 1000, 10000, 100000, 1000000, 10000000], [200, 500, 1000])
    """
    low, high = max(2.0, min(values) * 0.9), max(2.0, *values) * 1.1
    for steps in ((1, 2, 5), (1,)):
        fine = [step * 10**power for power in range(math.ceil(math.log10(high)) + 1) for step in steps]
        first = max(n for n, tick in enumerate(fine) if tick <= low)
        last = min(n for n, tick in enumerate(fine) if tick >= high)
        if last - first < most:
            break
    return fine[first : last + 1]


def _tokens_in_words(point: Point) -> str:
    return f"{_score_in_words(point.row)} for {point.tokens:,.0f} tokens"


# --- shares and differences ---


def share_bar(counts: Iterable[tuple[str, int]], kind: str) -> Markup:
    """Draw counts as one divided bar.

    Args:
        kind: What is counted, such as `status`: the beginning of the CSS classes that colour the parts.
    """
    shown = [(name, count) for name, count in counts if count]
    total, x, parts = sum(count for _, count in shown), 0.0, []
    for name, count in shown:
        width, css_class = 100 * count / total, f"{kind}-{name.replace(' ', '-')}"
        parts.append(tag("rect", x=f"{x:.3f}", y=0, width=f"{width:.3f}", height=10, class_=css_class))
        x += width
    words = ", ".join(f"{count:,} {name}" for name, count in shown)
    return tag(
        "svg",
        tag("title", words),
        *parts,
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        role="img",
        class_="bar",
    )


class Interval(NamedTuple):
    """A row of a forest plot."""

    task: str
    length: int | None
    value: float
    low: float | None
    high: float | None
    is_clear: bool
    """Whether the interval excludes 0."""

    def name(self, limit: int) -> str:
        length = "" if self.length is None else f" {write_length(self.length)}"
        return f"{both_ends(self.task, limit)}{length}"


def forest_plot(title: str, about: str, rows: Sequence[Interval], margin: float | None = None) -> Markup:
    """Draw differences with their intervals, one below the other, for wide screens and for small ones.

    Args:
        margin: By how much the second may fall behind and still be not worse; it is drawn.
    """
    row_height, top, bottom = 26, 10, 40
    height = top + row_height * len(rows) + bottom
    frames = {"wide": Frame(640, height, 30, 190, top, bottom), "compact": Frame(460, height, 20, 160, top, bottom)}
    return Markup("").join(
        drawing(title, about, frame.width, height, *_forest(frame, rows, margin), class_=f"chart forest {kind}")
        for kind, frame in frames.items()
    )


def _forest(frame: Frame, rows: Sequence[Interval], margin: float | None) -> list[Markup]:
    ends = [abs(end) for row in rows for end in (row.low, row.high, row.value) if end is not None]
    most = min(1.0, max([*ends, margin or 0.0, 0.05]) * 1.1)

    def x(value: float) -> float:
        return frame.x((value + most) / (2 * most))

    step = next(candidate for candidate in (0.02, 0.05, 0.1, 0.2, 0.5) if candidate >= most / 3)
    parts = []
    for tick in (n * step for n in range(-int(most / step), int(most / step) + 1)):
        parts.append(frame.upright(x(tick), "grid" if tick else "grid base"))
        label = f"{tick:+.2g}".replace("-", "−") if tick else "0"
        parts.append(text(label, x(tick), frame.y(0) + 17, "tick", "middle"))
    parts.append(text("difference, second minus first", x(0), frame.y(0) + 36, "axis", "middle"))
    if margin is not None and margin < most:
        parts.append(frame.upright(x(-margin), "margin"))
    for place, row in enumerate(rows):
        y, clear = frame.top + (place + 0.5) * (frame.y(0) - frame.top) / len(rows), " clear" if row.is_clear else ""
        name = row.name(26 if frame.width > 500 else 13)  # in characters: they are larger on small screens
        parts.append(text(name, frame.left - 12, y + 4, "name", "end"))
        if row.low is not None and row.high is not None:
            parts.append(tag("line", x1=x(row.low), x2=x(row.high), y1=y, y2=y, class_=f"interval{clear}"))
        parts.append(tag("circle", cx=x(row.value), cy=y, r=5 if clear else 4, class_=f"difference{clear}"))
    return parts


# --- models with a memory ---


def training_curve(title: str, points: Sequence[Sequence[float]], ends: Sequence[int]) -> str:
    """Draw a training as a file of its own: the share of right answers, and the loss.

    Args:
        points: Step, loss, share of right answers.
        ends: The last steps of stages.
    """
    frame = Frame(760, 320, 46, 46, 46, 52)
    last = max([1.0, *(point[0] for point in points)])
    most = max([1e-9, *(point[1] for point in points)])
    shares = [(step / last, loss / most, right) for step, loss, right in points]
    parts = [
        text(title, 4, 16, "name"),
        *(frame.across(share, "grid" if share else "grid base") for share in (0, 0.5, 1)),
        *(text(f"{share:g}", frame.left - 8, frame.y(share) + 4, "tick", "end") for share in (0, 0.5, 1)),
        *(text(f"{share * most:.2g}", frame.x(1) + 8, frame.y(share) + 4, "tick") for share in (0, 1)),
        *(frame.upright(frame.x(step / last), "chance_level") for step in ends),
        _polyline(((frame.x(x), frame.y(loss)) for x, loss, _ in shares), 1),
        _polyline(((frame.x(x), frame.y(right)) for x, _, right in shares), 0),
        text(f"{last:,.0f} steps", frame.x(1), frame.y(0) + 18, "axis", "end"),
        *_key("share of right answers (left)", frame.left, frame, "line s0"),
        *_key("loss (right)", frame.left + 220, frame, "line s1"),
        *_key("end of a stage", frame.left + 340, frame, "chance_level"),
    ]
    about = f"{title}: the share of right answers and the loss over {last:,.0f} steps"
    paper = tag("rect", width=frame.width, height=frame.height, fill="var(--background)")
    return drawing(
        title,
        about,
        frame.width,
        frame.height,
        tag("style", Markup(css())),
        paper,
        *parts,
        class_="chart",
        xmlns="http://www.w3.org/2000/svg",
    )


def _key(name: str, x: float, frame: Frame, css_class: str) -> list[Markup]:
    y = frame.y(0) + 40
    return [tag("line", x1=x, x2=x + 22, y1=y - 4, y2=y - 4, class_=css_class), text(name, x + 30, y, "axis")]


class FactMark(NamedTuple):
    """A fact that the model has read."""

    segment: int
    text: str
    is_evidence: bool
    """Whether the answer needs it."""

    @property
    def line_class(self) -> str:
        return "fact s1" if self.is_evidence else "grid base"


def timeline(
    name: str,
    segments: int,
    points: Sequence[int],
    facts: Sequence[FactMark],
    lines: Sequence[Sequence[float]],
    answers: Sequence[str] = (),
) -> Markup:
    """Draw values from 0 to 1 along the segments of a context, for wide screens and for small ones.

    Args:
        segments: How many segments the context has.
        points: The segments after which values were taken.
        facts: Drawn as vertical lines.
        lines: For each line the value at each point.
        answers: The right answer at each point, written where it changes.
    """
    frames = {"wide": Frame(860, 150, 10, 40, 30, 20), "compact": Frame(460, 150, 10, 30, 30, 20)}
    charts = []
    for kind, frame in frames.items():
        ends = {
            segment: frame.x((segment + 1) / max(1, segments)) for segment in {*points, *(f.segment for f in facts)}
        }
        parts = [text(name, frame.left, 16, "name")]
        for tick in (0, 1):
            parts.append(frame.across(tick, "grid base"))
            parts.append(text(f"{tick}", frame.left - 6, frame.y(tick) + 4, "tick", "end"))
        parts += [frame.upright(ends[fact.segment], fact.line_class) for fact in facts]
        for line, values in enumerate(lines):
            drawn = zip(points, values, strict=True)
            parts.append(_polyline(((ends[point], frame.y(value)) for point, value in drawn), line))
        before = ""
        for point, answer in zip(points, answers, strict=False):
            if answer != before:
                parts.append(text(answer, ends[point], frame.height - 4, "tick"))
                before = answer
        about = f"{name}, along {segments} segments"
        charts.append(drawing(name, about, frame.width, frame.height, *parts, class_=f"chart {kind}"))
    return Markup("").join(charts)


def distance_map(points: Sequence[int], facts: Sequence[FactMark], distances: Sequence[Sequence[float]]) -> Markup:
    """Draw the distances between a memory at each two points, from 0 to 1."""
    size, top = 560.0, 16.0
    cell = size / len(points)
    marks = []
    for fact in facts:
        x = (sum(point <= fact.segment for point in points) - 0.5) * cell
        marks.append(tag("line", x1=x, x2=x, y1=2, y2=top - 4, class_=fact.line_class))
    about = "Distances between the memory at each two points"
    return _map(about, size, [*_cells(distances, 0, top, cell, cell), *marks], top + size)


def attention_map(
    title: str, rows: Sequence[str], columns: Sequence[str], weights: Sequence[Sequence[float]]
) -> Markup:
    """Draw attention as a matrix with a row for each query, shaded in proportion to the greatest weight."""
    most = max(max(values) for values in weights) or 1.0
    left, top, high = 80.0, 96.0, 16.0
    wide = min(26.0, 780 / len(columns))
    parts = [text(title, 0, 12, "name")]
    for n, name in enumerate(columns):
        turned = f"rotate(-60 {left + (n + 0.7) * wide:.1f} {top - 6:.1f})"
        parts.append(tag("text", name, x=left + (n + 0.7) * wide, y=top - 6, class_="tick", transform=turned))
    for n, name in enumerate(rows):
        parts.append(text(name, left - 6, top + n * high + 12, "tick", "end"))
    parts += _cells([[value / most for value in values] for values in weights], left, top, wide, high)
    return _map(title, left + len(columns) * wide + 40, parts, top + len(rows) * high)


def _map(about: str, width: float, parts: Sequence[Markup], height: float) -> Markup:
    """Return a chart that is not drawn larger than its own size."""
    return drawing(about, about, width, height, *parts, class_="chart", style=f"max-width: {number(width)}px")


def _cells(rows: Sequence[Sequence[float]], left: float, top: float, width: float, height: float) -> list[Markup]:
    """Draw cells that are darker for greater values, from 0 to 1, on a separate background."""
    x, y = len(rows[0]) * width, len(rows) * height
    return [
        tag("rect", x=left, y=top, width=x, height=y, class_="ground"),
        *(
            tag("rect", x=left + column * width, y=top + row * height, width=width, height=height,
                fill_opacity=f"{value:.3f}", class_="heat-cell")
            for row, values in enumerate(rows)
            for column, value in enumerate(values)
        ),
    ]  # fmt: skip
