"""carrara compare: is one run better than the other?"""

from argparse import ArgumentParser, Namespace

from carrara.cli import _options as options
from carrara.cli._output import check_replaceable, is_page, print_json, show
from carrara.core.errors import RunError

HELP = "tell whether one run is better than another, per length first: folders of runs, or logs of any Inspect task"
EXAMPLE = "carrara compare runs/before runs/after --margin 0.02"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "places",
        nargs="+",
        type=options.anywhere,
        metavar="RUN",
        help="folders that `carrara run` wrote, or logs of Inspect (.eval)",
    )
    parser.add_argument(
        "--margin",
        type=_share,
        metavar="SHARE",
        help="also tell where the second is not worse than by this much, such as 0.02",
    )
    options.lengths(parser, "only tests at these lengths")
    parser.add_argument(
        "--by-world",
        action="store_true",
        help="pair the same questions on the same worlds, whichever tokenizer counted their lengths",
    )
    parser.add_argument("--scorer", default="", metavar="NAME", help="which of several scorers of an Inspect task")
    parser.add_argument("--html", type=options.anywhere, metavar="FILE", help="also write the same as a page")
    options.metric(parser)
    options.force(parser)
    options.as_json(parser)


def _share(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise ValueError(text)
    return value


def main(args: Namespace) -> int:
    from carrara.comparison.inputs import sides
    from carrara.comparison.report import comparison_lines, comparison_record, write_comparison
    from carrara.comparison.statistics import compare, only
    from carrara.logs.log_files import leave_out

    found = only(sides(list(dict.fromkeys(args.places)), args.scorer, leave_out), args.lengths, args.score)
    if args.html:
        check_replaceable(args.html, args.force, is_page)
    compared = compare(found, args.by_world)
    if args.html:
        try:
            write_comparison(compared, args.margin, args.html)
        except OSError as error:
            raise RunError(f"{args.html} cannot be written: {error.strerror or error}; say where else") from None
    if args.json:
        print_json(comparison_record(compared, args.margin))
    else:
        for line in comparison_lines(compared, args.margin):
            show(line)
    return 0
