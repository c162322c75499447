"""carrara leaderboard: rank the models of several runs, or of files of replies."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from carrara.cli._flags import Allow, Force, Json, MinBaseScore, OnlyLengths, Score, several_positional
from carrara.cli._output import check_replaceable, is_page, print_json, show
from carrara.options import File, Folder, file_of, folder_of, lengths_of, text
from carrara.results.result import MIN_BASE_SCORE
from carrara.util.errors import RunError, UsageError
from carrara.util.log import logger
from carrara.util.quantities import count

if TYPE_CHECKING:
    from pathlib import Path

    from carrara.items.item_id import ItemId
    from carrara.results.leaderboard import Standing
    from carrara.runs.rescoring.submission import Submission

LINES = ".jsonl"
"""The ending of files of replies."""


def leaderboard(
    *runs: Annotated[Folder, several_positional("RUN", "Folders of runs, or files of replies (.jsonl).")],
    out: Annotated[File, text("FILE", help="Write the leaderboard as a page, too.")] = "",
    lengths: OnlyLengths = None,
    items: Annotated[File, text("FILE")] = "",
    prompts: Annotated[File, text("FILE")] = "",
    price: Annotated[str, text("IN,OUT[,CACHED]|FILE.toml")] = "",
    score: Score = "own",
    min_base_score: MinBaseScore = MIN_BASE_SCORE,
    allow: Allow | None = None,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Rank the models of several runs, or of files of replies. All replies are graded again.

    Example: carrara leaderboard runs/* --out leaderboard.html

    Args:
        items: A file of item ids (`carrara generate` writes it) that everybody has to answer. An item without a reply
            counts as wrong, and replies to other items do not count.
        prompts: Use the wording of this prompt pack, a TOML file. Only items whose size depends on it need one.
        price: Money for a million tokens of prompts, of replies, and of prompts that are cached; or a TOML file that
            has input, output and cached for each model. The leaderboard then shows what each run cost.
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
    page = folder_of(out) if out else None
    only_lengths = None if lengths is None else lengths_of(lengths)
    if page:
        check_replaceable(page, force, is_page)
    asked = read_items(file_of(items)) if items else None
    places = {place.resolve(): place for place in map(folder_of, reversed(runs))}  # a link to a folder is that folder
    submissions = _grade(list(places.values())[::-1], asked, file_of(prompts) if prompts else None)
    results = [
        result
        for result in by_metric([result for submission in submissions for result in submission.results], score)
        if only_lengths is None or result.length in only_lengths
    ]
    for submission in submissions:
        if only_lengths and submission.results and not any(one.length in only_lengths for one in submission.results):
            logger.warning(f"{_name(submission)}: it has no item of `lengths={lengths}`, and is not ranked")
    report_failures(results)
    summary = Summary(results, find_shortcuts(results), min_base_score=min_base_score)
    standings = summary.standings
    costs = _costs(standings, price)
    if as_json:
        lines = [record(line, costs[place] if costs else None) for place, line in enumerate(standings)]
        folders = [vars(submission.source) for submission in submissions]
        print_json({"folders": folders, "leaderboard": lines})
    elif standings:
        for line in standing_lines(standings, costs):
            show(line)
    _report_graded(submissions)
    if not results:
        raise RunError("nothing is left to rank")
    if page:
        write_report(summary, page, page.stem, SnippetFinder(), [submission.source for submission in submissions])
        show(f"\n{page}", file=sys.stderr if as_json else sys.stdout)
    return 1 if any(submission.source.fault for submission in submissions) else 0


def _grade(places: "Sequence[Path]", asked: "Sequence[ItemId] | None", prompts: "Path | None") -> "list[Submission]":
    """Grade the replies of folders and files. Those with the same name are named with their folders."""
    from carrara.items.prompt_pack import read_pack
    from carrara.runs.rescoring.submission import read_submission

    if prompts:
        read_pack(prompts)  # a pack that cannot be read is an error of the caller
    submissions = []
    for place in places:
        if not place.exists():
            raise UsageError(
                f"there is no file or directory {place}: give folders of runs, or files of replies ({LINES})"
            )
        if place.is_file() and place.suffix != LINES:
            raise UsageError(f"the name of {place} does not end with {LINES}: give JSON Lines that are not compressed")
        name = "" if [other.name for other in places].count(place.name) == 1 else str(place)
        submissions += read_submission(place, asked, name, prompts)
    return submissions


def _costs(standings: "Sequence[Standing]", price: str) -> list[float] | None:
    """Return the cost of each model's run, if prices are given."""
    from carrara.runs.prices import price_of

    found = [price_of(price, line.series.model) for line in standings]
    costs = [one.of(line.sent, 0, line.received or 0) for one, line in zip(found, standings, strict=True) if one]
    return costs or None


def _report_graded(submissions: "Sequence[Submission]") -> None:
    graded = sum(submission.source.graded for submission in submissions)
    logger.warning(f"{count(graded, 'reply')} graded again here: scores that were sent do not count")
    for submission in submissions:
        source = submission.source
        if said := f"not ranked: {source.fault}" if source.fault else source.remarks:
            logger.warning(f"{_name(submission)}: {said}")


def _name(submission: "Submission") -> str:
    """Return the name of a folder, or of a file with its model."""
    source = submission.source
    return f"{source.name}: {source.models}" if source.name.endswith(LINES) and source.models else source.name
