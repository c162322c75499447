"""carrara report: what a directory of results comes to, as a table and as a page."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from carrara.commands import _options as options
from carrara.commands._output import print_json, table
from carrara.errors import UsageError
from carrara.lengths import write_length

if TYPE_CHECKING:
    from carrara.analysis import Row

HELP = "write the report of a directory of results: one HTML page, and a table here"
EXAMPLE = "carrara report runs/first"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, metavar="DIR", help="where `carrara run --out DIR` wrote")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write the page (default DIR/report.html)")
    options.as_json(parser)


def main(args: Namespace) -> int:
    from carrara.analysis import record, summarize
    from carrara.engine.reading import read_results
    from carrara.report import write_report

    directory: Path = args.directory
    if not directory.is_dir():
        raise UsageError(f"there is no directory {directory}; give the one that `carrara run --out DIR` wrote to")
    results = read_results(directory)
    if not results:
        raise UsageError(f"there are no results in {directory}; `carrara run … --out {directory}` makes some")
    rows = summarize(results)
    out: Path = args.out or directory / "report.html"
    write_report(results, out, directory.resolve().name)
    if args.json:
        print_json([record(row) for row in rows])
        return 0
    print_summary(rows)
    print()
    print(out)
    return 0


def print_summary(rows: Sequence["Row"]) -> None:
    """What a run came to, in the terminal."""
    from carrara.report.visible import short

    table(
        ["model", "test", "length", "score", "95 % interval", "floor", "n", "not ok"],
        [
            (
                short(str(row.series)),
                short(row.task),
                write_length(row.length),
                f"{row.stat.mean:.3f}",
                f"{row.stat.low:.3f}-{row.stat.high:.3f}",
                f"{row.stat.floor:.3f}",
                str(row.stat.n),
                str(row.stat.not_ok),
            )
            for row in rows
        ],
    )
