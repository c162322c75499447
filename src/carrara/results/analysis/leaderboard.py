"""Which model is best over all that was asked: a line for each, the best first.

A cell is one test, as it was posed, at one length. The score is the mean of the tests, each of which is the mean over
its lengths, so that no test counts more for having been run at more of them. A prompt that did not fit counts 0: what
a model cannot be asked it cannot do.

Means over other cells are other things. The cells that count are those of one of the models, chosen so that as many
replies as can be are compared: the number of cells times that of the models which have them all is the greatest. Who
lacks one of them is listed behind the others, without a place.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

from carrara.core.order import natural
from carrara.core.result import Result
from carrara.results.analysis.effective import Reach, counts, reached
from carrara.results.analysis.intervals import wilson
from carrara.results.analysis.measured import cells
from carrara.results.analysis.series import Series
from carrara.results.analysis.summary import Stat, stat

Test = tuple[str, str]
"""Its name, and how it was posed."""
Cell = tuple[Test, int]


@dataclass(frozen=True)
class Standing:
    """A line of the leaderboard."""

    series: Series
    place: int | None
    """None for who lacks a cell that counts."""
    cells: int
    of: int
    tests: int
    mean: float
    low: float
    high: float
    floor: float
    area: float | None
    """Under the score over the logarithm of the length, of its range: the mean over the tests. None without lengths."""
    area_low: float | None
    area_high: float | None
    effective: Reach | None
    """By the rule of effective.py, of the mean of the tests at the lengths that all have."""
    suites: Mapping[str, float]
    replies: int
    sent: int
    """Tokens of prompts, by the server's own count where it has one."""
    received: int | None
    """Tokens of replies, reasoning included, where all of them are known."""
    seconds: float | None
    """A reply takes, on average, where it is known."""

    @property
    def whole(self) -> bool:
        return self.cells == self.of


def leaderboard(results: Sequence[Result]) -> list[Standing]:
    found: dict[Series, dict[Cell, list[Result]]] = {}
    for (test, variant, length, model), own in cells(results).items():
        if counts(stat(own)):
            found.setdefault(model, {})[(test, variant), length] = own
    counting = _counting([frozenset(own) for own in found.values()])
    lengths: dict[Test, set[int]] = {}
    for posed, length in counting:
        lengths.setdefault(posed, set()).add(length)
    lines = [
        _standing(model, counted, lengths, len(counting))
        for model, own in found.items()
        if (counted := {cell: replies for cell, replies in own.items() if cell in counting})
    ]
    ordered = sorted(lines, key=lambda line: (not line.whole, -line.mean, natural(str(line.series))))
    return [_placed(line, number) for number, line in enumerate(ordered, 1)]


def _counting(had: Sequence[frozenset[Cell]]) -> frozenset[Cell]:
    """
    >>> a, b, c = [((("test", ""), length)) for length in (1, 2, 3)]
    >>> sorted(length for _, length in _counting([frozenset({a, b}), frozenset({a, b}), frozenset({a, c})]))
    [1, 2]
    """
    return max(
        dict.fromkeys(had),
        key=lambda one: (len(one) * sum(one <= other for other in had), len(one)),
        default=frozenset(),
    )


def _placed(line: Standing, number: int) -> Standing:
    return replace(line, place=number) if line.whole else line


def _standing(
    model: Series, own: Mapping[Cell, Sequence[Result]], lengths: Mapping[Test, set[int]], of: int
) -> Standing:
    curves: dict[Test, dict[int, Stat]] = {}
    for (test, length), replies in own.items():
        curves.setdefault(test, {})[length] = stat(replies)
    means = {test: fmean(one.mean for one in curve.values()) for test, curve in curves.items()}
    mean, tests = fmean(means.values()), len(curves)
    low, high = wilson(mean, _worth(list(curves.values())))
    areas = {
        test: area
        for test, curve in curves.items()
        if (area := _area({n: one.mean for n, one in curve.items()})) is not None
    }
    area = fmean(areas.values()) if areas else None
    area_low, area_high = (None, None) if area is None else wilson(area, _worth([curves[test] for test in areas]))
    suites: dict[str, list[float]] = {}
    for (name, _), score in means.items():
        suites.setdefault(name.partition("/")[0], []).append(score)
    everything = [reply for replies in own.values() for reply in replies]
    received = [reply.output_tokens for reply in everything]
    seconds = [reply.seconds for reply in everything if reply.seconds is not None]
    return Standing(
        series=model,
        place=None,
        cells=len(own),
        of=of,
        tests=tests,
        mean=mean,
        low=low,
        high=high,
        floor=fmean(fmean(one.floor for one in curve.values()) for curve in curves.values()),
        area=area,
        area_low=area_low,
        area_high=area_high,
        effective=_effective(curves, lengths),
        suites={suite: fmean(scores) for suite, scores in sorted(suites.items())},
        replies=len(everything),
        sent=sum(reply.tokens if reply.input_tokens is None else reply.input_tokens for reply in everything),
        received=None if None in received else sum(filter(None, received)),
        seconds=fmean(seconds) if seconds else None,
    )


def _worth(curves: Sequence[Mapping[int, Stat]]) -> float:
    """The independent scores that the mean of tests is worth, of each of which lengths have the same worlds."""
    return len(curves) ** 2 / math.fsum(fmean(1 / one.n_effective for one in curve.values()) for curve in curves)


def _area(curve: Mapping[int, float]) -> float | None:
    """
    >>> _area({0: 1.0, 1024: 1.0, 4096: 0.0}), _area({0: 1.0}), _area({4096: 0.3})
    (0.5, None, 0.3)
    """
    points = sorted((math.log2(length), mean) for length, mean in curve.items() if length)
    if len(points) < 2:
        return points[0][1] if points else None
    under = math.fsum((right - left) * (a + b) / 2 for (left, a), (right, b) in pairwise(points))
    return under / (points[-1][0] - points[0][0])


def _effective(curves: Mapping[Test, Mapping[int, Stat]], lengths: Mapping[Test, set[int]]) -> Reach | None:
    """None where there are no two lengths that all tests have, or where the base is near the floor."""
    tests = [test for test, several in lengths.items() if len(several) > 1]
    if not tests or not all(test in curves for test in tests):
        return None
    common = sorted(set.intersection(*(set(curves[test]) for test in tests)))
    if len(common) < 2:
        return None
    floor = fmean(curves[test][common[0]].floor for test in tests)
    points = [
        (
            length,
            fmean(curves[test][length].mean for test in tests),
            _worth([{0: curves[test][length]} for test in tests]),
        )
        for length in common
    ]
    return reached(points, floor)
