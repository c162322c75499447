"""Collect the columns of a correlation: tasks of runs, benchmarks of external tables, published tasks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from carrara.papers.external_scores import ExternalScore
from carrara.papers.scores import GUESSER, MEAN, PublishedScore, counting
from carrara.results.correlation import Column, Correlation, correlations
from carrara.results.model_aliases import ModelAliases, model_aliases
from carrara.results.scores import RECALL
from carrara.results.series import CellScore
from carrara.util.errors import UsageError
from carrara.util.quantities import write_length

RUNS, OUTSIDE, PUBLISHED = "runs", "outside scores", "published scores"


@dataclass(frozen=True)
class Entry:
    """One score of a model, with its source."""

    source: str
    column: str
    model: str
    score: float
    place: str = ""
    """File and line, or paper and table, for messages."""


@dataclass(frozen=True)
class SourceCorrelations:
    """The columns of several sources of scores, and the correlation of each two columns."""

    columns: Sequence[Column]
    pairs: Sequence[Correlation]
    unmatched: dict[str, list[str]]
    """The models that no other source has, by source."""


def correlate_sources(
    own: Iterable[CellScore],
    outside: Iterable[ExternalScore],
    published: Sequence[PublishedScore],
    aliases: Sequence[str],
) -> SourceCorrelations:
    """Correlate the scores of runs, of outside tables and of papers.

    Args:
        own: What runs measured.
        outside: Rows of outside tables.
        published: Scores that papers print.
        aliases: Which names mean one model, as OURS=THEIRS, where the names do not say it themselves.

    Raises:
        UsageError: There are not two columns, or no model is in two of the sources.
    """
    runs, others = of_runs(own), of_external(outside)
    entries = [*runs, *others, *of_papers(published)]
    theirs = {entry.model: entry.model for entry in entries if entry.source != entries[0].source}
    theirs |= {score.model: score.name for score in published if score.model not in theirs}
    same = model_aliases((entry.model for entry in runs), (entry.model for entry in runs or others), theirs, aliases)
    found = columns(entries, same)
    if len(found) < 2:
        has = f"there is only {found[0].name!r}" if found else "there is no score"
        raise UsageError(f"{has}, and a correlation needs two columns; give `scores` or `published`")
    apart = find_unmatched(entries, same)
    if not has_shared_model(entries, same):
        have = "; ".join(f"{source} have {few(models)}" for source, models in apart.items())
        raise UsageError(f"no model is in two of the sources: {have}; say which is which by `alias=OURS=THEIRS`")
    return SourceCorrelations(found, correlations(found), apart)


def few(names: Sequence[str], most: int = 5) -> str:
    """Return the first of several names, and the number of the others.

    >>> few(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def of_runs(own: Iterable[CellScore]) -> list[Entry]:
    return [Entry(RUNS, one.what, str(one.model), one.stat.mean) for one in own]


def of_external(rows: Iterable[ExternalScore]) -> list[Entry]:
    return [Entry(OUTSIDE, row.benchmark, row.model, row.score, row.place) for row in rows]


def of_papers(scores: Iterable[PublishedScore]) -> list[Entry]:
    """Return published scores, without shares of errors, guessers, recall, and means of other columns."""
    return [
        Entry(PUBLISHED, _published_entry(score), score.name, score.score, f"{score.paper}, {score.table}")
        for score in counting(list(scores))
        if score.task != MEAN and score.metric != RECALL and not score.name.startswith(GUESSER)
    ]


def columns(entries: Iterable[Entry], same: ModelAliases) -> list[Column]:
    """Return the columns in the order of the entries. Two scores of one model in one column are an error."""
    found: dict[tuple[str, str], dict[str, Entry]] = {}
    for entry in entries:
        column = found.setdefault((entry.source, entry.column), {})
        other = column.setdefault(same(entry.model), entry)
        if other is not entry:
            raise UsageError(_twice(other, entry))
    return [
        Column(name, source, {model: entry.score for model, entry in column.items()})
        for (source, name), column in found.items()
    ]


def find_unmatched(entries: Sequence[Entry], same: ModelAliases) -> dict[str, list[str]]:
    """Return the models that no other source has, by source. Empty if there is only one source."""
    sources: dict[str, dict[str, str]] = {}
    for entry in entries:
        sources.setdefault(entry.source, {}).setdefault(same(entry.model), entry.model)
    if len(sources) < 2:
        return {}
    return {
        source: [
            name
            for model, name in models.items()
            if not any(model in others for other, others in sources.items() if other != source)
        ]
        for source, models in sources.items()
    }


def has_shared_model(entries: Sequence[Entry], same: ModelAliases) -> bool:
    """Return whether any model has a score in two sources, or there is only one source."""
    return len({entry.source for entry in entries}) < 2 or len({same(entry.model) for entry in entries}) < len(
        {(entry.source, same(entry.model)) for entry in entries}
    )


def _published_entry(score: PublishedScore) -> str:
    length = "" if score.length is None else f" at {write_length(score.length)}"
    return f"{score.paper}: {score.task}{length}"


def _twice(first: Entry, second: Entry) -> str:
    one, other = (f"{entry.model!r} ({entry.place})" if entry.place else repr(entry.model) for entry in (first, second))
    if first.source != OUTSIDE:
        return f"{one} and {other} would be one model on {first.column}; leave out the `alias` that makes them one"
    return f"{second.column!r} has two scores of one model, for {one} and {other}; leave one of the rows out"
