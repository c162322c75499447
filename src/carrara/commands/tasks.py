"""carrara tasks: what there is."""

from argparse import ArgumentParser, Namespace
from typing import Any

from carrara.commands import _options as options
from carrara.commands._output import print_json, table
from carrara.presets import PRESETS

HELP = "list the tests with their parameters and floors, and the presets that run them"
EXAMPLE = "carrara tasks --json"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("selection", nargs="?", default="all", metavar="SELECTION", help="which tests (default all)")
    options.as_json(parser)


def main(args: Namespace) -> int:
    from carrara import params, suites
    from carrara.floors import floor_of

    rows: list[dict[str, Any]] = []
    chosen = suites.select(args.selection)
    for name in chosen:
        task = suites.load(name)
        rows.append(
            {
                "name": name,
                "suite": name.split("/")[0],
                "title": task.title,
                "version": task.version,
                "capability": task.capability,
                "parameters": params.defaults(task),
                "floor": floor_of(name),
            }
        )
    if args.json:
        print_json(rows)
        return 0
    table(
        ["test", "measures", "floor"],
        [(row["name"], row["capability"], f"{row['floor']:.3f}") for row in rows],
    )
    alike: dict[str, list[str]] = {}
    for row in rows:
        written = " ".join(f"{parameter}={value}" for parameter, value in row["parameters"].items())
        alike.setdefault(written, []).append(row["name"])
    for written, names in alike.items():
        print(f"\nparameters of {names[0]}{f' … {names[-1]}' if len(names) > 1 else ''}:\n  {written or 'none'}")
    presets = {name: preset for name, preset in PRESETS.items() if {*suites.select(preset.selection)} & {*chosen}}
    for name, preset in presets.items():
        print(f"\n`carrara run {name}`:\n  {preset.about}")
    return 0
