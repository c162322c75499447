"""carrara demo: the preset `quick` on the embedded model."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from carrara.cli import _options as options
from carrara.cli import run

HELP = "run the preset `quick` on the embedded model, which needs no network, server or key"
EXAMPLE = "carrara demo --out runs/demo"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=options.anywhere, default=Path("runs/demo"), metavar="DIR", help="default runs/demo"
    )
    parser.add_argument("-n", type=options.whole(1), help="items of each task at each length (default 10)")


def main(args: Namespace) -> int:
    asked = ArgumentParser()
    run.arguments(asked)
    line = ["quick", "--model", "carrara/smollm2", "--out", str(args.out)]
    if args.n is not None:
        line += ["-n", str(args.n)]
    return run.main(asked.parse_args(line))
