"""What is inside a memory, as a page: how it moves, when it opens, what it would answer. Plain numbers come in."""

from collections.abc import Sequence

from markupsafe import Markup

from carrara.results.svg import drawing, tag

SIZE, LEFT, TOP = 560.0, 40.0, 30.0
WIDE, HIGH = 860.0, 150.0
COLOURS = ("#0b6e99", "#c2571a", "#3d7a37", "#7c4d9e", "#a8324a", "#6b6b00")

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 900px; padding: 0 1rem; color: #1c1c1c;
       background: #fdfdfb; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
svg { width: 100%; height: auto; } text { font: 11px system-ui, sans-serif; fill: #444; }
.fact { stroke: #c2571a; stroke-width: 1; } .other { stroke: #b9b9b2; stroke-width: 1; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .15rem .8rem .15rem 0; }
@media (prefers-color-scheme: dark) { body { background: #17181a; color: #e8e6e3; } text { fill: #b9b9b2; } }
"""


def page(
    title: str,
    segments: int,
    points: Sequence[int],
    facts: Sequence[tuple[int, str, bool]],
    distances: Sequence[Sequence[float]],
    opened: Sequence[Sequence[float]],
    answers: Sequence[tuple[str, Sequence[str], Sequence[float], Sequence[float], Sequence[Sequence[float]]]],
    attended: Sequence[tuple[str, Sequence[str], Sequence[str], Sequence[Sequence[float]]]],
    probes: Sequence[tuple[str, float, float]],
) -> str:
    """One page that needs nothing beside it.

    A fact is its segment, its text, and whether the answer needs it; an answer is its question, what is right, the
    model's chance of it, the probe's, and that of each store; a probe is its question, how often it is right in other
    stories, and how often the commonest answer is.
    """
    parts = [
        tag("h1", title),
        tag("p", f"{segments:,} segments, {len(points)} of them looked at. Orange lines: facts that the answer needs."),
        _table(facts),
        tag("h2", "What it would answer"),
        tag("p", "Blue: the chance that it gives the right answer by what was told so far, of all options."),
    ]
    if probes:
        parts.append(tag("p", "Orange: how much of that answer a linear probe sees in its memory."))
    for ask, right, chance, probed, _ in answers:
        parts.append(_line(ask, segments, points, facts, [chance, *([probed] if probed else [])], [right]))
    if probes:
        parts.append(_probes(probes))
    if any(returned and returned[0] for *_, returned in answers):
        parts += [
            tag("h2", "What its stores return"),
            tag("p", "For each question, the chance of the right answer if what one layer's store returns were all that"
                     " the head is told: one line a layer, the first blue, then orange, then green."),
        ]  # fmt: skip
        for ask, right, _, _, returned in answers:
            layers = [list(layer) for layer in zip(*returned, strict=True)]
            parts.append(_line(ask, segments, points, facts, layers, [right]))
    if any(opened):
        gates = [[one[gate] for one in opened] for gate in range(len(opened[0]))]
        parts += [
            tag("h2", "How far its gates were open"),
            tag("p", "One line a gate: 0 keeps what was there to the bit, 1 replaces it."),
            _line("gates", segments, points, facts, gates, []),
        ]
    if attended:
        parts += [tag("h2", "Where a fact is written, and where it is read")]
        parts += [tag("p", "Attention in the last layer, the mean of its heads; dark is much.")]
        parts += [_attention(*one) for one in attended]
    parts += [
        tag("h2", "How far it moved"),
        tag("p", "The distance between its memory at each two points: light is near, dark is far."),
        _map(points, facts, distances),
    ]
    head = Markup(
        "<meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        '<meta name="generator" content="carrara inside">'
    )
    whole = tag(
        "html", tag("head", head, tag("title", title), tag("style", Markup(STYLE))), tag("body", *parts), lang="en"
    )
    return f"<!doctype html>\n{whole}\n"


def _table(facts: Sequence[tuple[int, str, bool]]) -> Markup:
    rows = [tag("tr", tag("th", "segment"), tag("th", "fact"), tag("th", "needed"))]
    rows += [
        tag("tr", tag("td", f"{segment + 1:,}"), tag("td", text), tag("td", "yes" if needed else ""))
        for segment, text, needed in facts
    ]
    return tag("table", *rows)


def _probes(probes: Sequence[tuple[str, float, float]]) -> Markup:
    head = tag("tr", *(tag("th", name) for name in ("linear probe", "right in other stories", "commonest answer")))
    shown = [(ask, f"{right:.2f}", f"{commonest:.2f}") for ask, right, commonest in probes]
    return tag("table", head, *(tag("tr", *(tag("td", cell) for cell in row)) for row in shown))


def _line(
    name: str,
    segments: int,
    points: Sequence[int],
    facts: Sequence[tuple[int, str, bool]],
    lines: Sequence[Sequence[float]],
    said: Sequence[Sequence[str]],
) -> Markup:
    """Values from 0 to 1 along the context."""

    def x(segment: float) -> float:
        return LEFT + (segment + 1) / max(1, segments) * (WIDE - LEFT - 10)

    def y(value: float) -> float:
        return HIGH - 20 - value * (HIGH - 50)

    drawn = [
        tag("text", name, x=LEFT, y=14),
        *(tag("text", f"{v:g}", x=LEFT - 6, y=y(v) + 4, text_anchor="end") for v in (0, 1)),
    ]
    drawn += [
        tag("line", x1=x(segment), x2=x(segment), y1=y(0), y2=y(1), class_="fact" if needed else "other")
        for segment, _, needed in facts
    ]
    for number, values in enumerate(lines):
        path = " ".join(f"{x(point):.1f},{y(value):.1f}" for point, value in zip(points, values, strict=True))
        drawn.append(tag("polyline", points=path, fill="none", stroke=COLOURS[number % len(COLOURS)], stroke_width=1.5))
    for words in said:
        before = ""
        for point, word in zip(points, words, strict=True):
            if word != before:
                drawn.append(tag("text", word, x=x(point), y=HIGH - 6))
                before = word
    return drawing(name, f"{name}, along {segments} segments", WIDE, HIGH, *drawn)


def _map(points: Sequence[int], facts: Sequence[tuple[int, str, bool]], distances: Sequence[Sequence[float]]) -> Markup:
    cell = SIZE / len(points)
    squares = [
        _square(LEFT + column * cell, TOP + row * cell, cell, cell, value)
        for row, values in enumerate(distances)
        for column, value in enumerate(values)
    ]
    marks = []
    for segment, _, needed in facts:
        at = LEFT + (sum(point <= segment for point in points) - 0.5) * cell
        marks.append(tag("line", x1=at, x2=at, y1=TOP - 12, y2=TOP - 2, class_="fact" if needed else "other"))
    return drawing(
        "distances",
        "Distances between the memory at each two points",
        SIZE + 2 * LEFT,
        SIZE + TOP + 10,
        *squares,
        *marks,
    )


def _attention(title: str, rows: Sequence[str], columns: Sequence[str], weights: Sequence[Sequence[float]]) -> Markup:
    """Who looks at what: a row each, shaded by the most that anybody looks at anything."""
    most = max(max(values) for values in weights) or 1.0
    left, top, high = 80.0, 96.0, 16.0
    wide = min(26.0, (WIDE - left) / len(columns))
    drawn = [tag("text", title, x=0, y=12)]
    for number, name in enumerate(columns):
        x = left + (number + 0.7) * wide
        drawn.append(tag("text", name, x=x, y=top - 6, transform=f"rotate(-60 {x:.1f} {top - 6:.1f})"))
    for row, (name, values) in enumerate(zip(rows, weights, strict=True)):
        drawn.append(tag("text", name, x=left - 6, y=top + row * high + 12, text_anchor="end"))
        drawn += [
            _square(left + n * wide, top + row * high, wide, high, value / most) for n, value in enumerate(values)
        ]
    return drawing(title, title, WIDE, top + len(rows) * high + 10, *drawn)


def _square(x: float, y: float, width: float, height: float, value: float) -> Markup:
    fill = f"rgb({_shade(value, 253, 11)},{_shade(value, 252, 60)},{_shade(value, 245, 110)})"
    return tag("rect", x=x, y=y, width=width + 0.3, height=height + 0.3, fill=fill)


def _shade(value: float, light: int, dark: int) -> int:
    return round(light + value * (dark - light))
