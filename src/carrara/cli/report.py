"""carrara report: what a directory of results comes to, as a table and as a page."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrara.cli import _options as options
from carrara.cli._output import print_json, table
from carrara.core.errors import RunError, UsageError
from carrara.core.lengths import write_length

if TYPE_CHECKING:
    from carrara.results.analysis import Row
    from carrara.results.analysis.partial import Part
    from carrara.results.analysis.trivial import Best

HELP = "write the report of a directory of results: one HTML page, and a table here"
EXAMPLE = "carrara report runs/first"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, metavar="DIR", help="where `carrara run --out DIR` wrote")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write the page (default DIR/report.html)")
    options.as_json(parser)


def main(args: Namespace) -> int:
    from carrara.engine.planned import parts
    from carrara.engine.reading import read_results
    from carrara.results.analysis import summarize
    from carrara.results.analysis.partial import sentence
    from carrara.results.report import write_report

    directory: Path = args.directory
    if not directory.is_dir():
        raise UsageError(f"there is no directory {directory}; give the one that `carrara run --out DIR` wrote to")
    results = read_results(directory)
    if not results:
        waiting = sentence(parts(directory, []))
        raise UsageError(
            f"there are no results in {directory}{f' ({waiting})' if waiting else ''}; "
            f"`carrara run … --out {directory}` makes some"
        )
    rows, lacking = summarize(results), parts(directory, results)
    out: Path = args.out or directory / "report.html"
    unwritten: OSError | None = None
    try:
        write_report(results, out, directory.resolve().name, lacking)
    except OSError as error:  # of a folder that is another's, or full: the table is there all the same
        unwritten = error
    if args.json:
        print_json(rows_as_json(rows, lacking))
    else:
        print_summary(rows, lacking)
    if unwritten:
        raise RunError(
            f"the page could not be written to {out} ({unwritten.strerror or unwritten}): "
            f"say where else, `carrara report {directory} --out FILE`"
        )
    if not args.json:
        print(f"\n{out}")
    return 0


FEW = 24
"""Rows that are shown one by one; of more, each test is a row, with a column for each length."""


def rows_as_json(rows: Sequence["Row"], parts: Sequence["Part"]) -> list[dict[str, Any]]:
    """Rows as `--json` has them. Where less is there than was planned they say so; of what is not there at all, too."""
    from carrara.results.analysis import record
    from carrara.results.analysis.partial import lacking_of

    lacking = lacking_of(parts)
    found = []
    for row in rows:
        part = lacking.pop((row.model, row.task, row.length), None)
        found.append(record(row) | ({"partial": True, "planned": part.planned} if part else {}))
    blank = {"n": 0, "mean": None, "low": None, "high": None, "partial": True}
    for (model, test, length), part in lacking.items():
        found.append({"model": model, "test": test, "length": length, **blank, "planned": part.planned})
    return found


def print_summary(rows: Sequence["Row"], parts: Sequence["Part"] = ()) -> None:
    """What a run came to, in the terminal."""
    from carrara.results.analysis.partial import sentence

    if len(rows) > FEW and len({row.length for row in rows}) > 1:
        _print_grid(rows)
    else:
        _print_rows(rows)
    _print_categories(rows)
    if what := sentence(parts):
        print(f"\n{what}")


def _print_categories(rows: Sequence["Row"]) -> None:
    """Means of the tests of each category, where a paper has several."""
    from carrara.results.analysis import categories
    from carrara.results.report.visible import distinct

    if not (scores := categories(rows)):
        return
    names = distinct(str(row.series) for row in rows)
    print()
    table(
        ["model", "category", "length", "score", "95 % interval", "floor", "tests"],
        [
            (
                names[str(score.series)],
                score.category,
                write_length(score.length),
                f"{score.mean:.3f}",
                f"{score.low:.3f}-{score.high:.3f}",
                f"{score.floor:.3f}",
                str(len(score.tests)),
            )
            for score in scores
        ],
    )


def _print_grid(rows: Sequence["Row"]) -> None:
    """Scores of tests by lengths, and their mean where all tests have one; with retrieval, recall likewise.

    Of trivial replies the best at any length stands beside the floor.
    """
    from carrara.results.analysis.summary import RECALL
    from carrara.results.analysis.trivial import highest
    from carrara.results.report.visible import distinct

    lengths = sorted({row.length for row in rows})
    names = distinct(str(row.series) for row in rows)
    for series in dict.fromkeys(row.series for row in rows):
        own = {(row.task, row.length): row.stat for row in rows if row.series == series}
        tests = list(dict.fromkeys(task for task, _ in own))
        floors = [f"{next(stat.floor for (task, _), stat in own.items() if task == test):.3f}" for test in tests]
        means = {at: f"{stat.mean:.3f}" if stat.scored else stat.unscored for at, stat in own.items()}
        recalls = {at: f"{stat.retrieval[RECALL]:.3f}" for at, stat in own.items() if RECALL in stat.retrieval}
        counts = sorted({stat.n for stat in own.values()})
        print(f"{names[str(series)]}, {' to '.join(map(str, dict.fromkeys([counts[0], counts[-1]])))} items each")
        trivial = _trivial(highest(s.best_trivial for (task, _), s in own.items() if task == test) for test in tests)
        beside = {"floor": floors, **({"trivial": trivial} if trivial else {})}
        lines = list(_grid(means, tests, lengths))
        for n, line in enumerate(lines):
            line[1:1] = [column[n] if n < len(tests) else "" for column in beside.values()]
        table(["test", *beside, *map(write_length, lengths)], lines)
        if recalls:
            print("recall, how often all that the answer is read from was found")
            table(["test", *map(write_length, lengths)], _grid(recalls, tests, lengths))
        not_ok = sum(stat.not_ok for stat in own.values())
        if not_ok:
            print(f"{not_ok} replies were not plain answers; the report has them, and all intervals")


def _grid(values: Mapping[tuple[str, int], str], tests: Sequence[str], lengths: Sequence[int]) -> Iterator[list[str]]:
    """A line for each test, and one of means over the tests."""
    from carrara.results.report.visible import short

    for test in tests:
        yield [short(test), *(values.get((test, length), "") for length in lengths)]
    if len(tests) > 1:
        numbers = {at: float(value) for at, value in values.items() if value[:1].isdigit()}
        columns = [[numbers[test, length] for test in tests if (test, length) in numbers] for length in lengths]
        means = (f"{sum(column) / len(column):.3f}" if len(column) == len(tests) else "" for column in columns)
        yield [f"mean of {len(tests)}", *means]


def _print_rows(rows: Sequence["Row"]) -> None:
    from carrara.results.analysis.summary import RECALL
    from carrara.results.report.visible import distinct, short

    names = distinct(str(row.series) for row in rows)
    trivial = _trivial(row.stat.best_trivial for row in rows)
    columns = ["model", "test", "length", "score", "95 % interval", "floor", *(["trivial"] if trivial else [])]
    columns += ["n", "not ok"]
    retrieved = any(RECALL in row.stat.retrieval for row in rows)
    table(
        [*columns, "recall"] if retrieved else columns,
        [
            (
                names[str(row.series)],
                short(row.task),
                write_length(row.length),
                f"{row.stat.mean:.3f}" if row.stat.scored else "–",
                f"{row.stat.low:.3f}-{row.stat.high:.3f}" if row.stat.scored else row.stat.unscored,
                f"{row.stat.floor:.3f}",
                *([trivial[n]] if trivial else []),
                str(row.stat.n),
                str(row.stat.not_ok),
                *([f"{row.stat.retrieval[RECALL]:.3f}" if RECALL in row.stat.retrieval else ""] if retrieved else []),
            )
            for n, row in enumerate(rows)
        ],
    )


def _trivial(best: Iterable["Best | None"]) -> list[str]:
    """A column: the best trivial reply of each row, named where it scores anything. Empty if no row has one."""
    from carrara.results.report.visible import short

    found = list(best)
    if not any(found):
        return []
    names = [short(one.said, 30) if one else "" for one in found]
    width = max(map(len, names))  # all of one width: the table puts numbers to the right
    return [f"{one.score:.3f} {name:<{width}}" if one else "" for one, name in zip(found, names, strict=True)]
