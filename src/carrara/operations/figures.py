"""The Python function of `carrara figure`."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path

from carrara.operations.run import read
from carrara.options import File
from carrara.papers.figures import files
from carrara.papers.figures.config import FigureConfig
from carrara.papers.figures.figure import Figure
from carrara.papers.figures.picture import svg
from carrara.results.result import Result
from carrara.signature import takes
from carrara.util.files import to_path


@dataclass(frozen=True, repr=False)
class PaperFigure(Figure):
    """A figure of a paper with its values. It prints as a table, and a notebook shows it as a picture.

    Examples:
        >>> import carrara
        >>> f = carrara.figure("minerva-2")
        >>> f.title
        'Minerva: search'
    """

    def __repr__(self) -> str:
        return str(self)

    def save(self, path: File) -> Path:
        """Write the figure to a file.

        Args:
            path: The file to write. Its ending decides the format: .svg, .html, .csv or .json.

        Returns:
            The path of the file.

        Raises:
            UsageError: The ending is another one.

        Examples:
            >>> import carrara
            >>> carrara.figure("minerva-2").save("minerva-2.csv").stat().st_size > 0
            True
        """
        return files.save(self, to_path(path))

    def _repr_svg_(self) -> str:
        return svg(self)


@takes(FigureConfig)
def figure(config: FigureConfig) -> PaperFigure:
    """Draw a figure or table of a paper, with your own models or the paper's.

    Returns:
        The figure. A notebook shows it as a picture; `.frame()` returns its values, and `.save(path)`
        writes a file.

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
