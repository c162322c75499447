"""The curve of a training, as a picture that stands alone: what was right, and the loss, step by step."""

from collections.abc import Sequence

from markupsafe import Markup

from carrara.results.svg import drawing, number, tag

WIDE, HIGH = 760.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 46.0, 34.0, 34.0
GOOD, COST = "#0b6e99", "#c2571a"
STYLE = "text { font: 12px system-ui, sans-serif; fill: #444 } .end { stroke: #d5d5cf } .axis { stroke: #999 }"


def curve(title: str, points: Sequence[Sequence[float]], ends: Sequence[int]) -> str:
    """Points are step, loss, share of right answers; ends are the last steps of stages."""
    last = max([1.0, *(point[0] for point in points)])
    most = max([1e-9, *(point[1] for point in points)])

    def x(step: float) -> float:
        return LEFT + step / last * (WIDE - LEFT - RIGHT)

    def y(share: float) -> float:
        return HIGH - BOTTOM - share * (HIGH - TOP - BOTTOM)

    drawn = [
        tag("style", Markup(STYLE)),
        tag("rect", width=WIDE, height=HIGH, fill="#fdfdfb"),
        tag("text", title, x=LEFT, y=18),
        *(tag("line", x1=x(step), x2=x(step), y1=y(0), y2=y(1), class_="end") for step in ends),
        tag("line", x1=x(0), x2=x(last), y1=y(0), y2=y(0), class_="axis"),
        *(tag("text", f"{share:g}", x=LEFT - 6, y=y(share) + 4, text_anchor="end", fill=GOOD) for share in (0, 0.5, 1)),
        *(tag("text", f"{share * most:.2g}", x=WIDE - RIGHT + 6, y=y(share) + 4) for share in (0, 1)),
        tag("text", f"{last:,.0f} steps", x=x(last), y=HIGH - 12, text_anchor="end"),
        _path([(x(step), y(loss / most)) for step, loss, _ in points], COST),
        _path([(x(step), y(right)) for step, _, right in points], GOOD),
        _named("right of late (left)", LEFT, GOOD),
        _named("loss of late (right)", LEFT + 150, COST),
        _named("stages end", LEFT + 300, "#b5b5ae"),
    ]
    about = f"{title}: the share of right answers and the loss over {last:,.0f} steps"
    return drawing(title, about, WIDE, HIGH, *drawn, xmlns="http://www.w3.org/2000/svg")


def _path(points: Sequence[tuple[float, float]], colour: str) -> Markup:
    shown = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return tag("polyline", points=shown, fill="none", stroke=colour, stroke_width=1.6)


def _named(name: str, x: float, colour: str) -> Markup:
    return tag("text", name, x=x, y=HIGH - 12, style=f"fill: {colour}")
