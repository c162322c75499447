"""Collect the columns of a correlation: tasks of runs, benchmarks of external tables, published tasks.

Names of models are matched: `openai/gpt-4o` is `GPT-4o`. Users give the aliases that do not match by themselves. Names
match if they are equal without case and without the path of providers before them. Nothing is guessed, because `gpt-4o`
and `gpt-4o-mini` differ by less than `Llama 3.1 8B` and `Llama-3.1-8B-Instruct`.

>>> plain("vllm/Qwen/Qwen3-8B"), plain("Jamba-v0.1 (12B/52B)")
('qwen3-8b', 'jamba-v0.1 (12b/52b)')
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from carrara.papers.external_scores import ExternalScore
from carrara.papers.scores import GUESSER, MEAN, PublishedScore, distinct_scores
from carrara.results.correlation import Column, Correlation, correlations
from carrara.results.scores import RECALL
from carrara.results.series import CellScore
from carrara.util.errors import UsageError, nearest
from carrara.util.quantities import write_length


def plain(name: str) -> str:
    """Return the name without its providers, in lower case. Providers end before the first space."""
    head, space, rest = " ".join(name.split()).partition(" ")
    return (head.rpartition("/")[2] + space + rest).casefold()


@dataclass(frozen=True)
class ModelAliases:
    """A map from each name of a model to the name that stands for it in all sources."""

    shared_names: frozenset[str] = frozenset()
    """Plain names that several models of the runs share. These models keep their full names."""
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])

    def __call__(self, name: str) -> str:
        return self.aliases.get(name.casefold()) or self._own(name)

    def _own(self, name: str) -> str:
        return name.casefold() if plain(name) in self.shared_names else plain(name)


def model_aliases(
    runs: Iterable[str], ours: Iterable[str], theirs: Mapping[str, str], aliases: Sequence[str]
) -> ModelAliases:
    """Return the map of names. `aliases` (`OURS=THEIRS`) adds matches that do not follow from the names.

    `theirs` maps each spelling to its name: a paper's `Llama 3.1 8B` is published as `Llama-3.1-8B-Instruct`.
    """
    plains: dict[str, set[str]] = {}
    for name in runs:
        plains.setdefault(plain(name), set()).add(name.casefold())
    shared_names = frozenset(name for name, spellings in plains.items() if len(spellings) > 1)
    our_names = list(dict.fromkeys(ours))
    theirs_by_ours: dict[str, str] = {}
    for alias in aliases:
        our_name, their_name = _split(alias, our_names, theirs)
        if theirs_by_ours.setdefault(our_name.casefold(), plain(their_name)) != plain(their_name):
            raise UsageError(f"`alias={alias}` takes {our_name} for a second model; give each of yours once")
    return ModelAliases(shared_names, theirs_by_ours)


def _split(alias: str, ours: Sequence[str], theirs: Mapping[str, str]) -> tuple[str, str]:
    """Return the two names of `OURS=THEIRS`, split at the `=` that gives two known names. Settings contain `=` too."""
    cuts = [place for place, character in enumerate(alias) if character == "="]
    pairs = [(alias[:cut].strip(), alias[cut + 1 :].strip()) for cut in cuts]
    if not pairs:
        raise UsageError(f"`alias={alias}` is not OURS=THEIRS; write for example `alias=openai/gpt-4o=GPT-4o`")
    for our_name, their_name in pairs:
        ours_matched, theirs_matched = _matches_ours(our_name, ours), _matches_theirs(their_name, theirs)
        if ours_matched and theirs_matched:
            return _single_match(alias, our_name, ours_matched), _single_match(alias, their_name, theirs_matched)
    known = [pair for pair in pairs if _matches_ours(pair[0], ours)]
    if not known:
        raise UsageError(f"`alias={alias}`: no model of yours is called {pairs[0][0]!r}{nearest(pairs[0][0], ours)}")
    their_name = known[0][1]
    raise UsageError(f"`alias={alias}`: no model to compare with is called {their_name!r}{nearest(their_name, theirs)}")


def _matches_ours(text: str, ours: Sequence[str]) -> list[str]:
    exact = [name for name in ours if name.casefold() == text.casefold()]
    return exact or [name for name in ours if plain(name) == text.casefold()]


def _matches_theirs(text: str, theirs: Mapping[str, str]) -> list[str]:
    names = dict.fromkeys(name for name in theirs.values() if plain(name) == plain(text))
    return list(names or dict.fromkeys(name for spelling, name in theirs.items() if plain(spelling) == plain(text)))


def _single_match(alias: str, text: str, names: Sequence[str]) -> str:
    if len({name.casefold() for name in names}) > 1:
        raise UsageError(f"`alias={alias}`: {text} may be {' or '.join(names)}; give the whole name")
    return names[0]


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
    cells: Iterable[CellScore],
    outside: Iterable[ExternalScore],
    published: Sequence[PublishedScore],
    aliases: Sequence[str],
) -> SourceCorrelations:
    """Correlate the scores of runs, of outside tables and of papers.

    Args:
        aliases: Which names mean one model, as OURS=THEIRS, where the names do not say it themselves.

    Raises:
        UsageError: There are not two columns, or no model is in two of the sources.
    """
    runs = [Entry(RUNS, cell.what, str(cell.model), cell.stat.mean) for cell in cells]
    others = [Entry(OUTSIDE, row.benchmark, row.model, row.score, row.place) for row in outside]
    entries = [*runs, *others, *of_papers(published)]
    theirs = {entry.model: entry.model for entry in entries if entry.source != entries[0].source}
    theirs |= {score.model: score.name for score in published if score.model not in theirs}
    model_of = model_aliases(
        (entry.model for entry in runs), (entry.model for entry in runs or others), theirs, aliases
    )
    table = columns(entries, model_of)
    if len(table) < 2:
        problem = f"there is only {table[0].name!r}" if table else "there is no score"
        raise UsageError(f"{problem}, and a correlation needs two columns; give `scores` or `published`")
    unmatched = find_unmatched(entries, model_of)
    if not has_shared_model(entries, model_of):
        have = "; ".join(f"{source} have {first_names(models)}" for source, models in unmatched.items())
        raise UsageError(f"no model is in two of the sources: {have}; say which is which by `alias=OURS=THEIRS`")
    return SourceCorrelations(table, correlations(table), unmatched)


def first_names(names: Sequence[str], most: int = 5) -> str:
    """Return the first of several names, and the number of the others.

    >>> first_names(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def of_papers(scores: Iterable[PublishedScore]) -> list[Entry]:
    """Return published scores, without shares of errors, guessers, recall, and means of other columns."""
    return [
        Entry(PUBLISHED, _published_entry(score), score.name, score.score, f"{score.paper}, {score.table}")
        for score in distinct_scores(list(scores))
        if score.task != MEAN and score.metric != RECALL and not score.name.startswith(GUESSER)
    ]


def columns(entries: Iterable[Entry], model_of: ModelAliases) -> list[Column]:
    """Return the columns in the order of the entries. Two scores of one model in one column are an error."""
    columns_by_source: dict[tuple[str, str], dict[str, Entry]] = {}
    for entry in entries:
        column = columns_by_source.setdefault((entry.source, entry.column), {})
        earlier = column.setdefault(model_of(entry.model), entry)
        if earlier is not entry:
            raise UsageError(_duplicate_error(earlier, entry))
    return [
        Column(name, source, {model: entry.score for model, entry in column.items()})
        for (source, name), column in columns_by_source.items()
    ]


def find_unmatched(entries: Sequence[Entry], model_of: ModelAliases) -> dict[str, list[str]]:
    """Return the models that no other source has, by source. Empty if there is only one source."""
    sources: dict[str, dict[str, str]] = {}
    for entry in entries:
        sources.setdefault(entry.source, {}).setdefault(model_of(entry.model), entry.model)
    if len(sources) < 2:
        return {}
    return {
        source: [
            name
            for model, name in models.items()
            if not any(model in others for other_source, others in sources.items() if other_source != source)
        ]
        for source, models in sources.items()
    }


def has_shared_model(entries: Sequence[Entry], model_of: ModelAliases) -> bool:
    """Return whether any model has a score in two sources, or there is only one source."""
    return len({entry.source for entry in entries}) < 2 or len({model_of(entry.model) for entry in entries}) < len(
        {(entry.source, model_of(entry.model)) for entry in entries}
    )


def _published_entry(score: PublishedScore) -> str:
    length = "" if score.length is None else f" at {write_length(score.length)}"
    return f"{score.paper}: {score.task}{length}"


def _duplicate_error(first: Entry, second: Entry) -> str:
    first_name, second_name = (
        f"{entry.model!r} ({entry.place})" if entry.place else repr(entry.model) for entry in (first, second)
    )
    if first.source != OUTSIDE:
        return (
            f"{first_name} and {second_name} would be one model on {first.column}; "
            "leave out the `alias` that makes them one"
        )
    return (
        f"{second.column!r} has two scores of one model, for {first_name} and {second_name}; leave one of the rows out"
    )
