"""carrara correlate: correlate scores with other benchmarks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from carrara.cli._flags import Json, OnlyLengths, RunFolder, Score, several
from carrara.cli._output import print_json, show
from carrara.options import File, Flag, file_of, folder_of, lengths_of, text
from carrara.util.errors import UsageError
from carrara.util.quantities import write_length

if TYPE_CHECKING:
    from carrara.papers.scores import PublishedScore as Published
    from carrara.results.scores import Metric
    from carrara.results.series import CellScore

SCORES_HELP = "A table of other scores, CSV with the columns model, benchmark and score."
PUBLISHED_HELP = "Scores that papers print: michelangelo, sync, minerva, babilong, or all."
ALIAS_HELP = "Two names of one model. Case and names of providers make no difference."


def correlate(
    *runs: RunFolder,
    scores: Annotated[Sequence[File], several("FILE", SCORES_HELP)] = (),
    published: Annotated[str, text("PAPERS", help=PUBLISHED_HELP)] = "",
    rank: Flag = False,
    alias: Annotated[Sequence[str], several("OURS=THEIRS", ALIAS_HELP)] = (),
    lengths: OnlyLengths = None,
    score: Score = "own",
    as_json: Json = False,
) -> int:
    """Correlate scores with other benchmarks and with published scores, or rank models among the published ones.

    Example: carrara correlate runs/all --scores leaderboard.csv --lengths 32k

    Args:
        rank: Rank the models of the runs among the published ones instead.
    """
    from carrara.papers.benchmark_columns import of_papers
    from carrara.papers.scores import PAPERS, read_scores, select_papers

    if not (runs or scores or published):
        raise UsageError("there is nothing to correlate: give folders of runs, `scores` or `published`")
    wanted = None if lengths is None else lengths_of(lengths)
    papers = select_papers(published) if published else list(PAPERS) if rank else []
    printed = [one for one in read_scores(papers) if _has_length(one.length, wanted)]
    if rank:
        for name, given in (("scores", scores), ("alias", alias)):
            if given:
                raise UsageError(f"`{name}` has no effect with `rank`, which takes published scores of the same tasks")
        if not runs:
            raise UsageError("`rank` ranks models of runs: give folders of runs")
        return _rank(_cell_scores(runs, wanted, score), printed, as_json)
    if published and not of_papers(printed):
        raise UsageError(f"`published={published}` has no models' scores at these lengths")
    return _correlate(_cell_scores(runs, wanted, score), scores, printed, alias, as_json)


def _has_length(length: int | None, wanted: Sequence[int] | None) -> bool:
    from carrara.papers.vs_published import same_length

    return wanted is None or (length is not None and any(same_length(one, length) for one in wanted))


def _cell_scores(runs: Sequence[RunFolder], lengths: Sequence[int] | None, score: "Metric") -> "list[CellScore]":
    from carrara.results.rows import report_failures
    from carrara.results.scores import by_metric
    from carrara.results.series import cell_scores

    if not runs:
        return []
    from carrara.runs.log_files import leave_out
    from carrara.runs.replies import read_runs

    results = read_runs([folder_of(run) for run in runs], leave_out)
    kept = [result for result in results if _has_length(result.length, lengths)]
    if not kept:
        have = ", ".join(map(write_length, sorted({result.length for result in results})))
        raise UsageError(f"no result has one of these lengths; the runs have {have}")
    report_failures(kept)
    return cell_scores(by_metric(kept, score))


def _correlate(
    own: "list[CellScore]", scores: Sequence[File], printed: "list[Published]", alias: Sequence[str], as_json: bool
) -> int:
    from carrara.papers.benchmark_columns import correlate_sources
    from carrara.papers.correlations import correlation_lines, correlation_record
    from carrara.papers.external_scores import read_external_scores

    outside = [row for path in scores for row in read_external_scores(file_of(path))]
    found = correlate_sources(own, outside, printed, alias)
    if as_json:
        print_json(correlation_record(found))
        return 0
    for line in correlation_lines(found):
        show(line)
    return 0


def _rank(own: "list[CellScore]", printed: "list[Published]", as_json: bool) -> int:
    from carrara.papers.benchmark_columns import first_names
    from carrara.papers.correlations import ranking_lines, ranking_record
    from carrara.papers.vs_published import rankings, unpublished_cells

    found = rankings(own, printed)
    left = unpublished_cells(own, found)
    if not found:
        raise UsageError(f"no paper has scores of {first_names(left)}; {_published_lengths(own, printed)}")
    if as_json:
        print_json({"boards": [ranking_record(board) for board in found], "not published": left})
        return 0
    for board in found:
        for line in ranking_lines(board):
            show(line)
    if left:
        show(f"no published scores: {', '.join(left)}")
    return 0


def _published_lengths(own: "Sequence[CellScore]", printed: "Sequence[Published]") -> str:
    """Return the published models or figures to suggest for a name that was not found."""
    lengths: dict[str, set[int]] = {}
    for score in printed:
        if score.ours and score.length is not None:
            lengths.setdefault(score.ours, set()).add(score.length)
    known = [task for task in dict.fromkeys(one.task for one in own) if task in lengths]
    if known:
        return f"{known[0]} is published at {', '.join(map(write_length, sorted(lengths[known[0]])))}"
    return f"there are scores of {', '.join(lengths) or 'none of our tasks'}"
