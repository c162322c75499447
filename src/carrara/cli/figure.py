"""carrara figure: draw a figure or table of a paper."""

from typing import Annotated

from cyclopts import Parameter

from carrara.cli._complete import complete_figure
from carrara.cli._flags import Force, Json, RunFolder
from carrara.cli._output import check_replaceable, print_json, show, table
from carrara.options import File, folder_of, merge_options, text
from carrara.papers.figures.config import FigureConfig, FigureOptions

NAME_HELP = "Name of a figure, such as babilong-2 or michelangelo-9. By default list the figures."
OUT_HELP = "Draw it into a file, whose name ends with .svg, .html, .csv or .json."


def figure(
    name: Annotated[
        str, text("NAME", completer=complete_figure, help="Name of a figure, such as babilong-2 or michelangelo-9.")
    ] = "",
    /,
    *runs: RunFolder,
    options: FigureOptions | None = None,
    out: Annotated[File | None, text("FILE", help=OUT_HELP)] = None,
    force: Force = False,
    as_list: Annotated[bool, Parameter(name="--list", show_default=False)] = False,
    as_json: Json = False,
) -> int:
    """Draw a figure or table of a paper, with your own models or the paper's.

    Example: carrara figure babilong-2 runs/a runs/b --out heat.svg

    Args:
        as_list: List the figures; with a name, say what that one shows and what it needs.
    """
    from carrara.papers.figures.files import about, is_figure, save
    from carrara.runs.log_files import leave_out
    from carrara.runs.replies import read_runs

    if as_list or not name:
        return _list(name, as_json)
    config = FigureConfig(name, runs, **merge_options(options))
    drawn = config.draw(read_runs([folder_of(run) for run in runs], leave_out))
    if out is not None:
        path = folder_of(out)
        check_replaceable(path, force, lambda head: is_figure(head, drawn, path))
        save(drawn, path)
    if as_json:
        print_json(about(drawn))
        return 0
    show(drawn)
    if out is not None:
        show(f"\n{out}")
    return 0


def _list(name: str, as_json: bool) -> int:
    from carrara.papers.figures.definitions import definition, definitions

    shown = [definition(name)] if name else list(definitions().values())
    if as_json:
        print_json(
            [
                {
                    "name": one.name,
                    "says": one.description,
                    "command": one.command,
                    "published": one.published,
                    "drawn": one.is_drawn,
                }
                for one in shown
            ]
        )
        return 0
    if name:
        [one] = shown
        for line in (f"{one.name}: {one.description}", f"made by: {one.command}", one.differs):
            print(line, end="\n" if line else "")
        return 0
    table(
        ["figure", "what it shows", "published models", "made of"],
        [
            (
                one.name,
                one.description,
                "yes" if one.published else "",
                one.command if one.is_drawn else f"itself: {one.command}",
            )
            for one in shown
        ],
    )
    return 0
