"""Correlate scores with other benchmarks and with published scores, or rank models among the published ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from attrs import converters, field, frozen

from carrara.operations.printed import Record
from carrara.options import File, Folder, LogOptions, file_of, folder_of, is_text, lengths_of, one_of, pairs, text
from carrara.results.scores import METRICS, Metric
from carrara.signature import SEVERAL
from carrara.util.errors import UsageError
from carrara.util.quantities import write_length

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
    """For `correlations` and `rankings`: scores that papers print, michelangelo, sync, minerva, babilong, or all."""
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
    from carrara.papers.vs_published import same_length

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
