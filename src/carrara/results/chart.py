"""Score against length: lines with interval bars over the chance level; and, for a single length, a row a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from carrara.core.lengths import write_length
from carrara.results.analysis import Row, Series
from carrara.results.sanitize import both_ends
from carrara.results.style import Face
from carrara.results.svg import drawing, tag

TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
LABEL_GAP = 17
"""Between names at the ends of lines."""


@dataclass(frozen=True)
class Frame:
    """A picture's measures. Two are drawn of a chart that has the page to itself: small screens need other letters."""

    width: float
    height: float
    right: float
    left: float = 40
    top: float = 26
    bottom: float = 50

    @property
    def named(self) -> bool:
        """Whether lines bear their names."""
        return self.right > 60

    def x(self, share: float) -> float:
        return self.left + share * (self.width - self.left - self.right)

    def y(self, score: float) -> float:
        return self.height - self.bottom - score * (self.height - self.top - self.bottom)


WIDE = Frame(880, 400, 170)
COMPACT = Frame(460, 300, 14)


def score_chart(
    task: str,
    rows: Sequence[Row],
    faces: Mapping[Series, Face],
    frame: Frame,
    kind: str,
    about: str = "against context length",
) -> Markup:
    """One test. Lengths stand at equal steps: what is asked is which of them, not how far apart."""
    lengths = sorted({row.length for row in rows})
    lines = [
        (face, sorted((row for row in rows if row.series == series), key=lambda row: row.length))
        for series, face in faces.items()
    ]
    lines = [(face, own) for face, own in lines if own]
    title = f"{task}: mean score {about}"
    if len(lengths) == 1:
        return _ranking(title, lines, lengths[0], frame, kind)
    step = 1 / len(lengths)
    slot = frame.x(step) - frame.x(0)
    spread = min(slot * 0.62, 11 * (len(lines) - 1))

    def place(length: int, line: int) -> float:
        beside = (line / (len(lines) - 1) - 0.5) * spread if len(lines) > 1 else 0.0
        return frame.x((lengths.index(length) + 0.5) * step) + beside

    parts = [*_grid(frame), *_chance_level(frame, rows, lengths), *_length_axis(frame, lengths)]
    ends = []
    for line, (face, own) in enumerate(lines):
        points = [(place(row.length, line), row) for row in own]
        path = "M" + "L".join(f"{x:.1f} {frame.y(row.stat.mean):.1f}" for x, row in points)
        bars = [_whisker(frame, face, x, row) for x, row in points if row.stat.attempts]
        marks = [_point(face, x, frame.y(row.stat.mean), row) for x, row in points]
        stroke = tag("path", d=path, class_=f"line {face.line}")
        parts.append(tag("g", *bars, stroke, *marks, data_series=face.number, class_="series"))
        ends.append((face, frame.y(own[-1].stat.mean)))
    if frame.named and len(ends) * LABEL_GAP < frame.y(0) - frame.y(1):  # of more, the legend alone tells
        parts += _names(frame, ends)
    return drawing(title, _in_words(lines), frame.width, frame.height, *parts, class_=f"chart {kind}")


def _grid(frame: Frame) -> list[Markup]:
    parts = [tag("text", "mean score", x=4, y=13, class_="axis")]
    for tick in TICKS:
        y = frame.y(tick)
        parts.append(tag("line", x1=frame.left, x2=frame.x(1), y1=y, y2=y, class_="grid" if tick else "grid base"))
        parts.append(tag("text", f"{tick:g}", x=frame.left - 8, y=y + 4, class_="tick", text_anchor="end"))
    return parts


