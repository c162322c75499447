"""The papers' figures in Python."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any

from carrara.api._signature import takes
from carrara.api.run import read
from carrara.figures import files, vega
from carrara.figures.config import FigureConfig
from carrara.figures.figure import Figure
from carrara.options import File
from carrara.result import Result
from carrara.util.files import to_path
from carrara.util.table import html


@dataclass(frozen=True, repr=False)
class Drawn(Figure):
    """A figure that shows itself: as a picture in a notebook, or as a table of its values.

    A notebook shows the table too where Vega-Altair and vl-convert are not installed.
    """

    def __repr__(self) -> str:
        return str(self)

    def chart(self) -> Any:
        """Return the figure as a chart of Vega-Altair, to be shown or changed."""
        return vega.chart(self)

    def save(self, path: File) -> Path:
        """Write the figure as .svg, .png, .html, .csv or .json, and return the path."""
        return files.save(self, to_path(path))

    def _repr_svg_(self) -> str | None:
        return None if vega.missing() else vega.svg(self)

    def _repr_html_(self) -> str | None:
        if not vega.missing():
            return None
        return html([*self.lines_of_text(), f"to see the picture: {vega.INSTALL}"])


@takes(FigureConfig)
def figure(config: FigureConfig) -> Drawn:
    """Draw a figure or table of a paper, of your own models or of the paper's.

    In a notebook it shows as a picture; `.chart()` is the chart, `.frame()` its values, `.save(path)` writes a file.

    >>> import carrara
    >>> f = carrara.figure("minerva-2")
    >>> f.frame().query("model == 'gpt-4o'")["score"].tolist()
    [1.0, 0.82, 1.0, 1.0]
    """
    shown = config.draw(_results(config.runs))
    return Drawn(**{field.name: getattr(shown, field.name) for field in fields(shown)})


def _results(runs: Sequence[Path] | Sequence[Result]) -> list[Result]:
    folders = [run for run in runs if isinstance(run, PathLike)]
    return list(read(*folders)) if folders else [run for run in runs if isinstance(run, Result)]
