"""carrara report: write the report of a run."""

from typing import Annotated

from carrara.cli._flags import Allow, Force, Json, MinBaseScore, Score
from carrara.cli._output import check_replaceable, is_page, print_json, show, show_lines
from carrara.options import File, Folder, folder_of, text
from carrara.results.result import MIN_BASE_SCORE
from carrara.util.errors import RunError, UsageError
from carrara.util.quoting import shell_word


def report(
    run: Annotated[Folder, text("RUN", help="Folder of a run, or of results that `carrara score --out` wrote.")],
    /,
    *,
    out: Annotated[File, text("FILE", help="Where to write the page, by default RUN/report.html.")] = "",
    by: Annotated[str, text("LABELS")] = "",
    score: Score = "own",
    min_base_score: MinBaseScore = MIN_BASE_SCORE,
    allow: Allow | None = None,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Write the report of a run as an HTML page, and print its table.

    Example: carrara report runs/first

    Args:
        by: Print a row for each value of these labels of the items, such as complexity,view, and write no page.
    """
    from carrara.report.page import write_report
    from carrara.report.snippets import SnippetFinder, find_shortcuts
    from carrara.report.tables import score_lines, summary_lines
    from carrara.results import record
    from carrara.results.completeness import describe_missing
    from carrara.results.rows import summarize_by_labels
    from carrara.results.scores import by_metric
    from carrara.results.summary import Summary
    from carrara.runs.log_files import leave_out
    from carrara.runs.manifest import parts
    from carrara.runs.replies import read_results
    from carrara.tokenizers.permission import allow_all

    allow_all(allow)
    folder = folder_of(run)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; give the one that `carrara run --out DIR` wrote")
    results = by_metric(read_results(folder, leave_out), score)
    if not results:
        waiting = describe_missing(parts(folder, []))
        raise UsageError(
            f"there are no results in {folder}{f' ({waiting})' if waiting else ''}; "
            f"`carrara run … --out {folder}` makes some"
        )
    if labels := [label.strip() for label in by.split(",") if label.strip()]:
        rows = summarize_by_labels(results, labels)
        print_json([record(row) for row in rows]) if as_json else show_lines(score_lines(rows))
        return 0
    summary = Summary(results, find_shortcuts(results), parts(folder, results), min_base_score=min_base_score)
    page = folder_of(out) if out else folder / "report.html"
    check_replaceable(page, force, is_page)
    unwritten: OSError | None = None
    try:
        write_report(summary, page, folder.resolve().name, SnippetFinder())
    except OSError as error:  # the folder is read-only or the disk is full: still print the table
        unwritten = error
    if as_json:
        print_json(summary.records())
    else:
        show_lines(summary_lines(summary))
    if unwritten:
        raise RunError(
            f"the page could not be written to {page} ({unwritten.strerror or unwritten}): "
            f"name another file, `carrara report {shell_word(folder)} --out FILE`"
        )
    if not as_json:
        show(f"\n{page}")
    return 0
