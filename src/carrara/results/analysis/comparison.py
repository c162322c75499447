"""Is one of two runs better than the other? Item by item, per length first, pooled after.

Items are paired by their ids; scores on one world are averaged first, for they are not independent, and the worlds are
what is counted. A test of signs asks what the difference would come to if each world's could as well be the other way
round: exactly where there are few worlds or where every difference is all or nothing, else by drawing. Comparisons are
many, and of twenty between equals one looks clear: Holm's correction is over all of a table's.

What was asked in other words, other tokens, another version or with other parameters is not the same item, and is not
averaged: it is named.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from carrara.core.errors import UsageError
from carrara.core.order import natural
from carrara.core.recipe import Recipe
from carrara.core.result import Result
from carrara.results.analysis.intervals import Z, paired_interval, student
from carrara.results.analysis.metric import Metric, by_metric
from carrara.results.analysis.summary import headline

ALPHA = 0.05
POWER = 0.8416212335729143
"""The normal distribution's 80 % point."""
DRAWN = 9999
"""Reversals of signs that are drawn where not all can be tried."""

Verdict = Literal["better", "worse", "not worse", "not told apart"]


@dataclass(frozen=True)
class Side:
    """One of those that are compared."""

    name: str
    results: Sequence[Result]


@dataclass(frozen=True)
class Comparison:
    """Second minus first, on the items that both were asked."""

    test: str
    """Empty: over all tests, each of which counts the same."""
    length: int | None
    """None: over all lengths that both have."""
    first: str
    second: str
    one: float
    other: float
    items: int
    worlds: int
    low: float | None
    high: float | None
    p: float
    """That signs at random come to so great a difference."""
    holm: float
    """The same, for all comparisons of the table at once."""
    smallest: float | None
    """The difference that so many worlds would show four times out of five."""

    @property
    def difference(self) -> float:
        return self.other - self.one

    def verdict(self, margin: float | None = None) -> Verdict:
        """Of the second. `not worse` is that it falls behind by less than the margin, with 95 % confidence."""
        if self.holm < ALPHA:
            return "better" if self.difference > 0 else "worse"
        return "not worse" if margin is not None and self.low is not None and self.low > -margin else "not told apart"


@dataclass(frozen=True)
class Compared:
    sides: list[str]
    lengths: list[Comparison]
    """For each test at each length."""
    across: list[Comparison]
    """At each length over its tests, where it has several."""
    tests: list[Comparison]
    """For each test over its lengths."""
    overall: list[Comparison]
    """Over the tests."""
    groups: list[list[str]]
    """Of sides that are not told apart over all; the best first."""
    refused: list[str]
    """What is not compared, and why."""


def only(sides: Sequence[Side], lengths: Collection[int] | None = None, metric: Metric = "sound") -> list[Side]:
    """What of the sides is to be compared, by the score that counts; at least two of them."""
    found = [
        Side(side.name, [one for one in by_metric(side.results, metric) if lengths is None or one.length in lengths])
        for side in sides
    ]
    found = [side for side in found if side.results]
    if len(found) < 2:
        raise UsageError(f"there is {len(found)} model to compare: give two runs, or a folder with two models")
    return found


def compare(sides: Sequence[Side], by_world: bool = False) -> Compared:
    """`by_world` pairs questions on one world at one nominal length, whichever tokenizer counted it."""
    scores = [_scores(side.results, by_world) for side in sides]
    lengths, across, tests, overall = (list[Comparison]() for _ in range(4))
    refused = list[str]()
    for (first, ones), (second, others) in combinations(zip(sides, scores, strict=True), 2):
        pooled = []
        for test in sorted(ones.keys() & others.keys(), key=natural):
            paired = _paired(ones[test], others[test])
            if not paired:
                refused.append(_why(test, first, second))
                continue
            refused += _left_out(test, first, second, len(ones[test]), len(others[test]), len(paired))
            lengths += [
                _comparison(test, length, first.name, second.name, {k: v for k, v in paired.items() if k[1] == length})
                for length in sorted({length for _, length, _ in paired})
            ]
            pooled.append(_comparison(test, None, first.name, second.name, paired))
        for test in sorted(ones.keys() ^ others.keys(), key=natural):
            refused.append(f"{test} was not asked of both {first.name} and {second.name}")
        tests += pooled
        across += _by_length([row for row in lengths if (row.first, row.second) == (first.name, second.name)])
        if pooled:
            overall.append(_together(pooled))
    if not tests:
        raise UsageError("; ".join(refused[:3]) or "they have no test in common")
    overall = _holm(overall)
    return Compared(
        [side.name for side in sides],
        _holm(lengths),
        _holm(across),
        _holm(tests),
        overall,
        _groups([side.name for side in sides], overall),
        list(dict.fromkeys(refused)),
    )


