"""The Python function of `carrara figure`."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any

from carrara.operations.run import read
from carrara.options import File
from carrara.papers.figures import files, vega
from carrara.papers.figures.config import FigureConfig
from carrara.papers.figures.figure import Figure
from carrara.results.result import Result
from carrara.signature import takes
from carrara.util.files import to_path
from carrara.util.table import html


@dataclass(frozen=True, repr=False)
class PaperFigure(Figure):
    """A figure of a paper with its values. It prints as a table, and a notebook shows it as a picture.

    A notebook shows the table if Vega-Altair and vl-convert are not installed.

    Examples:
        >>> import carrara
        >>> f = carrara.figure("minerva-2")
        >>> f.title
        'Minerva: search'
    """

    def __repr__(self) -> str:
        return str(self)

    def chart(self) -> Any:
        """Return the figure as a chart of Vega-Altair, which you can change.

        Returns:
            An `altair.Chart`, or a combination of several.

        Raises:
            UsageError: Vega-Altair is not installed.

        Examples:
            >>> import carrara
            >>> wider = carrara.figure("minerva-2").chart().properties(title="Search")
        """
        return vega.chart(self)

    def save(self, path: File) -> Path:
        """Write the figure to a file.

        Args:
            path: The file to write. Its ending decides the format: .svg, .png, .html, .csv or .json.

        Returns:
            The path of the file.

        Raises:
            UsageError: The ending is another one, or the packages that draw pictures are not installed.

        Examples:
            >>> import carrara
            >>> carrara.figure("minerva-2").save("minerva-2.csv").stat().st_size > 0
            True
        """
        return files.save(self, to_path(path))

    def _repr_svg_(self) -> str | None:
        return None if vega.missing() else vega.svg(self)

    def _repr_html_(self) -> str | None:
        if not vega.missing():
            return None
        return html([*self.lines_of_text(), f"to see the picture: {vega.INSTALL}"])


@takes(FigureConfig)
def figure(config: FigureConfig) -> PaperFigure:
    """Draw a figure or table of a paper, with your own models or the paper's.

    Returns:
        The figure. A notebook shows it as a picture; `.chart()` returns the chart, `.frame()` its values, and
        `.save(path)` writes a file.

    Raises:
        UsageError: There is no such figure, the runs have no results for it, or the paper has no such model.

    Examples:
        >>> import carrara
        >>> f = carrara.figure("minerva-2")
        >>> f.frame().query("model == 'gpt-4o'")["score"].tolist()
        [1.0, 0.82, 1.0, 1.0]
    """
    shown = config.draw(_results(config.runs))
    return PaperFigure(**{field.name: getattr(shown, field.name) for field in fields(shown)})


def _results(runs: Sequence[Path] | Sequence[Result]) -> list[Result]:
    folders = [run for run in runs if isinstance(run, PathLike)]
    return list(read(*folders)) if folders else [run for run in runs if isinstance(run, Result)]
