"""carrara figure: the papers' tables and figures, for one's own models."""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from carrara.cli import _options as options
from carrara.cli._output import check_replaceable, print_json, show, table
from carrara.core.errors import UsageError

if TYPE_CHECKING:
    from carrara.results.figures.figure import Figure

HELP = "draw a table or a figure of the four papers, for your own models, or for theirs"
EXAMPLE = "carrara figure babilong-2 runs/all --out heat.svg"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="which: babilong-2, michelangelo-9; --list names them")
    parser.add_argument(
        "folders",
        nargs="*",
        type=options.anywhere,
        metavar="RUN_FOLDER",
        help="where `carrara run --out RUN_FOLDER` wrote",
    )
    parser.add_argument("--list", action="store_true", help="name all figures, with a line each; of NAME alone its own")
    parser.add_argument(
        "--beside",
        nargs="?",
        const="",
        metavar="MODEL,…",
        help="with the paper's own models: those whose names have this in them (default: the best eight)",
    )
    parser.add_argument("--published", metavar="PAPER", help="the paper's own models alone; takes no run")
    options.lengths(parser, "only these")
    parser.add_argument(
        "--out", type=options.anywhere, metavar="FILE", help="draw it: FILE ends with .svg, .png, .html, .csv, .json"
    )
    options.force(parser)
    options.metric(parser)
    options.as_json(parser)


def main(args: Namespace) -> int:
    from carrara.results.figures.files import about, is_figure, save

    if args.list or not args.name:
        return _list(args)
    figure = _made(args)
    if args.out:
        check_replaceable(args.out, args.force, lambda head: is_figure(head, figure, args.out))
        save(figure, args.out)
    if args.json:
        print_json(about(figure))
        return 0
    show(figure)
    if args.out:
        show(f"\n{args.out}")
    return 0


def _made(args: Namespace) -> "Figure":
    from carrara.logs.load_runs import gathered
    from carrara.logs.log_files import leave_out
    from carrara.results.analysis.metric import by_metric
    from carrara.results.figures.catalogue import entry, figure
    from carrara.results.figures.marks import Evidence
    from carrara.results.published.scores import read_scores, select_papers

    paper = entry(args.name).paper
    if args.published and select_papers(args.published) != [paper]:
        raise UsageError(f"{args.name} is {paper}'s; give --published {paper}")
    if args.published and args.folders:
        raise UsageError("--published shows the paper's own models alone; beside runs it is --beside")
    if not args.folders and not args.published:
        raise UsageError("give the folders of runs, or --published PAPER for the paper's own models")
    results = by_metric(gathered(args.folders, leave_out), args.score)
    scores = read_scores([paper]) if args.published or args.beside is not None else []
    models = [name.strip() for name in (args.beside or "").split(",") if name.strip()]
    evidence = Evidence(results, scores, models)
    return figure(args.name, evidence if args.lengths is None else evidence.at(args.lengths))


def _list(args: Namespace) -> int:
    from carrara.results.figures.catalogue import entries, entry

    shown = [entry(args.name)] if args.name else list(entries().values())
    if args.json:
        print_json(
            [
                {"name": one.name, "says": one.says, "command": one.command, "published": one.shipped,
                 "drawn": one.make is not None}
                for one in shown
            ]
        )  # fmt: skip
        return 0
    if args.name:
        from carrara.results.figures.differences import DIFFERS

        [one] = shown
        for line in (f"{one.name}: {one.says}", f"made by: {one.command}", DIFFERS.get(one.name, "")):
            print(line, end="\n" if line else "")
        return 0
    table(
        ["figure", "what it shows", "published models", "made of"],
        [
            (one.name, one.says, "yes" if one.shipped else "", one.command if one.make else f"itself: {one.command}")
            for one in shown
        ],
    )
    return 0
