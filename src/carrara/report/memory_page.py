"""A page about a memory while it reads a context: its changes, its open gates, and its answers."""

from collections.abc import Sequence

from carrara.report.chart import FactMark, attention_map, distance_map, timeline
from carrara.report.html import render_page

Answer = tuple[str, Sequence[str], Sequence[float], Sequence[float], Sequence[Sequence[float]]]
"""A question with, at each point, the right answer and the probabilities of the model, the probe and each store."""


def page(
    title: str,
    segments: int,
    points: Sequence[int],
    facts: Sequence[tuple[int, str, bool]],
    distances: Sequence[Sequence[float]],
    gates: Sequence[Sequence[float]],
    answers: Sequence[Answer],
    attention: Sequence[tuple[str, Sequence[str], Sequence[str], Sequence[Sequence[float]]]],
    probes: Sequence[tuple[str, float, float]],
) -> str:
    """Return the page, which needs no other file.

    Args:
        segments: The number of segments of the context.
        points: The segments after which the memory was inspected.
        facts: For each fact its segment, its text, and whether the answer needs it.
        distances: The distance between the memory at each two points.
        gates: The opening of each gate at each point.
        answers: The answers to each question at each point.
        attention: For each attention map its title, rows, columns and weights.
        probes: For each linear probe its question, its accuracy in other stories, and that of the most frequent answer.
    """
    marks = [FactMark(*fact) for fact in facts]

    def line(name: str, lines: Sequence[Sequence[float]], right: Sequence[str] = ()) -> str:
        return timeline(name, segments, points, marks, lines, right)

    return render_page(
        "memory.html",
        title,
        segments=segments,
        points=points,
        facts=marks,
        probes=probes,
        answers=[
            line(ask, [answer, *([probed] if probed else [])], right) for ask, right, answer, probed, _ in answers
        ],
        stores=[
            line(ask, [list(layer) for layer in zip(*returned, strict=True)], right)
            for ask, right, _, _, returned in answers
            if any(answers[0][4])
        ],
        gates=line("gates", [list(gate) for gate in zip(*gates, strict=True)]) if any(gates) else "",
        attention=[attention_map(*columns) for columns in attention],
        distances=distance_map(points, marks, distances),
    )
