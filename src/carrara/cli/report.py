"""carrara report: write the report of a run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from carrara.cli._flags import Allow, Force, Json, MinBaseScore, Score
from carrara.cli._output import check_replaceable, is_page, print_json, print_summary, show
from carrara.options import File, Folder, folder_of, text
from carrara.results.result import MIN_BASE_SCORE
from carrara.util.errors import RunError, UsageError
from carrara.util.quoting import shell_word

if TYPE_CHECKING:
    from carrara.results import EffectiveLength, Row
    from carrara.results.arrangements import ArrangementPenalty
    from carrara.results.completeness import Completeness
    from carrara.results.horizon import HorizonRow
    from carrara.results.pooled import PooledDifference
    from carrara.results.readers import SeriesCost


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
    from carrara.results import Requirements, effective_lengths, record, summarize
    from carrara.results.arrangements import arrangement_penalties
    from carrara.results.completeness import describe_missing
    from carrara.results.horizon import horizon_rows
    from carrara.results.pooled import pooled_differences
    from carrara.results.readers import series_costs
    from carrara.results.ruler import ruler_rows
    from carrara.results.scores import by_metric
    from carrara.results.summary import summarize_by_labels
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
        print_json([record(row) for row in rows]) if as_json else print_summary(rows)
        return 0
    rows, lacking, shortcuts = summarize(results), parts(folder, results), find_shortcuts(results)
    effective, costs = effective_lengths(rows, Requirements.of(shortcuts, min_base_score)), series_costs(results)
    penalties = arrangement_penalties(results)
    horizons, findings = horizon_rows(results), pooled_differences(results)
    page = folder_of(out) if out else folder / "report.html"
    check_replaceable(page, force, is_page)
    unwritten: OSError | None = None
    try:
        write_report(
            results,
            page,
            folder.resolve().name,
            lacking,
            shortcuts,
            SnippetFinder(),
            min_base_score=min_base_score,
        )
    except OSError as error:  # the folder is read-only or the disk is full: still print the table
        unwritten = error
    if as_json:
        print_json(rows_as_json(rows, lacking, effective, costs, penalties, horizons, findings))
    else:
        print_summary(rows, lacking, effective, costs, ruler_rows(results), penalties, horizons, findings)
    if unwritten:
        raise RunError(
            f"the page could not be written to {page} ({unwritten.strerror or unwritten}): "
            f"name another file, `carrara report {shell_word(folder)} --out FILE`"
        )
    if not as_json:
        show(f"\n{page}")
    return 0


def rows_as_json(
    rows: Sequence["Row"],
    parts: Sequence["Completeness"],
    effective: Sequence["EffectiveLength"],
    costs: Sequence["SeriesCost"],
    penalties: Sequence["ArrangementPenalty"],
    horizons: Sequence["HorizonRow"],
    findings: Sequence["PooledDifference"],
) -> list[dict[str, Any]]:
    """Return rows as `--json` prints them.

    Each has the effective length of its model on its task, the pooled findings about its model, and its costs.
    Conversations have their horizons. Rows of the arrangement `riffle` have the difference from `block`, if both were
    run. A row with fewer replies than planned says so, and planned rows without any reply are added.
    """
    from carrara.results import record
    from carrara.results.completeness import missing_parts

    lacking, held = missing_parts(parts), {(one.task, one.series): one.record() for one in effective}
    spent = {(one.task, one.series, one.length): one.record() for one in costs}
    apart = {(one.task, one.riffled, one.length): one.record() for one in penalties}
    clear = {
        one.series: [own.record() for own in findings if own.clear and own.series == one.series] for one in findings
    }
    found = []
    for row in rows:
        part = lacking.pop((row.model, row.task, row.length, row.arrange), None)
        judged = {"effective_length": held[row.task, row.series], **spent[row.task, row.series, row.length]}
        if pooled := clear.get(row.series):
            judged["findings"] = pooled
        if penalty := apart.get((row.task, row.series, row.length)):
            judged["penalty"] = penalty
        where = row.series, row.task, row.length
        if talks := [one.record() for one in horizons if (one.series, one.task, one.length) == where]:
            judged["horizons"] = talks
        found.append(record(row) | judged | ({"partial": True, "planned": part.planned} if part else {}))
    blank = {"n": 0, "mean": None, "low": None, "high": None, "partial": True}
    for (model, task, length, arrange), part in lacking.items():
        named = {"model": model, "task": task, "length": length, **({"arrange": arrange} if arrange else {})}
        found.append({**named, **blank, "planned": part.planned})
    return found
