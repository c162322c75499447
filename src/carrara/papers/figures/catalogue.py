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
    one = definition(name)
    if not one.is_drawn:
        raise UsageError(f"{one.name} is made by a command of its own: {one.command}")
    report_failures(data.results)
    made = MAKERS[one.paper][one.maker](one, data) if one.maker else one.figure(scores(one, data))
    if not made.marks:
        published = f"; `carrara figure {one.name}` without runs shows the paper's own models" if one.published else ""
        raise UsageError(f"there is nothing of {one.name} here; {one.command} makes what it is drawn from{published}")
    owners = {mark.published for mark in made.marks}
    if owners == {False} and one.published and data.scores and made.form != "matrix":
        raise UsageError(
            f"{one.name} has no published values of what was run; {one.command} runs what the paper has, "
            "or leave out `published`"
        )
    if len(owners) > 1 and not any(result.metric for result in data.results):
        note = (
            "Published scores are by the paper's metric, and those of the runs are Carrara's own; "
            "with the score `paper` both are by the paper's metric."
        )
        return replace(made, notes=[*made.notes, note])
    return made
