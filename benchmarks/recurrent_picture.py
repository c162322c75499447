"""The curves of BABILong's Figures 1b and 3b for qa1, from what was measured here, with the published ones beside."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from carrara.papers.figures.figure import Figure, Mark
from carrara.papers.figures.files import save
from carrara.papers.scores import read_scores

PUBLISHED = (
    "RMT (137M) fine-tune",
    "ARMT (137M) fine-tune",
    "Mamba (130M) fine-tune",
    "Llama3-ChatQA-1.5-8B + RAG",
    "GPT-4 (0125-preview)",
)


def own(rows: Iterable[dict[str, Any]], task: str = "qa1") -> list[Mark]:
    """Means over seeds, for each text."""
    cells: dict[tuple[str, int], list[float]] = {}
    for row in rows:
        if row["test"] == task and row.get("trained", task) == task:
            cells.setdefault((f"{row['kind']}, {row['text']}", row["length"]), []).append(row["score"])
    return [Mark(name, length, fmean(scores)) for (name, length), scores in sorted(cells.items())]


def theirs() -> list[Mark]:
    found = {
        (row.model, row.length): row.score / 100
        for row in read_scores(["babilong"])
        if row.table == "Table 4" and row.task == "QA1" and row.length is not None
    }
    return [
        Mark(name, length, score, published=True)
        for name in PUBLISHED
        for (model, length), score in found.items()
        if model == name
    ]


def draw(rows: Sequence[dict[str, Any]], out: Path) -> None:
    notes = ["Grey models are published."]
    save(Figure("qa1", "qa1: accuracy by length", "curves", [*own(rows), *theirs()], notes=notes), out)
