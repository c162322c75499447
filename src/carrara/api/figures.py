"""The papers' figures in Python."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any

from carrara.api.results import Results
from carrara.api.run import read
from carrara.core.places import place
from carrara.core.result import Result
from carrara.core.table import html
from carrara.options import File, Lengths, lengths_of
from carrara.results.analysis.metric import Metric, by_metric
from carrara.results.figures import files, vega
from carrara.results.figures.catalogue import entry
from carrara.results.figures.catalogue import figure as made
from carrara.results.figures.figure import Figure
from carrara.results.figures.marks import Evidence


@dataclass(frozen=True, repr=False)
class Drawn(Figure):
    """A figure that shows itself: as a picture in a notebook, or as a table of its values.

    A notebook shows the table too where Vega-Altair and vl-convert are not installed.
    """

    def __repr__(self) -> str:
        return str(self)

    def chart(self) -> Any:
        """It as a chart of Vega-Altair, to be shown or changed."""
        return vega.chart(self)

    def save(self, path: File) -> Path:
        """Write it as .svg, .png, .html, .csv or .json, and say where it is."""
        return files.save(self, place(path))

    def _repr_svg_(self) -> str | None:
        return None if vega.missing() else vega.svg(self)

    def _repr_html_(self) -> str | None:
        if not vega.missing():
            return None
        return html([*self.lines_of_text(), f"to see the picture: {vega.INSTALL}"])


def figure(
    name: str,
    runs: Results | File | Sequence[File] = (),
    /,
    *,
    lengths: Lengths | None = None,
    score: Metric = "sound",
    beside: bool | str | Sequence[str] = False,
) -> Drawn:
    """A paper's figure or table by its name (`babilong-2`): of runs, with the paper's own models beside, or of these.

    `runs` is what `carrara.run` or `carrara.read` gave, or folders; without any, the paper's models are shown. In a
    notebook it shows as a picture; `.chart()` is the chart, `.frame()` its values, `.save(path)` writes a file.

    >>> import carrara
    >>> f = carrara.figure("minerva-2")
    >>> f.frame().query("model == 'gpt-4o'")["score"].tolist()
    [1.0, 0.82, 1.0, 1.0]
    """
    from carrara.results.published.scores import read_scores

    found = _results(runs)
    scores = read_scores([entry(name).paper]) if beside or not found else []
    models = [] if isinstance(beside, bool) else [beside] if isinstance(beside, str) else list(beside)
    evidence = Evidence(by_metric(found, score), scores, models)
    shown = made(name, evidence if lengths is None else evidence.at(lengths_of(lengths)))
    return Drawn(**{field.name: getattr(shown, field.name) for field in fields(shown)})


def _results(runs: Results | File | Sequence[File]) -> list[Result]:
    if isinstance(runs, Results):
        return list(runs)
    folders = [runs] if isinstance(runs, (str, PathLike)) else list(runs)
    return list(read(*folders)) if folders else []
