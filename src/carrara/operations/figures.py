"""Draw a figure or table of a paper."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from attrs import converters, field, frozen
from cyclopts import Parameter

from carrara.operations.printed import Record, Recorded
from carrara.operations.run import read
from carrara.options import (
    File,
    Folder,
    LogOptions,
    ReplaceOptions,
    check_replaceable,
    file_of,
    folder_of,
    is_flag,
    is_text,
    lengths_of,
    one_of,
    pairs,
    text,
)
from carrara.papers.figures import files
from carrara.papers.figures.config import FigureConfig, published_of
from carrara.papers.figures.figure import Figure
from carrara.papers.figures.picture import svg
from carrara.results.result import Result
from carrara.results.scores import METRICS, Metric
from carrara.signature import SEVERAL, takes, takes_several
from carrara.util.errors import UsageError
from carrara.util.files import to_path
from carrara.util.quantities import write_length
from carrara.util.table import table

if TYPE_CHECKING:
    from carrara.papers.scores import PublishedScore
    from carrara.results.series import CellScore


def folders_of(runs: Annotated[Sequence[Folder], text("RUN")]) -> tuple[Path, ...]:
    return tuple(folder_of(run) for run in runs)


def _files_of(files: Annotated[Sequence[File], pairs("FILE", "--scores")]) -> tuple[Path, ...]:
    return tuple(file_of(file) for file in files)


@frozen(kw_only=True, slots=False)
class CorrelateConfig(LogOptions):
    """The scores to correlate."""

    runs: tuple[Path, ...] = field(default=(), converter=folders_of, kw_only=False, metadata=SEVERAL)
    """Folders of runs."""
    scores: tuple[Path, ...] = field(default=(), converter=_files_of)
    """For `correlations`: tables of other scores, CSV with the columns model, benchmark and score."""
    papers: Annotated[str, text("PAPERS")] = field(default="", validator=is_text)
    """For `correlations` and `rankings`: scores in print, of michelangelo, sync, minerva, babilong, cards,
    longbench2, nolima, oolong, or all."""
    alias: Annotated[Sequence[str], pairs("OURS=THEIRS", "--alias")] = ()
    """For `correlations`: two names of one model. Case and names of providers make no difference."""
    lengths: tuple[int, ...] | None = field(default=None, converter=converters.optional(lengths_of))
    """Only items of these lengths, such as 4k,32k."""
    score: Metric = field(default="own", validator=one_of(METRICS))
    """The score that counts: `own` (ours) or `paper` (the paper's own, where it has one)."""


def correlate(config: CorrelateConfig) -> Record:
    """Correlate the scores of runs with other benchmarks and with published scores."""
    from carrara.papers.benchmark_columns import correlate_sources, of_papers
    from carrara.papers.correlations import correlation_lines, correlation_record
    from carrara.papers.external_scores import read_external_scores

    if not (config.runs or config.scores or config.papers):
        raise UsageError("there is nothing to correlate: give folders of runs, `scores` or `papers`")
    printed = _printed(config, default="")
    if config.papers and not of_papers(printed):
        raise UsageError(f"`papers={config.papers}` has no models' scores at these lengths")
    rows = _cell_scores(config)
    outside = [row for path in config.scores for row in read_external_scores(path)]
    correlations = correlate_sources(rows, outside, printed, config.alias)
    return Record(list(correlation_lines(correlations)), values=correlation_record(correlations))


def rank(config: CorrelateConfig) -> Record:
    """Rank the models of runs among the published ones."""
    from carrara.papers.benchmark_columns import first_names
    from carrara.papers.correlations import ranking_lines, ranking_record
    from carrara.papers.vs_published import rankings, unpublished_cells

    for name in ("scores", "alias"):
        if getattr(config, name):
            raise UsageError(f"`{name}` has no effect on rankings, which take published scores of the same tasks")
    if not config.runs:
        raise UsageError("rankings are of models of runs: give folders of runs")
    printed, rows = _printed(config, default="all"), _cell_scores(config)
    boards = rankings(rows, printed)
    unpublished = unpublished_cells(rows, boards)
    if not boards:
        raise UsageError(f"no paper has scores of {first_names(unpublished)}; {_published_lengths(rows, printed)}")
    lines = [line for board in boards for line in ranking_lines(board)]
    lines += [f"no published scores: {', '.join(unpublished)}"] if unpublished else []
    return Record(lines, values={"boards": [ranking_record(board) for board in boards], "not published": unpublished})


def _printed(config: CorrelateConfig, default: str) -> "list[PublishedScore]":
    from carrara.papers.scores import read_scores, select_papers

    papers = config.papers or default
    scores = read_scores(select_papers(papers) if papers else [])
    return [score for score in scores if _has_length(score.length, config.lengths)]


def _has_length(length: int | None, lengths: Sequence[int] | None) -> bool:
    from carrara.results.cards import same_length

    return lengths is None or (length is not None and any(same_length(requested, length) for requested in lengths))


def _cell_scores(config: CorrelateConfig) -> "list[CellScore]":
    from carrara.results.rows import report_failures
    from carrara.results.scores import by_metric
    from carrara.results.series import cell_scores

    if not config.runs:
        return []
    from carrara.runs.log_files import leave_out
    from carrara.runs.replies import read_runs

    results = read_runs(config.runs, leave_out if config.skip_damaged else None)
    matching = [result for result in results if _has_length(result.length, config.lengths)]
    if not matching:
        run_lengths = ", ".join(map(write_length, sorted({result.length for result in results})))
        raise UsageError(f"no result has one of these lengths; the runs have {run_lengths}")
    report_failures(matching)
    return cell_scores(by_metric(matching, config.score))


def _published_lengths(cell_scores: "Sequence[CellScore]", printed: "Sequence[PublishedScore]") -> str:
    """Return where scores are published, for runs that have none at the same lengths."""
    lengths: dict[str, set[int]] = {}
    for score in printed:
        if score.ours and score.length is not None:
            lengths.setdefault(score.ours, set()).add(score.length)
    known = [task for task in dict.fromkeys(score.task for score in cell_scores) if task in lengths]
    if known:
        return f"{known[0]} is published at {', '.join(map(write_length, sorted(lengths[known[0]])))}"
    return f"there are scores of {', '.join(lengths) or 'none of our tasks'}"


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
