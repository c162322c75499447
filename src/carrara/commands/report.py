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


RECALL = "recall"
"""The score of retrieval: how often all that was needed was found."""
FEW = 24
"""Rows that are shown one by one; of more, each test is a row, with a column for each length."""


def print_summary(rows: Sequence["Row"]) -> None:
    """What a run came to, in the terminal."""
    if len(rows) > FEW and len({row.length for row in rows}) > 1:
        _print_grid(rows)
    else:
        _print_rows(rows)


def _print_grid(rows: Sequence["Row"]) -> None:
    """Scores of tests by lengths, and their mean where all tests have one."""
    from carrara.report.visible import short

    lengths = sorted({row.length for row in rows})
    for series in dict.fromkeys(row.series for row in rows):
        own = {(row.task, row.length): row.stat for row in rows if row.series == series}
        tests = list(dict.fromkeys(task for task, _ in own))
        lines = []
        for test in tests:
            stats = [own.get((test, length)) for length in lengths]
            floor = next(stat.floor for stat in stats if stat)
            lines.append((short(test), f"{floor:.3f}", *(f"{stat.mean:.3f}" if stat else "" for stat in stats)))
        if len(tests) > 1:
            means = []
            for length in lengths:
                found = [own[test, length].mean for test in tests if (test, length) in own]
                means.append(f"{sum(found) / len(found):.3f}" if len(found) == len(tests) else "")
            lines.append((f"mean of {len(tests)}", "", *means))
        counts = sorted({stat.n for stat in own.values()})
        print(f"{short(str(series))}, {' to '.join(map(str, dict.fromkeys([counts[0], counts[-1]])))} items each")
        table(["test", "floor", *map(write_length, lengths)], lines)
        not_ok = sum(stat.not_ok for stat in own.values())
        if not_ok:
            print(f"{not_ok} replies were not plain answers; the report has them, and all intervals")


def _print_rows(rows: Sequence["Row"]) -> None:
    from carrara.report.visible import short

    retrieved = any(RECALL in row.stat.published for row in rows)
    table(
        ["model", "test", "length", "score", "95 % interval", "floor", "n", "not ok", *([RECALL] if retrieved else [])],
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
                *([f"{row.stat.published[RECALL]:.3f}" if RECALL in row.stat.published else ""] if retrieved else []),
            )
            for row in rows
        ],
    )