Key = tuple[str, int, str]
"""World, length, and what else tells an item from others."""


def _scores(results: Iterable[Result], by_world: bool) -> dict[str, dict[Key, float]]:
    """Of an item that was asked repeatedly the mean."""
    found: dict[str, dict[Key, list[float]]] = {}
    for result in results:
        what = _question(result.id) if by_world else result.id
        found.setdefault(result.task, {}).setdefault((result.world_id, result.length, what), []).append(
            headline(result)
        )
    return {test: {key: _mean(scores) for key, scores in own.items()} for test, own in found.items()}


def _paired(ones: Mapping[Key, float], others: Mapping[Key, float]) -> dict[Key, tuple[float, float]]:
    return {key: (ones[key], others[key]) for key in ones if key in others}


def _comparison(
    test: str, length: int | None, first: str, second: str, paired: Mapping[Key, tuple[float, float]]
) -> Comparison:
    worlds: dict[str, list[tuple[float, float]]] = {}
    for (world, _, _), pair in paired.items():
        worlds.setdefault(world, []).append(pair)
    means = [(_mean([one for one, _ in own]), _mean([other for _, other in own])) for own in worlds.values()]
    changes = [other - one for one, other in means]
    low, high = paired_interval(changes) or (None, None)
    return Comparison(
        test=test,
        length=length,
        first=first,
        second=second,
        one=_mean([one for one, _ in means]),
        other=_mean([other for _, other in means]),
        items=len(paired),
        worlds=len(means),
        low=low,
        high=high,
        p=chance(changes),
        holm=1.0,
        smallest=_smallest(changes),
    )


def chance(changes: Sequence[float]) -> float:
    """How often signs at random come to a mean as far from zero: McNemar's test where all is right or wrong.

    >>> chance([1, 1, 1, 1, 1, 1, 0]), chance([0.0, 0.0]), round(chance([0.5, 0.25, 0.5, 0.75, 0.5, 0.25]), 4)
    (0.03125, 1.0, 0.0312)
    """
    from scipy import stats

    moved = [change for change in changes if abs(change) > 1e-12]
    if not moved:
        return 1.0
    if len({round(abs(change), 12) for change in moved}) == 1:
        up = sum(change > 0 for change in moved)
        return float(stats.binomtest(up, len(moved)).pvalue)
    found = stats.permutation_test(
        (moved,), lambda values, axis: values.mean(axis), permutation_type="samples", n_resamples=DRAWN,
        vectorized=True, rng=0,
    )  # fmt: skip
    return float(found.pvalue)


def _smallest(changes: Sequence[float]) -> float | None:
    """None where nothing varies: nothing says by how much worlds differ."""
    n = len(changes)
    if n < 2:
        return None
    mean = _mean(changes)
    variance = math.fsum((change - mean) ** 2 for change in changes) / (n - 1)
    return None if variance < 1e-12 else (student(n - 1) + POWER) * math.sqrt(variance / n)


def _by_length(rows: Sequence[Comparison]) -> list[Comparison]:
    found: dict[int | None, list[Comparison]] = {}
    for row in rows:
        found.setdefault(row.length, []).append(row)
    return [_together(own) for _, own in sorted(found.items(), key=lambda pair: pair[0] or 0) if len(own) > 1]


