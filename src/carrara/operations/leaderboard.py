"""Rank the models of several runs, or of files of replies."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from attrs import converters, field, frozen

from carrara.operations.printed import Recorded, is_page
from carrara.operations.run import BaseScoreOptions
from carrara.options import (
    Folder,
    ReplaceOptions,
    check_replaceable,
    file_of,
    folder_of,
    is_text,
    lengths_of,
    one_of,
    text,
)
from carrara.results.scores import METRICS, Metric, by_metric
from carrara.signature import SEVERAL, takes_several
from carrara.util.errors import RunError, UsageError
from carrara.util.log import logger
from carrara.util.quantities import count, write_length

if TYPE_CHECKING:
    from carrara.results.leaderboard import Standing
    from carrara.results.summary import Summary
    from carrara.runs.rescoring.submission import Submission

LINES = ".jsonl"
"""The ending of files of replies."""


def _places_of(folders: Annotated[Iterable[Folder], text("RUN")]) -> tuple[Path, ...]:
    # a link to a folder is that folder
    places = {place.resolve(): place for place in reversed([folder_of(place) for place in folders])}
    return tuple(reversed(places.values()))


@frozen(kw_only=True, slots=False)
class LeaderboardConfig(BaseScoreOptions, ReplaceOptions):
    """The runs to rank."""

    runs: tuple[Path, ...] = field(converter=_places_of, kw_only=False, metadata=SEVERAL)
    """Folders of runs, or files of replies (.jsonl)."""
    out: Path | None = field(default=None, converter=converters.optional(folder_of))
    """Write the leaderboard as a page, too."""
    lengths: tuple[int, ...] | None = field(default=None, converter=converters.optional(lengths_of))
    """Only items of these lengths, such as 4k,32k."""
    items: Path | None = field(default=None, converter=converters.optional(file_of))
    """A file of item ids (`carrara generate` writes it) that everybody has to answer. An item without a reply counts as
    wrong, and replies to other items do not count."""
    prompts: Path | None = field(default=None, converter=converters.optional(file_of))
    """Use the wording of this prompt pack, a TOML file. Only items whose size depends on it need one."""
    price: Annotated[str, text("IN,OUT[,CACHED]|FILE.toml")] = field(default="", validator=is_text)
    """Money for a million tokens of prompts, of replies, and of prompts that are cached; or a TOML file that has
    input, output and cached for each model. The leaderboard then shows what each run cost."""
    score: Metric = field(default="own", validator=one_of(METRICS))
    """The score that counts: `own` (ours) or `paper` (the paper's own, where it has one)."""


@dataclass(frozen=True, repr=False)
class Leaderboard(Recorded):
    """Models, the best first, and where their replies came from."""

    summary: "Summary"
    submissions: Sequence["Submission"]
    costs: Sequence[float] | None = None
    """The cost of each model's run, if prices are known."""
    page: Path | None = None

    @property
    def standings(self) -> "list[Standing]":
        """The models, the best first."""
        return self.summary.standings

    @property
    def code(self) -> int:  # type: ignore[override]
        """The exit code of the command: 1 if a folder or file is not ranked."""
        return int(any(submission.source.fault for submission in self.submissions))

    @property
    def notes(self) -> list[str]:  # type: ignore[override]
        """What became of each folder and file."""
        graded = sum(submission.source.graded for submission in self.submissions)
        notes = [f"{count(graded, 'reply')} graded again here: scores that were sent do not count"]
        for submission in self.submissions:
            source = submission.source
            if remark := f"not ranked: {source.fault}" if source.fault else source.remarks:
                notes.append(f"{_name(submission)}: {remark}")
        return [*notes, *([f"the page is {self.page}"] if self.page else [])]

    def lines(self) -> Iterator[str]:
        from carrara.report.standings import standing_lines

        yield from standing_lines(self.standings, self.costs)

    def record(self) -> dict[str, Any]:
        from carrara.report.standings import record

        return {
            "folders": [vars(submission.source) for submission in self.submissions],
            "leaderboard": [
                record(line, self.costs[place] if self.costs else None) for place, line in enumerate(self.standings)
            ],
        }


@takes_several(LeaderboardConfig)
def leaderboard(config: LeaderboardConfig) -> Leaderboard:
    """Rank the models of several runs, or of files of replies. All replies are graded again."""
    from carrara.report.page import write_report
    from carrara.report.snippets import SnippetFinder, find_shortcuts
    from carrara.results.rows import report_failures
    from carrara.results.summary import Summary

    check_replaceable(config.out, config.force, is_page)
    submissions = _grade(config)
    lengths = config.lengths
    results = [
        result
        for result in by_metric([result for submission in submissions for result in submission.results], config.score)
        if lengths is None or result.length in lengths
    ]
    for submission in submissions:
        if lengths and submission.results and not any(result.length in lengths for result in submission.results):
            shown = ",".join(map(write_length, lengths))
            logger.warning(f"{_name(submission)}: it has no item of `lengths={shown}`, and is not ranked")
    report_failures(results)
    summary = Summary(results, find_shortcuts(results), min_base_score=config.min_base_score)
    board = Leaderboard(summary, submissions, _costs(summary.standings, config.price), config.out)
    if not results:
        for note in board.notes:
            logger.warning(note)
        raise RunError("nothing is left to rank")
    if config.out:
        sources = [submission.source for submission in submissions]
        write_report(summary, config.out, config.out.stem, SnippetFinder(), sources)
    return board


def _grade(config: LeaderboardConfig) -> "list[Submission]":
    """Grade the replies of folders and files. Those with the same name are named with their folders."""
    from carrara.items.prompt_pack import read_pack
    from carrara.runs.asked_items import read_items
    from carrara.runs.rescoring.submission import read_submission

    items = read_items(config.items) if config.items else None
    if config.prompts:
        read_pack(config.prompts)  # a pack that cannot be read is an error of the caller
    names = [place.name for place in config.runs]
    submissions = []
    for place in config.runs:
        if not place.exists():
            raise UsageError(
                f"there is no file or directory {place}: give folders of runs, or files of replies ({LINES})"
            )
        if place.is_file() and place.suffix != LINES:
            raise UsageError(f"the name of {place} does not end with {LINES}: give JSON Lines that are not compressed")
        name = "" if names.count(place.name) == 1 else str(place)
        submissions += read_submission(place, items, name, config.prompts)
    return submissions


def _costs(standings: "Sequence[Standing]", price: str) -> list[float] | None:
    """Return the cost of each model's run, if prices are given."""
    from carrara.runs.prices import price_of

    prices = [price_of(price, line.series.model) for line in standings]
    costs = [
        model_price.of(line.sent, 0, line.received or 0)
        for model_price, line in zip(prices, standings, strict=True)
        if model_price
    ]
    return costs or None


def _name(submission: "Submission") -> str:
    """Return the name of a folder, or of a file with its model."""
    source = submission.source
    return f"{source.name}: {source.models}" if source.name.endswith(LINES) and source.models else source.name
