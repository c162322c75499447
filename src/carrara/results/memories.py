"""What memories kept of a text, in numbers: their answers by kind of fact, their seconds, sizes and costs.

A row is one memory (a model with its reader) on one task, over all lengths. Replies are clustered by instance, because
lengths share instances. No model judges anything: an outcome is an error type of the task, or a fate of a needed fact.

    right             the right value, or the right remark that the text does not say it
    stale             a value that held earlier
    mutated           another value of the text
    withdrawn served  the value that was withdrawn
    private served    a value that the memory was asked not to keep
    invented          a value where the text says none, or that the text does not have
    abstained         `not said`, though the text says it
    lost              a wrong answer without a fact that it needs (tasks that do not distinguish the others)
    otherwise wrong   any other wrong answer
    no answer         a reply without an answer

Failed requests are counted apart.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from carrara.answers.status import GRADED, UNANSWERED
from carrara.results.differences import Difference, difference
from carrara.results.intervals import effective_n, quantile_ranks, student, wilson
from carrara.results.readers import spending_of
from carrara.results.result import Result
from carrara.results.scores import headline
from carrara.results.series import Series, series_of
from carrara.types import ANSWER
from carrara.util.quantities import natural

Outcome = Literal[
    "right",
    "stale",
    "mutated",
    "withdrawn served",
    "private served",
    "invented",
    "abstained",
    "lost",
    "otherwise wrong",
    "no answer",
]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
NEEDED = "needed facts"
"""The kind of all facts of a task that does not distinguish kinds."""
KINDS: Mapping[str, str] = {
    "said": "said",
    "withdrawn": "withdrawn",
    "then off the record": "private",
    "only off the record": "private",
    "never said": "not said",
    "not yet said": "not said",
}
"""The kind of fact that a question asks for, by the reason of its answer (the label `answer`)."""
ORDER = (*dict.fromkeys(KINDS.values()), NEEDED)
SCORE, PRIVATE = "score", "private facts kept"
"""What has a difference beside the outcomes."""
ADDING = {"seconds to add a passage": 0.5, "seconds to add, 95th percentile": 0.95}
ANSWERING = {"seconds to answer": 0.5, "seconds to answer, 95th percentile": 0.95}
SIZE, ENTRIES = "bytes kept for a byte of text", "entries kept"
TOKENS, MONEY = "tokens for a right answer", "cost of a right answer"
MEASURES = (PRIVATE, *ADDING, *ANSWERING, SIZE, ENTRIES, TOKENS, MONEY)
"""The names of what is measured, in the order of the tables. Medians, unless they say otherwise."""
FEWEST = 2
"""The number of instances below which a cost has no interval."""


@dataclass(frozen=True)
class Measure:
    """An estimate with its 95 % interval."""

    value: float
    n: int
    """The number of values that it rests on."""
    low: float | None = None
    """The interval. None: there are too few values."""
    high: float | None = None


@dataclass(frozen=True)
class KindOutcomes:
    """The answers to questions about one kind of fact."""

    kind: str
    counts: Mapping[Outcome, int]
    shares: Mapping[Outcome, Measure]
    """The share of each outcome that occurs, and always that of right answers."""

    @property
    def n(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True)
class MemoryDifference:
    """The difference of a memory from the first one on the same instances."""

    kind: str
    """The kind of fact. Empty: all of them."""
    what: str
    """An outcome, `SCORE` or `PRIVATE`."""
    difference: Difference

    @property
    def is_main(self) -> bool:
        """Whether it is shown where there is little room."""
        return self.difference.clear or self.what in (SCORE, PRIVATE)


@dataclass(frozen=True)
class MemoryRow:
    """One memory on one task."""

    series: Series
    task: str
    instances: int
    replies: int
    """The replies, without failed requests."""
    failed: int
    """The failed requests."""
    kinds: Sequence[KindOutcomes]
    measures: Mapping[str, Measure]
    """Private facts that were kept, seconds, sizes and costs, by name. Only what is known."""
    first: Series | None = None
    """The memory that differences are from. None: this is the first."""
    differences: Sequence[MemoryDifference] = ()

    @property
    def differences_by_kind(self) -> Mapping[str, Mapping[str, Difference]]:
        """The differences by kind of fact and by what they are of."""
        by_kind: dict[str, dict[str, Difference]] = {}
        for entry in self.differences:
            by_kind.setdefault(entry.kind, {})[entry.what] = entry.difference
        return by_kind

    def record(self) -> dict[str, Any]:
        """Return the row for JSON."""
        return {
            "instances": self.instances,
            "replies": self.replies,
            "failed": self.failed,
            "kinds": {
                kind.kind: {
                    "n": kind.n,
                    **{name: {"count": kind.counts[name], **_interval(share)} for name, share in kind.shares.items()},
                }
                for kind in self.kinds
            },
            "measures": {name: asdict(measure) for name, measure in self.measures.items()},
            **({"first": str(self.first)} if self.first else {}),
            "differences": [
                {"kind": entry.kind or None, "what": entry.what, **asdict(entry.difference)}
                for entry in self.differences
            ],
        }


def _interval(share: Measure) -> dict[str, float | None]:
    return {"share": share.value, "low": share.low, "high": share.high}


def memory_rows(results: Sequence[Result], among: Sequence[Result] | None = None) -> list[MemoryRow]:
    """Return a row for each task and each series whose reader is a memory. Later series are paired with the first.

    Args:
        among: All results of the report, if `results` is a part of them. Each series has a unique name there.
    """
    series_for = series_of(results if among is None else among)
    groups: dict[str, dict[Series, list[Result]]] = {}
    for result in results:
        groups.setdefault(result.task, {}).setdefault(series_for(result), []).append(result)
    rows = list[MemoryRow]()
    for task in sorted(groups, key=natural):
        memories = {series: group for series, group in sorted(groups[task].items()) if any(map(_has_store, group))}
        for series, group in memories.items():
            row = _row(series, task, group)
            first = next(iter(memories))
            if series != first:
                row = replace(row, first=first, differences=_differences(memories[first], group))
            rows.append(row)
    return rows


def _has_store(result: Result) -> bool:
    return result.reading is not None and result.reading.store is not None


def kind_of(result: Result) -> str:
    """Return the kind of fact that a question asks for."""
    return KINDS.get(result.labels.get(ANSWER, ""), NEEDED)


def outcome_of(result: Result) -> Outcome:
    """Return what the answer shows about the memory."""
    if result.status not in GRADED or result.answer is None:
        return "no answer"
    if headline(result) == 1:
        return "right"
    if kind_of(result) == NEEDED:
        return _by_fate(result)
    is_unsaid = result.error_type == "should have abstained"
    error = result.detail if is_unsaid else result.error_type
    match error:
        case "abstained":
            return "abstained"
        case "off the record":
            return "private served"
        case "stale by 1" if kind_of(result) == "withdrawn":
            return "withdrawn served"
        case _ if error.startswith("stale by"):
            return "stale"
        case "never said" | "not a possible answer":
            return "invented"
        case "":
            return "otherwise wrong"
    return "invented" if is_unsaid else "mutated"


def _by_fate(result: Result) -> Outcome:
    """Return the outcome of a wrong answer of a task without kinds, by what became of the facts that it needs."""
    fates = {fact.fate for fact in result.facts}
    if "stale" in fates:
        return "stale"
    if "mutated" in fates:
        return "mutated"
    return "lost" if fates & {"unseen", "not kept", "dropped"} else "otherwise wrong"


def _row(series: Series, task: str, results: Sequence[Result]) -> MemoryRow:
    replies = [result for result in results if result.status != "error"]
    kinds: dict[str, list[Result]] = {}
    for result in replies:
        kinds.setdefault(kind_of(result), []).append(result)
    measures = {
        PRIVATE: _private(replies),
        **_times_and_sizes(replies),
        TOKENS: cost_of_right(replies, lambda result: spending_of(result).tokens),
        MONEY: cost_of_right(replies, lambda result: spending_of(result).money),
    }
    return MemoryRow(
        series=series,
        task=task,
        instances=len({result.instance_id for result in replies}),
        replies=len(replies),
        failed=len(results) - len(replies),
        kinds=[_outcomes(kind, kinds[kind]) for kind in ORDER if kind in kinds],
        measures={name: measure for name, measure in measures.items() if measure},
    )


def _outcomes(kind: str, results: Sequence[Result]) -> KindOutcomes:
    outcomes = [(result.instance_id, outcome_of(result)) for result in results]
    counts = {outcome: sum(other == outcome for _, other in outcomes) for outcome in OUTCOMES}
    counts = {outcome: count for outcome, count in counts.items() if count or outcome == "right"}
    shares = {outcome: _mean((instance, float(other == outcome)) for instance, other in outcomes) for outcome in counts}
    return KindOutcomes(kind, counts, shares)


def _mean(values: Iterable[tuple[str, float]]) -> Measure:
    """Return the mean of values in [0, 1], clustered by the first of each pair."""
    clusters = _clusters(values)
    n = sum(map(len, clusters))
    mean = math.fsum(value for cluster in clusters for value in cluster) / n
    return Measure(mean, n, *wilson(mean, effective_n(clusters)))


def _clusters(values: Iterable[tuple[str, float]]) -> list[list[float]]:
    clusters: dict[str, list[float]] = {}
    for instance, value in values:
        clusters.setdefault(instance, []).append(value)
    return list(clusters.values())


def _private(results: Sequence[Result]) -> Measure | None:
    """Return the share of the facts that must not be kept and were before the model at the answer."""
    shares = [(result.instance_id, kept_share) for result in results if (kept_share := _kept(result)) is not None]
    return _mean(shares) if shares else None


def _kept(result: Result) -> float | None:
    kept, total = result.kept_private or (0, 0)
    return kept / total if total else None


def _times_and_sizes(results: Sequence[Result]) -> Mapping[str, Measure | None]:
    """Return the quantiles of seconds, and of the sizes, which count once for each context."""
    stores = [(result, result.reading.store) for result in results if result.reading and result.reading.store]
    additions = [(result.instance_id, seconds) for result, store in stores for seconds in store.add_seconds]
    answers = [
        (result.instance_id, store.answer_seconds) for result, store in stores if store.answer_seconds is not None
    ]
    by_context = {result.context_id: (result.instance_id, store) for result, store in stores}.values()
    sizes = [
        (instance, store.bytes / store.text_bytes)
        for instance, store in by_context
        if store.bytes is not None and store.text_bytes
    ]
    entries = [(instance, float(store.entries)) for instance, store in by_context if store.entries is not None]
    return {
        **{name: quantile(additions, p) for name, p in ADDING.items()},
        **{name: quantile(answers, p) for name, p in ANSWERING.items()},
        SIZE: quantile(sizes, 0.5),
        ENTRIES: quantile(entries, 0.5),
    }


def quantile(values: Sequence[tuple[str, float]], p: float) -> Measure | None:
    """Return a quantile of values, clustered by the first of each pair, with its interval. None: there are no values.

    The bounds are two of the values: those of the exact interval by order statistics, in which the values count as
    many as they are worth (`effective_n` of how many lie below the quantile).

    >>> quantile([(str(n), n) for n in range(100)], 0.5)
    Measure(value=49.5, n=100, low=39, high=60)
    >>> quantile([("one", n) for n in range(100)], 0.5).low  # one instance
    """
    if not values:
        return None
    ordered = sorted(value for _, value in values)
    n, place = len(ordered), p * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, n - 1)
    middle = ordered[below] + (place - below) * (ordered[above] - ordered[below])
    worth = math.floor(effective_n(_clusters((instance, float(value <= middle)) for instance, value in values)) + 1e-9)
    ranks = quantile_ranks(worth, p)
    if ranks is None:
        return Measure(middle, n)
    low, high = (rank * n / worth for rank in ranks)
    return Measure(middle, n, ordered[max(0, math.floor(low) - 1)], ordered[min(n, math.ceil(high)) - 1])


def cost_of_right(results: Sequence[Result], cost: Callable[[Result], float | None]) -> Measure | None:
    """Return the cost of a right answer: the sum of costs by the sum of scores. None: one of them is not known, or 0.

    The interval is that of the logarithm of this ratio, by the jackknife over instances.
    """
    costs = [cost(result) for result in results]
    known = [amount for amount in costs if amount is not None]
    scores = [headline(result) for result in results]
    total, right = math.fsum(known), math.fsum(scores)
    if not known or len(known) < len(costs) or not right or not total:
        return None
    sums: dict[str, tuple[float, float]] = {}
    for result, amount, score in zip(results, known, scores, strict=True):
        spent, scored = sums.get(result.instance_id, (0.0, 0.0))
        sums[result.instance_id] = spent + amount, scored + score
    return Measure(total / right, len(results), *_jackknife(list(sums.values()), total, right))


def _jackknife(sums: Sequence[tuple[float, float]], total: float, right: float) -> tuple[float | None, float | None]:
    """Return the interval of total / right, from the sums of each instance."""
    others = [(total - spent, right - scored) for spent, scored in sums]
    n = len(others)
    if n < FEWEST or any(spent <= 1e-12 or scored <= 1e-9 for spent, scored in others):
        return None, None
    logs = [math.log(spent / scored) for spent, scored in others]
    mean = math.fsum(logs) / n
    error = math.sqrt((n - 1) / n * math.fsum((value - mean) ** 2 for value in logs))
    factor = math.exp(student(n - 1) * error)
    return total / right / factor, total / right * factor


def _differences(first: Sequence[Result], second: Sequence[Result]) -> list[MemoryDifference]:
    """Return the paired differences: of the score, of each outcome by kind, and of private facts that were kept."""
    differences = list[MemoryDifference]()

    def compare(kind: str, what: str, value: Callable[[Result], float | None]) -> None:
        change = difference(_valued(first, value), _valued(second, value))
        if change:
            differences.append(MemoryDifference(kind, what, change))

    compare("", SCORE, headline)
    compare("", PRIVATE, _kept)
    for kind in ORDER:
        outcomes = {outcome_of(result) for result in (*first, *second) if _counts(result, kind)}
        for outcome in OUTCOMES:
            if outcome in outcomes:
                compare(kind, outcome, _indicator(kind, outcome))
    return differences


def _counts(result: Result, kind: str) -> bool:
    return result.status != "error" and kind_of(result) == kind


def _indicator(kind: str, outcome: Outcome) -> Callable[[Result], float | None]:
    return lambda result: float(outcome_of(result) == outcome) if kind_of(result) == kind else None


def _valued(results: Sequence[Result], value: Callable[[Result], float | None]) -> list[Result]:
    """Return the results that have a value, with the value as their score."""
    valued = ((result, value(result)) for result in results if result.status not in UNANSWERED)
    return [replace(result, score=number, metric="", status="ok") for result, number in valued if number is not None]
