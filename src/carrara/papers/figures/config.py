"""`FigureConfig`: the figure to draw, and the runs and published models in it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from attrs import converters, field, frozen

from carrara.options import File, folder_of, lengths_of, one_of, text
from carrara.papers.figures import babilong, michelangelo, minerva, sync
from carrara.papers.figures.definitions import Definition, definition
from carrara.papers.figures.figure import Figure
from carrara.papers.figures.marks import FigureData, scores
from carrara.papers.scores import read_scores
from carrara.results.result import Result
from carrara.results.rows import report_failures
from carrara.results.scores import METRICS, Metric, by_metric
from carrara.util.errors import UsageError, nearest

BEST = "best"
"""The value of `published` for the best published models."""


def runs_of(runs: File | Iterable[File] | Sequence[Result]) -> tuple[Path, ...] | tuple[Result, ...]:
    """Return folders of runs, or results as they are."""
    values = list(runs) if isinstance(runs, Iterable) and not isinstance(runs, str) else [runs]
    results = tuple(value for value in values if isinstance(value, Result))
    return results or tuple(folder_of(value) for value in values if not isinstance(value, Result))


def published_of(value: Annotated[bool | str | Sequence[str] | None, text("best|MODELS")]) -> tuple[str, ...]:
    """Return parts of the names of published models.

    >>> published_of("GPT-4, RMT"), published_of("best"), published_of(True), published_of(False)
    (('GPT-4', 'RMT'), ('best',), ('best',), ())
    """
    if value is None or isinstance(value, bool):
        return (BEST,) if value else ()
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, Sequence) else [value]
    names = tuple(name.strip() if isinstance(name, str) else "" for name in parts)
    if not all(names):
        raise UsageError(f"`published` has an empty name: give `{BEST}`, or names of models with a comma between them")
    return names


@frozen(kw_only=True, slots=False)
class FigureConfig:
    """The figure to draw, and the runs to draw it from."""

    name: str = field(kw_only=False)
    """Name of the figure, such as babilong-2 or michelangelo-9."""
    runs: tuple[Path, ...] | tuple[Result, ...] = field(default=(), converter=runs_of, kw_only=False)
    """Folders of runs, or what `carrara.run` or `carrara.read` returned."""
    lengths: tuple[int, ...] | None = field(default=None, converter=converters.optional(lengths_of))
    """Only items of these lengths, such as 4k,32k."""
    score: Metric = field(default="own", validator=one_of(METRICS))
    """The score that counts: `own` (ours) or `paper` (the paper's own, where it has one)."""
    published: tuple[str, ...] = field(default=(), converter=published_of)
    """Show the paper's own models beside those of the runs: the `best` eight, or those whose names contain one of these
    texts. Without runs and without this option, a figure shows all of the paper's models."""

    def draw(self, results: Sequence[Result]) -> Figure:
        """Return the figure of the results of the runs."""
        published = read_scores([definition(self.name).paper]) if self.published or not results else []
        models = () if self.published == (BEST,) else self.published
        names = {score.name for score in published}
        for part in models:
            if not any(part.lower() in name.lower() for name in names):
                raise UsageError(
                    f"`published={part}`: the paper has no model whose name contains it{nearest(part, names)}; "
                    f"give a part of a name, or `{BEST}`"
                )
        data = FigureData(by_metric(results, self.score), published, models, self.published == (BEST,))
        return figure(self.name, data if self.lengths is None else data.at_lengths(self.lengths))


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
