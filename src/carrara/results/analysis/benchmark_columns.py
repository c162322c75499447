"""The columns of a correlation: tests of runs, benchmarks of outside tables, published tests."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from carrara.core.errors import UsageError
from carrara.core.lengths import write_length
from carrara.results.analysis.cells import Measured
from carrara.results.analysis.correlation import Column
from carrara.results.analysis.model_aliases import Matching
from carrara.results.analysis.summary import RECALL
from carrara.results.published.external_scores import Outside
from carrara.results.published.scores import GUESSER, MEAN, Score, counting

RUNS, OUTSIDE, PUBLISHED = "runs", "outside scores", "published scores"


@dataclass(frozen=True)
class Entry:
    """One score, with everything it may be asked for."""

    source: str
    column: str
    model: str
    score: float
    place: str = ""
    """Where it is written, for messages."""


def of_runs(own: Iterable[Measured]) -> list[Entry]:
    return [Entry(RUNS, one.what, str(one.model), one.stat.mean) for one in own]


def of_outside(rows: Iterable[Outside]) -> list[Entry]:
    return [Entry(OUTSIDE, row.benchmark, row.model, row.score, row.place) for row in rows]


def of_papers(scores: Iterable[Score]) -> list[Entry]:
    """Without shares of errors, what guessing scores, what retrieval found, and means of columns that are here too."""
    return [
        Entry(PUBLISHED, _published(score), score.name, score.score, f"{score.paper}, {score.table}")
        for score in counting(list(scores))
        if score.test != MEAN and score.metric != RECALL and not score.name.startswith(GUESSER)
    ]


def columns(entries: Iterable[Entry], same: Matching) -> list[Column]:
    """In the order of the entries. Two scores for one model in one column are an error: neither may be dropped."""
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


def unmatched(entries: Sequence[Entry], same: Matching) -> dict[str, list[str]]:
    """By source, the models that no other source has, as they are written there. Empty if there is one source."""
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


def shared(entries: Sequence[Entry], same: Matching) -> bool:
    """Whether any model has a score in two sources, or there is but one source."""
    return len({entry.source for entry in entries}) < 2 or len({same(entry.model) for entry in entries}) < len(
        {(entry.source, same(entry.model)) for entry in entries}
    )


def _published(score: Score) -> str:
    length = "" if score.length is None else f" at {write_length(score.length)}"
    return f"{score.paper}: {score.test}{length}"


def _twice(first: Entry, second: Entry) -> str:
    one, other = (f"{entry.model!r} ({entry.place})" if entry.place else repr(entry.model) for entry in (first, second))
    if first.source != OUTSIDE:
        return f"{one} and {other} would be one model on {first.column}; leave out the `alias` that makes them one"
    return f"{second.column!r} has two scores of one model, for {one} and {other}; leave one of the rows out"
