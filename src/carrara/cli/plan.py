"""carrara plan: what a run would cost, before it does."""

from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from carrara.cli import _options as options
from carrara.cli import run as running
from carrara.cli._output import print_json, show
from carrara.core.errors import UsageError
from carrara.core.lengths import read_length

HELP = "say what a run would take: requests, tokens, money, hours; asks no model"
EXAMPLE = "carrara plan paper:michelangelo --model openai/gpt-4o --price 2.5,10,1.25"


def arguments(parser: ArgumentParser) -> None:
    running.items(parser)
    parser.add_argument(
        "--model", action="append", required=True, metavar="M", help="as for `carrara run`; several are told apart"
    )
    running.prices(parser)
    parser.add_argument(
        "--like",
        type=options.anywhere,
        metavar="DIR",
        help="an earlier run of the model: its replies' lengths, and its pace",
    )
    parser.add_argument("--speed", type=float, metavar="TOKENS", help="tokens a second, to tell how long it takes")
    parser.add_argument("--window", type=read_length, metavar="LENGTH", help="tokens that the model takes")
    options.as_json(parser)


def main(args: Namespace) -> int:
    from carrara.logs.log_files import leave_out
    from carrara.logs.replies import read_results
    from carrara.planning.estimate import forecast, said, total, warnings
    from carrara.runs.jobs import jobs

    prices = running.price_of(args)
    if args.speed is not None and not args.speed > 0:
        raise UsageError(f"--speed {args.speed:g} is no pace: give tokens a second")
    like = read_results(args.like, leave_out) if args.like else []
    wanted = running.wanted(args)
    lines = [
        line
        for model in args.model
        for line in forecast(
            jobs(wanted, model),
            model,
            prices.get(model),
            like,
            args.speed,
            args.window,
            wanted.drawn.pack(),
        )
    ]
    if args.json:
        print_json({"lines": [asdict(line) for line in lines], "total": total(lines), "warnings": warnings(lines)})
        return 0
    for line in said(lines):
        show(line)
    return 0
