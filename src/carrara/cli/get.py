"""carrara get: what is too large for the package, by name."""

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from importlib.util import find_spec

from carrara.cli import _options as options
from carrara.cli._output import print_json, table

HELP = "get what is too large for the package: the weights of the embedded model"
EXAMPLE = "carrara get demo"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="default: say what there is, and what is here")
    options.as_json(parser)


def main(args: Namespace) -> int:
    from carrara.core.errors import UsageError, nearest
    from carrara.models.weights import ALL

    if args.name is None:
        if args.json:
            print_json([{**asdict(one), "path": str(one.path), "here": one.here()} for one in ALL.values()])
            return 0
        rows = [
            (one.name, one.what, f"{one.bytes / 1e6:.0f}", one.licence, "yes" if one.here() else "no", str(one.path))
            for one in ALL.values()
        ]
        table(("name", "what", "MB", "licence", "here", "place"), rows)
        return 0
    if args.name not in ALL:
        hint = nearest(args.name, ALL) or f"; there is {', '.join(ALL)}"
        raise UsageError(f"there is nothing to get by the name '{args.name}'{hint}")
    wanted = ALL[args.name]
    if not wanted.here():
        wanted.get()
    print(f"{wanted.what}: {wanted.path}")
    if find_spec("xllamacpp") is None:
        print("what it runs on is missing: pip install 'carrara[demo]'")
    return 0