def _length_axis(frame: Frame, lengths: Sequence[int]) -> list[Markup]:
    every = -(-len(lengths) * 40 // int(frame.x(1) - frame.x(0)))  # labels are some 40 units wide
    parts = [
        tag(
            "text",
            write_length(length),
            x=frame.x((i + 0.5) / len(lengths)),
            y=frame.y(0) + 20,
            class_="tick",
            text_anchor="middle",
        )
        for i, length in enumerate(lengths)
        if (len(lengths) - 1 - i) % every == 0
    ]
    parts.append(
        tag("text", "context length, tokens", x=frame.x(1), y=frame.y(0) + 41, class_="axis", text_anchor="end")
    )
    return parts


def _chance_level(frame: Frame, rows: Sequence[Row], lengths: Sequence[int]) -> list[Markup]:
    """The score of blind guessing, as ground under the lines: a step for each length."""
    steps = []
    for i, length in enumerate(lengths):
        chance_levels = [row.stat.chance_level for row in rows if row.length == length]
        y = frame.y(sum(chance_levels) / len(chance_levels))
        steps.append(f"{frame.x(i / len(lengths)):.1f} {y:.1f}L{frame.x((i + 1) / len(lengths)):.1f} {y:.1f}")
    edge = "L".join(steps)
    ground = f"M{frame.x(0):.1f} {frame.y(0):.1f}L{edge}L{frame.x(1):.1f} {frame.y(0):.1f}Z"
    parts = [tag("path", d=ground, class_="ground"), tag("path", d=f"M{edge}", class_="chance_level")]
    if frame.named:  # on small pictures the first points stand where this would
        y = float(steps[0].partition(" ")[2].partition("L")[0]) - 6
        parts.append(tag("text", "blind guessing", x=frame.left + 6, y=y, class_="tick halo"))
    return parts


def _whisker(frame: Frame, face: Face, x: float, row: Row) -> Markup:
    low, high = frame.y(row.stat.low), frame.y(row.stat.high)
    path = f"M{x - 3:.1f} {high:.1f}h6M{x:.1f} {high:.1f}V{low:.1f}M{x - 3:.1f} {low:.1f}h6"
    return tag("path", d=path, class_=f"whisker {face.colour}")


def _point(face: Face, x: float, y: float, row: Row) -> Markup:
    """Hollow where no reply was an answer: such a 0 says nothing of what the model can do."""
    kind = "point" if row.stat.attempts else "point hollow"
    return tag("g", tag("title", f"{face.name}, {_said(row)}"), face.marker(x, y), class_=kind)


def _said(row: Row) -> str:
    stat = row.stat
    if not stat.attempts:
        return f"{write_length(row.length)}: none of {stat.n} replies is an answer"
    return f"{write_length(row.length)}: {stat.mean:.2f} ({stat.low:.2f} to {stat.high:.2f}, n = {stat.n})"


def _names(frame: Frame, ends: Sequence[tuple[Face, float]]) -> list[Markup]:
    """Names right of the lines, pushed apart where lines end at the same height."""
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
            face.marker(frame.x(1) + 8, place),
            _name(face.name, frame.x(1) + 19, place, frame.right - 22),
            data_series=face.number,
            class_="series",
        )
        for (face, _), place in zip(ordered, places, strict=True)
    ]


def _name(name: str, x: float, y: float, room: float) -> Markup:
    """A name in the room there is: cut by its letters' number, and clipped, for some are wide."""
    words = tag("text", both_ends(name, int(room / 7)), x=0, y=14, class_="name")
    return tag("svg", words, x=x, y=y - 10, width=room, height=20, class_="clip")


def _ranking(title: str, lines: Sequence[tuple[Face, Sequence[Row]]], length: int, frame: Frame, kind: str) -> Markup:
    """One length: scores lie side by side on one axis, a row for each series."""
    row_height, top = 34, 30
    left, right = (230.0, 40.0) if frame.named else (150.0, 20.0)
    height = top + row_height * len(lines) + 44
    bottom = top + row_height * len(lines)

    def x(score: float) -> float:
        return left + score * (frame.width - left - right)

    chance_levels = [row.stat.chance_level for _, own in lines for row in own]
    chance_level = sum(chance_levels) / len(chance_levels)
    parts = [tag("rect", x=x(0), y=top, width=x(chance_level) - x(0), height=bottom - top, class_="ground")]
    for tick in TICKS:
        parts.append(tag("line", x1=x(tick), x2=x(tick), y1=top, y2=bottom, class_="grid" if tick else "grid base"))
        parts.append(tag("text", f"{tick:g}", x=x(tick), y=bottom + 18, class_="tick", text_anchor="middle"))
    parts.append(tag("line", x1=x(chance_level), x2=x(chance_level), y1=top, y2=bottom, class_="chance_level"))
    caption = f"mean score at {write_length(length)}"
    parts.append(tag("text", caption, x=x(1), y=bottom + 36, class_="axis", text_anchor="end"))
    for i, (face, own) in enumerate(lines):
        y, stat = top + row_height * (i + 0.5), own[0].stat
        whisker = f"M{x(stat.low):.1f} {y - 4:.1f}v8M{x(stat.low):.1f} {y:.1f}H{x(stat.high):.1f}m0 -4v8"
        parts.append(
            tag(
                "g",
                _name(face.name, 0.0, y, left - 14),
                *([tag("path", d=whisker, class_=f"whisker {face.colour}")] if stat.attempts else []),
                _point(face, x(stat.mean), y, own[0]),
                data_series=face.number,
                class_="series",
            )
        )
    return drawing(title, _in_words(lines), frame.width, height, *parts, class_=f"chart {kind}")


def _in_words(lines: Sequence[tuple[Face, Sequence[Row]]]) -> str:
    """What the picture shows, for those who do not see it."""
    return " ".join(
        f"{face.name}: {'; '.join(_said(row) for row in own)}; chance level {own[-1].stat.chance_level:.2f}."
        for face, own in lines
    )
