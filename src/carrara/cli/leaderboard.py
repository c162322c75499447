"""carrara leaderboard: rank the models of several runs, or of files of replies."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from carrara.cli._flags import Allow, Force, Json, MinBaseScore, OnlyLengths, Score, several_positional
from carrara.cli._output import check_replaceable, is_page, print_json, show
from carrara.options import File, Flag, Folder, check_whole, file_of, folder_of, lengths_of, text
from carrara.results.result import MIN_BASE_SCORE
from carrara.util.errors import RunError, UsageError
from carrara.util.log import logger

if TYPE_CHECKING:
    from pathlib import Path

    from carrara.items.item_id import ItemId
    from carrara.results.leaderboard import Standing
    from carrara.runs.verify_submission import Submission

CHECKED = 24
"""The number of prompts of a folder that are rendered again."""
LINES = ".jsonl"
"""The ending of files of replies."""


def leaderboard(
    *runs: Annotated[Folder, several_positional("RUN", "Folders of runs, or files of replies (.jsonl).")],
    out: Annotated[File, text("FILE", help="Write the leaderboard as a page, too.")] = "",
    lengths: OnlyLengths = None,
    items: Annotated[File, text("FILE")] = "",
    check: Annotated[int, Parameter(metavar="N")] = CHECKED,
    price: Annotated[str, text("IN,OUT[,CACHED]|FILE.toml")] = "",
    count_refused: Flag = False,
    score: Score = "own",
    min_base_score: MinBaseScore = MIN_BASE_SCORE,
    allow: Allow | None = None,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Rank the models of several runs, or of files of replies, after a check of each.

    Example: carrara leaderboard runs/* --out leaderboard.html

    Args:
        items: A file of item ids (`carrara generate` writes it) that everybody has to answer. An item without a reply
            counts as wrong, and replies to other items do not count.
        check: Prompts of each folder or model that are rendered again. All replies are graded again.
        price: Money for a million tokens of prompts, of replies, and of prompts that are cached; or a TOML file that
            has input, output and cached for each model. The leaderboard then shows what each run cost.
        count_refused: Count folders and models that fail the check, too.
    """
    from carrara.report.page import write_report
    from carrara.report.snippets import SnippetFinder, find_shortcuts
    from carrara.report.standings import record, standing_lines
    from carrara.results.rows import report_failures
    from carrara.results.scores import by_metric
    from carrara.results.summary import Summary
    from carrara.runs.asked_items import read_items
    from carrara.tokenizers.permission import allow_all

    allow_all(allow)
    check_whole("check", check, 0)
    page = folder_of(out) if out else None
    only_lengths = None if lengths is None else lengths_of(lengths)
    if page:
        check_replaceable(page, force, is_page)
    asked = read_items(file_of(items)) if items else None
    places = {place.resolve(): place for place in map(folder_of, reversed(runs))}  # a link to a folder is that folder
    checked = _check(list(places.values())[::-1], check, asked)
    counted = [one for one in checked if count_refused or not one.source.fault]
    results = [
        result
        for result in by_metric([result for one in counted for result in one.results], score)
        if only_lengths is None or result.length in only_lengths
    ]
    for one in counted:
        if only_lengths is not None and not any(result.length in only_lengths for result in one.results):
            logger.warning(f"{_name(one)}: it has no item of `lengths={lengths}`, and is not ranked")
    report_failures(results)
    summary = Summary(results, find_shortcuts(results), min_base_score=min_base_score)
    standings = summary.standings
    costs = _costs(standings, price)
    if as_json:
        lines = [record(line, costs[place] if costs else None) for place, line in enumerate(standings)]
        folders = [vars(one.source) | {"verdict": one.source.verdict} for one in checked]
        print_json({"folders": folders, "leaderboard": lines})
    elif standings:
        for line in standing_lines(standings, costs):
            show(line)
    _tell_verdicts(checked, count_refused)
    if not results:
        raise RunError("nothing is left to rank: `count_refused` counts what fails the check, too")
    if page:
        write_report(summary, page, page.stem, SnippetFinder(), [one.source for one in checked])
        show(f"\n{page}", file=sys.stderr if as_json else sys.stdout)
    return 1 if any(one.source.fault for one in checked) and not count_refused else 0


def _check(places: "Sequence[Path]", sample: int, asked: "Sequence[ItemId] | None") -> "list[Submission]":
    """Verify folders and files. Those with the same name are named with their folders."""
    from carrara.runs.rescoring.submission import verify_file
    from carrara.runs.verify_submission import verify

    found = []
    for place in places:
        if not place.exists():
            raise UsageError(
                f"there is no file or directory {place}: give folders of runs, or files of replies ({LINES})"
            )
        if place.is_file() and place.suffix != LINES:
            raise UsageError(f"the name of {place} does not end with {LINES}: give JSON Lines that are not compressed")
        name = "" if [other.name for other in places].count(place.name) == 1 else str(place)
        if place.is_dir():
            found.append(verify(place, sample, asked, name))
        else:
            found += verify_file(place, sample, asked, name)
    return found


def _costs(standings: "Sequence[Standing]", price: str) -> list[float] | None:
    """Return the cost of each model's run, if prices are given."""
    from carrara.runs.prices import price_of

    found = [price_of(price, line.series.model) for line in standings]
    costs = [one.of(line.sent, 0, line.received or 0) for one, line in zip(found, standings, strict=True) if one]
    return costs or None


def _tell_verdicts(checked: "Sequence[Submission]", count_refused: bool) -> None:
    for one in checked:
        counted = "counts all the same" if count_refused and one.results else "does not count"
        logger.warning(f"{_name(one)}: {one.source.verdict}" + (f"; it {counted}" if one.source.fault else ""))
    for one in checked:
        if one.source.lacking and not _is_file(one):
            are = "reply is" if one.source.lacking == 1 else "replies are"
            logger.warning(f"{_name(one)}: {one.source.lacking:,} {are} missing, and count as wrong")


def _name(one: "Submission") -> str:
    """Return the name of a folder, or of a file with the model that was verified."""
    return f"{one.source.name}: {one.source.models}" if _is_file(one) else one.source.name


def _is_file(one: "Submission") -> bool:
    return one.source.name.endswith(LINES) and bool(one.source.models)
