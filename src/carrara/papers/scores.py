"""The scores that papers and model cards print, as they print them: models by tasks by lengths (tables/, a file each).

A row is one number of one table. If two tables print one score in two ways, both rows are kept, each with a note, and
the first counts. Papers spell a model in several ways, even within one paper. So `tables/models.csv` gives each
spelling the name that providers use, such as `Llama-3.1-8B-Instruct`. A name that a paper leaves open (which GPT-4o)
stays open.

>>> rows = read_scores(["sync"])
>>> next(row for row in rows if row.name == "gpt-4o-2024-11-20" and row.task == "Shortest Path" and row.length == 65536)
PublishedScore(paper='sync', table='Table 7', ... score=77.3, ours='sync/graph:shortest', note='as printed; ...')
"""

import csv
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from carrara.util.errors import UsageError, nearest
from carrara.util.quantities import read_length

PAPERS = {"michelangelo": "Michelangelo", "sync": "SYNC", "minerva": "Minerva", "babilong": "BABILong"}
DATA_SETS = {
    "cards": "model cards",
    "longbench2": "LongBench v2",
    "nolima": "NoLiMa",
    "oolong": "Oolong",
}
"""Model cards, and data sets whose scores stand on leaderboards. No figures of theirs are drawn."""
TITLES = {**PAPERS, **DATA_SETS}
SHARE = "share: "
"""The prefix of a metric that is a share of errors instead of a score."""

MEAN = "QA1-QA5"
"""A task that is the mean of other tasks in the table."""
GUESSER = "random guesser"
"""Prefixes of the names of guessers, which are not models."""


@dataclass(frozen=True)
class PublishedScore:
    paper: str
    table: str
    model: str
    """The name as the table spells it."""
    name: str
    """The name that providers use, the same for all spellings of a model."""
    task: str
    length: int | None
    """The length. None: the paper gives a number of operations (see the note), or the score belongs to no length."""
    metric: str
    score: float
    """The score from 0 to 100, as in all papers."""
    ours: str
    """The name of our task (`babilong/qa1`, `sync/graph:shortest`); empty if there is none."""
    note: str
    maker: str = ""
    """The maker whose card prints it. Only for model cards, as are the following fields."""
    date: str = ""
    """The date of the card, as far as it is known."""
    read: str = ""
    """When it was read here, and whether in a copy of the card or second-hand."""
    rule: str = ""
    """The name of the paper score that follows the maker's rule."""

    @property
    def share(self) -> bool:
        """Whether it is a share of errors, where less is better."""
        return self.metric.startswith(SHARE)


def read_scores(papers: Collection[str] = tuple(TITLES)) -> list[PublishedScore]:
    return [score for paper in papers for score in _scores(paper)]


def distinct_scores(scores: Collection[PublishedScore]) -> list[PublishedScore]:
    """Return one score for each model on each task at each length: the first of those that are printed."""
    first_scores: dict[tuple[str, str, str, int | None], PublishedScore] = {}
    for score in scores:
        if not score.share:
            first_scores.setdefault((score.paper, score.name, score.task, score.length), score)
    return list(first_scores.values())


@cache
def claimed_length(model: str) -> int | None:
    """Return the context length that the makers of a model claim, in tokens, if its paper prints it."""
    claims = {row["name"]: row["claims"] for row in read_table("models") if row["claims"]}
    return read_length(claims[model]) if model in claims else None


class Time(NamedTuple):
    """The time of a published model for an item."""

    model: str
    length: int
    seconds: float


def read_times() -> list[Time]:
    """Return BABILong's Table 3, which prints minutes for 1,000 items."""
    return [
        Time(row["model"], read_length(row["length"]), float(row["minutes"]) * 60 / 1000)
        for row in read_table("babilong_times")
    ]


def correlations_of_sync() -> Iterator[tuple[str, str, str, float]]:
    """Yield the rows of SYNC's Figures 5 and 6: length, two benchmarks, their rank correlation over fourteen models."""
    for row in read_table("sync_correlations"):
        yield row["length"], row["first"], row["second"], float(row["rho"])


def select_papers(text: str) -> list[str]:
    """
    >>> select_papers("sync,babilong"), len(select_papers("all"))
    (['sync', 'babilong'], 8)
    """
    if text.strip().lower() == "all":
        return list(TITLES)
    names = list(dict.fromkeys(part.strip().lower() for part in text.split(",")))
    for name in names:
        if name not in TITLES:
            raise UsageError(f"no paper here is called {name!r}{nearest(name, TITLES)}; there are {', '.join(TITLES)}")
    return names


@cache
def _scores(paper: str) -> tuple[PublishedScore, ...]:
    names = {row["printed"]: row["name"] for row in read_table("models") if row["paper"] == paper}
    return tuple(
        PublishedScore(
            paper=row["paper"],
            table=row["table"],
            model=row["model"],
            name=names[row["model"]],
            task=row["task"],
            length=_length(row["length"]),
            metric=row["metric"],
            score=float(row["score"]),
            ours=row["ours"],
            note=row["note"],
            **{name: row.get(name, "") for name in ("maker", "date", "read", "rule")},
        )
        for row in read_table(paper)
    )


def read_table(name: str) -> Iterator[dict[str, str]]:
    """Yield the rows of `tables/NAME.csv`."""
    text = (files("carrara.papers") / "tables" / f"{name}.csv").read_text("utf-8")
    yield from csv.DictReader(text.splitlines())


def _length(text: str) -> int | None:
    """Parse a length. Minerva writes 4K and 4000 for the same contexts; both are 4k."""
    if text.endswith("00"):
        text = f"{int(text) / 1000:g}k"
    return read_length(text) if text else None
