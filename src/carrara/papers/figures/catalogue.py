"""Make a figure of a paper by its name: `babilong-table-2`, or `babilong-2` if the number is unambiguous."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from carrara.papers.figures import babilong, michelangelo, minerva, sync
from carrara.papers.figures.definitions import Definition, definition
from carrara.papers.figures.figure import Figure
from carrara.papers.figures.marks import FigureData, scores
from carrara.results.rows import report_failures
from carrara.util.errors import UsageError

Makers = Mapping[str, Callable[[Definition, FigureData], Figure]]

MAKERS: Mapping[str, Makers] = {
    "babilong": babilong.MAKERS,
    "michelangelo": michelangelo.MAKERS,
    "minerva": minerva.MAKERS,
    "sync": sync.MAKERS,
}


def figure(name: str, data: FigureData) -> Figure:
    """Return a figure of these data.

    Raises:
        UsageError: No figure has this name, or the data have nothing of it.
    """
    entry = definition(name)
    if not entry.is_drawn:
        raise UsageError(f"{entry.name} is made by a command of its own: {entry.command}")
    report_failures(data.results)
    drawn = MAKERS[entry.paper][entry.maker](entry, data) if entry.maker else entry.figure(scores(entry, data))
    if not drawn.marks:
        published = (
            f"; `carrara figure {entry.name}` without runs shows the paper's own models" if entry.published else ""
        )
        raise UsageError(
            f"there is nothing of {entry.name} here; {entry.command} makes what it is drawn from{published}"
        )
    published_flags = {mark.published for mark in drawn.marks}
    if published_flags == {False} and entry.published and data.scores and drawn.form != "matrix":
        raise UsageError(
            f"{entry.name} has no published values of what was run; {entry.command} runs what the paper has, "
            "or leave out `published`"
        )
    if len(published_flags) > 1 and not any(result.metric for result in data.results):
        note = (
            "Published scores are by the paper's metric, and those of the runs are Carrara's own; "
            "with the score `paper` both are by the paper's metric."
        )
        return replace(drawn, notes=[*drawn.notes, note])
    return drawn