def _together(tests: Sequence[Comparison]) -> Comparison:
    """Over tests, each of which counts the same: their worlds have nothing to do with each other."""
    k = len(tests)
    errors = [(test.high - test.low) / 2 / Z for test in tests if test.low is not None and test.high is not None]
    one, other = _mean([test.one for test in tests]), _mean([test.other for test in tests])
    low = high = smallest = None
    p = tests[0].p
    if k > 1:
        error = math.sqrt(math.fsum(error**2 for error in errors)) / k if len(errors) == k else None
        p = 1.0
        if error:
            low, high = max(-1.0, other - one - Z * error), min(1.0, other - one + Z * error)
            p, smallest = math.erfc(abs(other - one) / error / math.sqrt(2)), (Z + POWER) * error
    return replace(
        tests[0],
        test="" if k > 1 else tests[0].test,
        one=one,
        other=other,
        items=sum(test.items for test in tests),
        worlds=sum(test.worlds for test in tests),
        low=low if k > 1 else tests[0].low,
        high=high if k > 1 else tests[0].high,
        p=p,
        smallest=smallest if k > 1 else tests[0].smallest,
    )


def _holm(rows: Sequence[Comparison]) -> list[Comparison]:
    """
    >>> row = Comparison("t", 0, "a", "b", 0, 1, 9, 9, None, None, 0.01, 1.0, None)
    >>> [one.holm for one in _holm([row, replace(row, p=0.04), replace(row, p=0.03)])]
    [0.03, 0.06, 0.06]
    """
    found, least = dict[int, float](), 0.0
    order = sorted(range(len(rows)), key=lambda place: rows[place].p)
    for rank, place in enumerate(order):
        least = max(least, min(1.0, rows[place].p * (len(rows) - rank)))
        found[place] = least
    return [replace(row, holm=found[place]) for place, row in enumerate(rows)]


def _groups(names: Sequence[str], overall: Sequence[Comparison]) -> list[list[str]]:
    """The largest sets in which no two are told apart; the best side's first."""
    means: dict[str, list[float]] = {}
    apart = set[frozenset[str]]()
    known = set[frozenset[str]]()
    for row in overall:
        means.setdefault(row.first, []).append(row.one)
        means.setdefault(row.second, []).append(row.other)
        known.add(frozenset((row.first, row.second)))
        if row.holm < ALPHA:
            apart.add(frozenset((row.first, row.second)))
    ranked = sorted((name for name in names if name in means), key=lambda name: -_mean(means[name]))
    found: list[list[str]] = []
    for name in ranked:
        own = [other for other in ranked if other == name or not _told(name, other, apart, known)]
        clique = [one for one in own if not any(_told(one, other, apart, known) for other in own if other != one)]
        if not any(set(clique) <= set(group) for group in found):
            found.append(clique)
    return found


def _told(one: str, other: str, apart: set[frozenset[str]], known: set[frozenset[str]]) -> bool:
    pair = frozenset((one, other))
    return pair in apart or pair not in known


def _left_out(test: str, first: Side, second: Side, ones: int, others: int, both: int) -> list[str]:
    alone = {first.name: ones - both, second.name: others - both}
    said = " and ".join(f"{count:,} of {name}'s" for name, count in alone.items() if count)
    return [f"{test}: {both:,} items are compared; {said} the other was not asked"] if said else []


def _why(test: str, first: Side, second: Side) -> str:
    """In what two sides differ that have a test in common, and no item of it."""
    asked = []
    for side in (first, second):
        found = (_parts(result) for result in side.results if result.task == test)
        asked.append({name: {part[name] for part in parts} for parts in [list(found)] for name in parts[0]})
    differ = [
        f"{name} {_some(asked[0][name])} and {_some(asked[1][name])}"
        for name in asked[0]
        if name in asked[1] and not asked[0][name] & asked[1][name]
    ]
    return (
        f"{test}: {first.name} and {second.name} were asked no item in common ({'; '.join(differ) or 'other worlds'})"
    )


def _some(values: Iterable[str]) -> str:
    ordered = sorted(values, key=natural)
    return ", ".join(ordered[:3]) + (" …" if len(ordered) > 3 else "")


def _parts(result: Result) -> dict[str, str]:
    try:
        recipe = Recipe.parse(result.id)
    except UsageError:  # a log of another program
        return {"ids": result.id}
    return {
        "version": str(recipe.version),
        "parameters": recipe.params or "the default",
        "split": recipe.split,
        "seed": str(recipe.seed),
        "length": str(recipe.length),
        "style": recipe.style,
        "prompts": recipe.pack or "its own",
        "tokenizer": recipe.tokenizer,
    }


def _question(id: str) -> str:
    try:
        recipe = Recipe.parse(id)
    except UsageError:
        return id
    return f"{recipe.question}/{recipe.style}/{recipe.pack}"


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
