"""carrara report: what a directory of results comes to, as a table and as a page."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrara.cli import _options as options
from carrara.cli._output import check_replaceable, is_page, print_json, print_summary, show
from carrara.core.errors import RunError, UsageError

if TYPE_CHECKING:
    from carrara.results.analysis import EffectiveLength, Row
    from carrara.results.analysis.completeness import Part

HELP = "write the report of a directory of results: one HTML page, and a table here"
EXAMPLE = "carrara report runs/first"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("directory", type=options.anywhere, metavar="DIR", help="where `carrara run --out DIR` wrote")
    parser.add_argument(
        "--out", type=options.anywhere, metavar="FILE", help="where to write the page (default DIR/report.html)"
    )
    parser.add_argument(
        "--by",
        type=lambda text: [label.strip() for label in text.split(",") if label.strip()],
        metavar="LABEL,…",
        help="a row for each value of a label of the items, such as complexity,view: several cross; no page is written",
    )
    options.metric(parser)
    options.min_base_score(parser)
    options.allow(parser)
    options.force(parser)
    options.as_json(parser)


def main(args: Namespace) -> int:
    from carrara.logs.log_files import leave_out
    from carrara.logs.replies import read_results
    from carrara.logs.shortcuts import known
    from carrara.logs.snippets import Looker
    from carrara.results.analysis import Requirements, effective_lengths, record, summarize
    from carrara.results.analysis.completeness import sentence
    from carrara.results.analysis.metric import by_metric
    from carrara.results.analysis.summary import sliced
    from carrara.results.report import write_report
    from carrara.runs.manifest import parts

    directory: Path = args.directory
    if not directory.is_dir():
        raise UsageError(f"there is no directory {directory}; give the one that `carrara run --out DIR` wrote to")
    results = by_metric(read_results(directory, leave_out), args.score)
    if not results:
        waiting = sentence(parts(directory, []))
        raise UsageError(
            f"there are no results in {directory}{f' ({waiting})' if waiting else ''}; "
            f"`carrara run … --out {directory}` makes some"
        )
    if args.by:
        rows = sliced(results, args.by)
        print_json([record(row) for row in rows]) if args.json else print_summary(rows)
        return 0
    rows, lacking, shortcuts = summarize(results), parts(directory, results), known(results)
    effective = effective_lengths(rows, Requirements.of(shortcuts, args.min_base_score))
    out: Path = args.out or directory / "report.html"
    check_replaceable(out, args.force, is_page)
    unwritten: OSError | None = None
    try:
        write_report(
            results,
            out,
            directory.resolve().name,
            lacking,
            shortcuts,
            Looker(),
            min_base_score=args.min_base_score,
        )
    except OSError as error:  # of a folder that is another's, or full: the table is there all the same
        unwritten = error
    if args.json:
        print_json(rows_as_json(rows, lacking, effective))
    else:
        print_summary(rows, lacking, effective)
    if unwritten:
        raise RunError(
            f"the page could not be written to {out} ({unwritten.strerror or unwritten}): "
            f"say where else, `carrara report {directory} --out FILE`"
        )
    if not args.json:
        show(f"\n{out}")
    return 0


def rows_as_json(
    rows: Sequence["Row"], parts: Sequence["Part"], effective: Sequence["EffectiveLength"]
) -> list[dict[str, Any]]:
    """Return rows as `--json` prints them.

    Each has the effective length of its model on its task. A row with fewer replies than planned says so, and planned
    rows without any reply are added.
    """
    from carrara.results.analysis import record
    from carrara.results.analysis.completeness import lacking_of

    lacking, held = lacking_of(parts), {(one.task, one.series): one.record() for one in effective}
    found = []
    for row in rows:
        part = lacking.pop((row.model, row.task, row.length), None)
        judged = {"effective_length": held[row.task, row.series]}
        found.append(record(row) | judged | ({"partial": True, "planned": part.planned} if part else {}))
    blank = {"n": 0, "mean": None, "low": None, "high": None, "partial": True}
    for (model, test, length), part in lacking.items():
        found.append({"model": model, "test": test, "length": length, **blank, "planned": part.planned})
    return found
