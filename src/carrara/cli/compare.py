"""carrara compare: compare runs item by item."""

from typing import Annotated

from cyclopts import Parameter

from carrara.cli._flags import Force, Json, OnlyLengths, Score, several_positional
from carrara.cli._output import check_replaceable, is_page, print_json, show
from carrara.options import File, Flag, Folder, folder_of, lengths_of, text
from carrara.results.comparison import By
from carrara.util.errors import RunError


def compare(
    *runs: Annotated[Folder, several_positional("RUN", "Folders of runs, or logs of any Inspect task (.eval).")],
    margin: Annotated[float | None, Parameter(metavar="SHARE")] = None,
    lengths: OnlyLengths = None,
    by: By = "run",
    by_instance: Flag = False,
    scorer: Annotated[str, text("NAME")] = "",
    html: Annotated[File, text("FILE", help="Write the comparison as a page, too.")] = "",
    score: Score = "own",
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Compare runs item by item, at each length and over all lengths.

    Example: carrara compare runs/before runs/after --margin 0.02

    Args:
        margin: Also tell where the second run is not worse by this much, such as 0.02.
        by: Compare the runs with each other; or, also inside a run, every two models with their settings, each reader
            of one model with `whole`, or its arrangements with `block`.
        by_instance: Pair the same questions on the same instances, whichever tokenizer counted their lengths.
        scorer: Which scorer of an Inspect task counts, if it has several.
    """
    from carrara.report.comparison import comparison_lines, comparison_record, write_comparison
    from carrara.results.comparison import check_margin, select_sides
    from carrara.results.comparison import compare as compared
    from carrara.runs.comparison_inputs import sides
    from carrara.runs.log_files import leave_out

    check_margin(margin)
    only_lengths = None if lengths is None else lengths_of(lengths)
    places = list(dict.fromkeys(map(folder_of, runs)))
    page = folder_of(html) if html else None
    if page:
        check_replaceable(page, force, is_page)
    found = compared(select_sides(sides(places, scorer, leave_out, by), only_lengths, score, by), by_instance, by)
    if page:
        try:
            write_comparison(found, margin, page)
        except OSError as error:
            raise RunError(f"{page} cannot be written: {error.strerror or error}; name another file") from None
    if as_json:
        print_json(comparison_record(found, margin))
    else:
        for line in comparison_lines(found, margin):
            show(line)
    return 0
