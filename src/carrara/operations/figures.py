"""Draw a figure or table of a paper."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

from attrs import converters, field, frozen
from cyclopts import Parameter

from carrara.operations.correlate import CorrelateConfig, correlate, folders_of, rank
from carrara.operations.printed import Record, Recorded
from carrara.operations.run import read
from carrara.options import (
    File,
    ReplaceOptions,
    check_replaceable,
    folder_of,
    is_flag,
    text,
)
from carrara.papers.figures import files
from carrara.papers.figures.config import FigureConfig, published_of
from carrara.papers.figures.figure import Figure
from carrara.papers.figures.picture import svg
from carrara.results.result import Result
from carrara.signature import SEVERAL, takes, takes_several
from carrara.util.errors import UsageError
from carrara.util.files import to_path
from carrara.util.table import table


@dataclass(frozen=True, repr=False)
class PaperFigure(Recorded, Figure):
    """A figure of a paper with its values. It prints as a table, and a notebook shows it as a picture.

    Examples:
        >>> import carrara
        >>> f = carrara.figure("minerva-2")
        >>> f.title
        'Minerva: search'
    """

    out: Path | None = None
    """The file that the command wrote."""

    def lines(self) -> list[str]:
        return [str(self), *([f"\n{self.out}"] if self.out else [])]

    def record(self) -> dict[str, Any]:
        return files.about(self)

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


# --- the command, which also lists figures and has figures of no paper ---

OF_RUNS: dict[str, Callable[[CorrelateConfig], Record]] = {"correlations": correlate, "rankings": rank}
"""The figures of no paper, by name."""


@frozen(kw_only=True, slots=False)
class FigureCommandConfig(CorrelateConfig, ReplaceOptions):
    """The figure to draw or to describe."""

    name: Annotated[str, text("NAME")] = field(default="", kw_only=False)
    """Name of a figure, such as babilong-2 or michelangelo-9; or `correlations` of scores with other benchmarks, or
    `rankings` among the published models. By default list the figures."""
    runs: tuple[Path, ...] = field(default=(), converter=folders_of, kw_only=False, metadata=SEVERAL)
    """Folders of runs."""
    published: tuple[str, ...] = field(default=(), converter=published_of)
    """Show the paper's own models beside those of the runs: the `best` eight, or those whose names contain one of these
    texts. Without runs and without this option, a figure shows all of the paper's models."""
    out: Path | None = field(default=None, converter=converters.optional(folder_of))
    """Draw it into a file, whose name ends with .svg, .html, .csv or .json."""
    as_list: Annotated[bool, Parameter(name="--list", show_default=False, negative=())] = field(
        default=False, validator=is_flag
    )
    """List the figures; with a name, say what that one shows and what it needs."""


@takes_several(FigureCommandConfig)
def figure_command(config: FigureCommandConfig) -> PaperFigure | Record:
    """Draw a figure or table of a paper, with your own models or the paper's."""
    if config.name in OF_RUNS and not config.as_list:
        for name in ("published", "out"):
            if getattr(config, name):
                raise UsageError(f"`{name}` is for figures of papers: {config.name} are printed; leave it out")
        return OF_RUNS[config.name](config)
    if config.as_list or not config.name:
        return _list(config.name)
    for name in ("scores", "papers", "alias"):
        if getattr(config, name):
            raise UsageError(f"`{name}` is for the figures {' and '.join(OF_RUNS)}: leave it out")
    from carrara.runs.log_files import leave_out
    from carrara.runs.replies import read_runs

    settings = FigureConfig(config.name, lengths=config.lengths, score=config.score, published=config.published)
    drawn = settings.draw(read_runs(config.runs, leave_out if config.skip_damaged else None))
    if out := config.out:
        check_replaceable(out, config.force, lambda head: files.is_figure(head, drawn, out))
        files.save(drawn, out)
    return PaperFigure(**{field.name: getattr(drawn, field.name) for field in fields(drawn)}, out=config.out)


def _list(name: str) -> Record:
    from carrara.papers.figures.definitions import definition, definitions

    shown = [definition(name)] if name else list(definitions().values())
    values = [
        {
            "name": entry.name,
            "says": entry.description,
            "command": entry.command,
            "published": entry.published,
            "drawn": entry.is_drawn,
        }
        for entry in shown
    ]
    if name:
        [entry] = shown
        lines = [f"{entry.name}: {entry.description}", f"made by: {entry.command}", entry.differs]
        return Record([line for line in lines if line], values=values)
    rows = [
        (
            entry.name,
            entry.description,
            "yes" if entry.published else "",
            entry.command if entry.is_drawn else f"itself: {entry.command}",
        )
        for entry in shown
    ]
    return Record(list(table(["figure", "what it shows", "published models", "made of"], rows)), values=values)
