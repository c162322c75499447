"""carrara leaderboard: many models in one table and on one page, from folders that others sent."""

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from carrara.cli import _options as options
from carrara.cli._output import check_replaceable, is_page, print_json, show
from carrara.core.errors import RunError
from carrara.core.log import logger

if TYPE_CHECKING:
    from carrara.runs.verify_submission import Submission

HELP = "put the models of many folders of results in order, after a check of each folder: a table, and a page"
EXAMPLE = "carrara leaderboard runs/* --out leaderboard.html"


CHECKED = 24
"""Prompts of a folder that are rendered again."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folders",
        nargs="+",
        type=options.anywhere,
        metavar="RUN_FOLDER",
        help="where `carrara run --out RUN_FOLDER` wrote",
    )
    parser.add_argument(
        "--out", type=options.anywhere, metavar="FILE", help="where to write the page (default: none is written)"
    )
    options.lengths(parser, "only tests at these lengths")
    parser.add_argument(
        "--check",
        type=options.whole(0),
        default=CHECKED,
        metavar="COUNT",
        help=f"prompts of each folder that are rendered again (default {CHECKED}); all replies are graded again",
    )
    parser.add_argument(
        "--prices",
        type=options.path,
        metavar="FILE.toml",
        help="what tokens of each model cost (docs/planning.md): a column more",
    )
    parser.add_argument("--all", action="store_true", help="count folders that fail the check, too")
    options.metric(parser)
    options.min_base_score(parser)
    options.allow(parser)
    options.force(parser)
    options.as_json(parser)


def main(args: Namespace) -> int:
    from carrara.logs.shortcuts import known
    from carrara.logs.snippets import Looker
    from carrara.results.analysis import Requirements
    from carrara.results.analysis.cells import merged
    from carrara.results.analysis.leaderboard import leaderboard
    from carrara.results.analysis.metric import by_metric
    from carrara.results.analysis.summary import report_failures
    from carrara.results.report import write_report
    from carrara.results.report.standings import record, standing_lines
    from carrara.runs.prices import read_prices
    from carrara.runs.verify_submission import verify

    if args.out:
        check_replaceable(args.out, args.force, is_page)
    checked = [verify(folder, args.check) for folder in dict.fromkeys(args.folders)]
    found, repeated = merged([one.results for one in checked if args.all or not one.source.fault])
    if repeated:
        are = "reply is" if repeated == 1 else "replies are"
        logger.warning(f"{repeated:,} {are} in several of these folders, and the last folder's count")
    results = [one for one in by_metric(found, args.score) if args.lengths is None or one.length in args.lengths]
    report_failures(results)
    shortcuts = known(results)
    standings = leaderboard(results, Requirements.of(shortcuts, args.min_base_score))
    prices = read_prices(args.prices, [line.series.model for line in standings]) if args.prices else {}
    costs = [prices[line.series.model].of(line.sent, 0, line.received or 0) for line in standings] if prices else None
    if args.json:
        lines = [record(line, costs[place] if costs else None) for place, line in enumerate(standings)]
        folders = [vars(one.source) | {"verdict": one.source.verdict} for one in checked]
        print_json({"folders": folders, "leaderboard": lines})
    elif standings:
        for line in standing_lines(standings, costs):
            show(line)
    bad = [one for one in checked if one.source.fault]
    for one in checked:
        counted = "counts all the same" if args.all and one.results else "does not count"
        logger.warning(f"{one.source.name}: {one.source.verdict}" + (f"; it {counted}" if one.source.fault else ""))
    _say_lacking(checked)
    if not results:
        raise RunError("nothing is left to put in order: --all counts folders that fail the check, too")
    if args.out:
        sources = [one.source for one in checked]
        write_report(
            results, args.out, args.out.stem, (), shortcuts, Looker(), sources, min_base_score=args.min_base_score
        )
        show(f"\n{args.out}", file=sys.stderr if args.json else sys.stdout)
    return 1 if bad and not args.all else 0


def _say_lacking(checked: "list[Submission]") -> None:
    for one in checked:
        if one.source.lacking:
            are = "reply is" if one.source.lacking == 1 else "replies are"
            logger.warning(f"{one.source.name}: {one.source.lacking:,} {are} missing, and count as wrong")
