"""The curves of BABILong's Figures 1b and 3b for qa1, from what was measured here, with the published ones beside."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from markupsafe import Markup

from carrara.core.lengths import write_length
from carrara.results.published.scores import read_scores
from carrara.results.svg import drawing, number, tag

WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM = 940.0, 440.0, 44.0, 300.0, 24.0, 44.0
COLOURS = ("#0b6e99", "#c2571a", "#3d7a37", "#7c4d9e", "#a8324a", "#6b6b00", "#15756b", "#8a5a2b")
PUBLISHED = (
    "RMT (137M) fine-tune",
    "ARMT (137M) fine-tune",
    "Mamba (130M) fine-tune",
    "Llama3-ChatQA-1.5-8B + RAG",
    "GPT-4 (0125-preview)",
)
GAP = 15.0

Line = tuple[str, dict[int, float]]


def own(rows: Iterable[dict[str, Any]], test: str = "qa1") -> list[Line]:
    """Means over seeds, for each text."""
    cells: dict[str, dict[int, list[float]]] = {}
    for row in rows:
        if row["test"] == test and row.get("trained", test) == test:
            cells.setdefault(f"{row['kind']}, {row['text']}", {}).setdefault(row["length"], []).append(row["score"])
    return [(name, {n: fmean(found) for n, found in sorted(cell.items())}) for name, cell in sorted(cells.items())]


def theirs() -> list[Line]:
    found: dict[str, dict[int, float]] = {}
    for row in read_scores(["babilong"]):
        if row.table == "Table 4" and row.test == "QA1" and row.model in PUBLISHED and row.length is not None:
            found.setdefault(row.model, {})[row.length] = row.score / 100
    return [(f"{name}, published", found[name]) for name in PUBLISHED if name in found]


def draw(rows: Sequence[dict[str, Any]], out: Path) -> None:
    lines = [*own(rows), *theirs()]
    lengths = sorted({length for _, points in lines for length in points})

    def x(length: int) -> float:
        return LEFT + lengths.index(length) / max(1, len(lengths) - 1) * (WIDE - LEFT - RIGHT)

    def y(score: float) -> float:
        return HIGH - BOTTOM - score * (HIGH - TOP - BOTTOM)

    drawn: list[Markup] = [tag("style", "text { font: 12px system-ui, sans-serif }")]
    drawn.append(tag("rect", width=WIDE, height=HIGH, fill="#fdfdfb"))
    for share in (0, 0.25, 0.5, 0.75, 1):
        drawn.append(tag("line", x1=LEFT, x2=WIDE - RIGHT, y1=y(share), y2=y(share), stroke="#e2e2dc"))
        drawn.append(tag("text", f"{share:g}", x=LEFT - 8, y=y(share) + 4, text_anchor="end"))
    drawn += [tag("text", write_length(n), x=x(n), y=HIGH - BOTTOM + 18, text_anchor="middle") for n in lengths]
    for place, (name, points) in enumerate(lines):
        colour = COLOURS[place % len(COLOURS)]
        dashes = {"stroke_dasharray": "5 4"} if name.endswith("published") else {}
        path = " ".join(f"{number(x(n))},{number(y(score))}" for n, score in points.items())
        drawn.append(tag("polyline", points=path, fill="none", stroke=colour, stroke_width=1.8, **dashes))
        drawn += [tag("circle", cx=x(n), cy=y(score), r=2.5, fill=colour) for n, score in points.items()]
        at = TOP + 8 + place * GAP
        drawn.append(
            tag("line", x1=WIDE - RIGHT + 16, x2=WIDE - RIGHT + 42, y1=at - 4, y2=at - 4, stroke=colour, **dashes)
        )
        drawn.append(tag("text", name, x=WIDE - RIGHT + 48, y=at))
    about = "Accuracy on qa1 against length, of models measured here and of published ones"
    svg = drawing("qa1 against length", about, WIDE, HIGH, *drawn, xmlns="http://www.w3.org/2000/svg")
    out.write_text(svg, encoding="utf-8")
