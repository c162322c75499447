"""The costs of readers, and the fates of the facts that answers need.

A cost counts all calls of the model for a reply. If the whole context stands in the prompt, a reply is one call. A
request that failed, and a prompt that did not fit, cost nothing. What a right answer costs is what all replies cost,
divided by the sum of their scores.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from carrara.answers.status import NEVER_ASKED
from carrara.constants import READER, WHOLE
from carrara.results.result import FATES, Fate, Result
from carrara.results.rows import bin_name
from carrara.results.scores import headline, replies_in_mean
from carrara.results.series import Series, series_of
from carrara.util.quantities import natural


@dataclass(frozen=True)
class Spending:
    """Calls, tokens, seconds and money: the sum over replies, or a mean."""

    calls: float
    input_tokens: float
    """Tokens of all prompts."""
    output_tokens: float | None
    """Tokens of all replies. None: they are not known for every reply. The same holds for the following numbers."""
    cached_tokens: float | None
    """Tokens of the prompts that the server had in its cache."""
    seconds: float | None
    money: float | None
    """Money, by the price that the run was given."""

    @property
    def tokens(self) -> float:
        """The tokens of all prompts and replies, as far as they are known."""
        return self.input_tokens + (self.output_tokens or 0)

    def divided_by(self, number: float) -> "Spending":
        return Spending(
            self.calls / number,
            self.input_tokens / number,
            _quotient(self.output_tokens, number),
            _quotient(self.cached_tokens, number),
            _quotient(self.seconds, number),
            _quotient(self.money, number),
        )


def _quotient(value: float | None, number: float) -> float | None:
    return None if value is None else value / number


def sum_spending(parts: Sequence[Spending]) -> Spending:
    """Return the sum. A number that one part lacks is not known."""
    return Spending(
        sum(part.calls for part in parts),
        sum(part.input_tokens for part in parts),
        _sum([part.output_tokens for part in parts]),
        _sum([part.cached_tokens for part in parts]),
        _sum([part.seconds for part in parts]),
        _sum([part.money for part in parts]),
    )


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def spending_of(result: Result) -> Spending:
    """Return the costs of a reply.

    >>> from carrara.results.result import ReadingCost
    >>> made = dict(id="a/b@1/test-0-0.0/0/chat/gpt2", task="a/b", version=1, model="m", length=0, tokens=90,
    ...             tokenizer="gpt2", context_id="c", instance_id="i", status="ok", score=1.0, chance_level=0.0)
    >>> spending_of(Result(**made, output_tokens=5)).tokens
    95
    >>> spending_of(Result(**made, input_tokens=200, output_tokens=10, reading=ReadingCost(calls=3))).calls
    3
    """
    if result.reading is None and result.status in NEVER_ASKED:
        return Spending(0, 0, 0, 0, 0, 0)
    sent = result.tokens if result.input_tokens is None else result.input_tokens
    calls = result.reading.calls if result.reading else 1
    return Spending(calls, sent, result.output_tokens, result.cached_tokens, result.seconds, result.money)


@dataclass(frozen=True)
class SeriesCost:
    """The costs of one series, and the fates of its needed facts."""

    series: Series
    task: str
    """The name of the task. Empty: all tasks."""
    length: int
    reader: str
    """The reader with its settings. Several names, if the tasks had different readers."""
    items: int
    """The replies, without failed requests."""
    scores: float
    """The sum of their scores: the number of right answers, where partly right ones count as their score."""
    total: Spending
    peak_tokens: int
    """The tokens of the longest call, prompt and reply together."""
    places: Mapping[str, Mapping[Fate, int]]
    """The number of needed facts of each fate, by the part of the context in which they stand."""

    @property
    def per_item(self) -> Spending:
        return self.total.divided_by(self.items)

    @property
    def per_right_answer(self) -> Spending | None:
        """The cost of a right answer. None: there is none."""
        return self.total.divided_by(self.scores) if self.scores else None

    @property
    def fates(self) -> Mapping[Fate, int]:
        """The number of needed facts of each fate, in the order of `FATES`. Empty if no fact was traced."""
        counts = Counter[Fate]()
        for fate_counts in self.places.values():
            counts.update(fate_counts)
        return _in_order(counts)

    def record(self) -> dict[str, Any]:
        """Return the costs and fates for JSON."""
        right = self.per_right_answer
        cost = {
            **asdict(self.total),
            "peak_tokens": self.peak_tokens,
            "per_item": asdict(self.per_item),
            "per_right_answer": asdict(right) if right else None,
        }
        facts = {"facts": dict(self.fates), "facts_by_place": {place: dict(n) for place, n in self.places.items()}}
        return {"cost": cost, **(facts if self.places else {})}


def series_costs(results: Sequence[Result], among: Sequence[Result] | None = None) -> list[SeriesCost]:
    """Return the costs of each series on each task at each length.

    Args:
        among: All results of the report, if `results` is a part of them. Each series has a unique name there.
    """
    series_for = series_of(results if among is None else among)
    groups: dict[tuple[str, Series, int], list[Result]] = {}
    for result in results:
        groups.setdefault((result.task, series_for(result), result.length), []).append(result)
    return [
        _cost(task, series, length, group)
        for (task, series, length), group in sorted(
            groups.items(), key=lambda item: (natural(item[0][0]), *item[0][1:])
        )
    ]


def over_tasks(costs: Iterable[SeriesCost]) -> list[SeriesCost]:
    """Return the costs of each series at each length, over all its tasks."""
    groups: dict[tuple[Series, int], list[SeriesCost]] = {}
    for cost in costs:
        groups.setdefault((cost.series, cost.length), []).append(cost)
    return [_merge(series, length, group) for (series, length), group in sorted(groups.items())]


def _cost(task: str, series: Series, length: int, results: Sequence[Result]) -> SeriesCost:
    replies = replies_in_mean(results)
    return SeriesCost(
        series=series,
        task=task,
        length=length,
        reader=results[0].settings.get(READER, WHOLE),
        items=len(replies),
        scores=math.fsum(map(headline, replies)),
        total=sum_spending([spending_of(result) for result in replies]),
        peak_tokens=max(map(_peak, replies)),
        places=_places(replies),
    )


def _peak(result: Result) -> int:
    return result.reading.peak_tokens if result.reading else round(spending_of(result).tokens)


def _places(results: Iterable[Result]) -> Mapping[str, Mapping[Fate, int]]:
    counts: dict[str, Counter[Fate]] = {}
    for result in results:
        for fact in result.facts:
            counts.setdefault(bin_name(fact.place), Counter())[fact.fate] += 1
    return {place: _in_order(counts[place]) for place in sorted(counts, key=natural)}


def _in_order(counts: Mapping[Fate, int]) -> Mapping[Fate, int]:
    return {fate: counts.get(fate, 0) for fate in FATES} if counts else {}


def _merge(series: Series, length: int, costs: Sequence[SeriesCost]) -> SeriesCost:
    places: dict[str, Counter[Fate]] = {}
    for cost in costs:
        for place, counts in cost.places.items():
            places.setdefault(place, Counter()).update(counts)
    return SeriesCost(
        series=series,
        task="",
        length=length,
        reader=", ".join(dict.fromkeys(cost.reader for cost in costs)),
        items=sum(cost.items for cost in costs),
        scores=math.fsum(cost.scores for cost in costs),
        total=sum_spending([cost.total for cost in costs]),
        peak_tokens=max(cost.peak_tokens for cost in costs),
        places={place: _in_order(places[place]) for place in sorted(places, key=natural)},
    )
