"""A model of how a score falls with length: a posterior over a grid of curves, which each batch of scores updates.

A model solves a share of instances without filler, its top score. With length, the score falls to the chance level in
one of two ways: around a place, within a number of doublings (few doublings are a cliff); or from a place on, by the
same share with each doubling. The curves use the logarithm of the length, because the factor by which a context grew
matters. A prompt without filler counts as `SHORTEST` tokens.

>>> curve = Curve(chance_level=0.0, longest=1 << 17)
>>> for length, right in ((0, 30), (4096, 29), (16384, 28), (32768, 15), (65536, 2)):
...     curve.add(length, right, 30)
>>> low, middle, high = curve.effective(Rule("base", 0.85))
>>> 12_000 < low < middle < high < 40_000
True
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from carrara.util.errors import UsageError

Numbers = NDArray[np.float64]

SHORTEST = 256.0
"""Tokens that a prompt without filler counts as."""
TOPS = 50
STEP = 0.125
"""The distance between two neighbouring places on the grid, in doublings."""
WIDTHS = (0.02, 0.1, 0.2, 0.35, 0.6, 1.0, 1.7)
"""The doublings that the middle half of a fall takes. The whole fall takes twice as many."""
SHARES = tuple(0.02 * 1.2**n for n in range(18))
"""The share of its lead over the chance level that a score loses with each doubling. The shares lie close together;
with wider gaps a steady decline would be taken for a fall."""
BEYOND = 8.0
"""Doublings past the longest length at which a fall may stand. Results do not show such a fall."""
BEFORE = 3.0
"""Doublings before the shortest length at which a decline may have begun, so that a decline can have any steepness."""
INSIDE = 0.955
"""The posterior probability of an interval that is meant to hold the true length in nine of ten cases. It is above 0.9
because a profile stops as soon as the interval is narrow, which selects intervals that are narrow by chance."""
BLIND = 0.05
"""The least distance of a threshold from the chance level. A lower threshold can be reached by guessing."""
TINY = 1e-6
FAR = 20.0
"""The difference in log likelihood from the best curve at which other curves are left out."""


@dataclass(frozen=True)
class Rule:
    """The score that counts as reached."""

    name: Literal["base", "above", "half"]
    """`base`: a share of the score without filler (NoLiMa's rule). `above`: a score (BABILong's). `half`: the middle
    between the score without filler and the chance level."""
    level: float = 0.0

    @staticmethod
    def parse(text: str) -> "Rule":
        """
        >>> Rule.parse("base:0.85"), Rule.parse("half")
        (Rule(name='base', level=0.85), Rule(name='half', level=0.0))
        """
        name, colon, level = text.partition(":")
        try:
            number = float(level) if colon else 0.0
        except ValueError:
            number = 0.0
        if name == "half" and not colon:
            return Rule("half")
        if name in ("base", "above") and 0 < number < 1:
            return Rule(name, number)  # type: ignore[arg-type]
        raise UsageError(f"{text!r} is no rule: give base:0.85, above:0.85 or half")

    def threshold(self, base: Numbers, chance_level: float) -> Numbers:
        match self.name:
            case "base":
                return self.level * base
            case "above":
                return np.full_like(base, self.level)
            case "half":
                return chance_level + (base - chance_level) / 2

    def __str__(self) -> str:
        return self.name if self.name == "half" else f"{self.name}:{self.level:g}"


def doublings(length: float) -> float:
    """
    >>> doublings(0), doublings(1024)
    (8.0, 10.0)
    """
    return math.log2(max(SHORTEST, length))


class Curve:
    """The posterior over curves of one score against length."""

    def __init__(self, chance_level: float, longest: int, shortest: int = 0, early: float = 1.0) -> None:
        """`shortest` is the length whose score is the base of rules: without filler, or the shortest length.

        `early` is how much likelier a decline from there on is than a decline from a later place.
        """
        self.chance_level, self.longest, self._first = min(max(chance_level, 0.0), 0.95), longest, doublings(shortest)
        self.counts: dict[int, tuple[float, float]] = {}
        """The sum and the number of scores at each length."""
        tops = self.chance_level + (1 - self.chance_level) * (np.arange(TOPS) + 0.5) / TOPS
        first, last = self._first, doublings(longest)
        falls = np.meshgrid(tops, np.arange(first - 2, last + BEYOND, STEP), np.array(WIDTHS), indexing="ij")
        declines = np.meshgrid(tops, np.arange(first - BEFORE, last + 1, STEP), np.array(SHARES), indexing="ij")
        self._falls = falls[0].size
        """The number of the grid's curves that are falls. The others are declines."""
        self._top, self._place, self._pace = (
            np.concatenate([fall.ravel(), decline.ravel()]) for fall, decline in zip(falls, declines, strict=True)
        )
        self._log = -np.log(np.where(np.arange(self._top.size) < self._falls, falls[0].size, declines[0].size))
        self._log[self._falls :] += np.log(early) * (self._place[self._falls :] <= first)
        self._scores: dict[float, Numbers] = {}
        self._logs: dict[int, tuple[Numbers, Numbers]] = {}
        """The log probabilities of a right and of a wrong answer at a length."""
        self._ends: dict[Rule, Numbers] = {}
        self._orders: dict[Rule, NDArray[np.intp]] = {}
        self._likely: tuple[NDArray[np.intp], Numbers] | None = None
        self._intervals: dict[Rule, tuple[float, float, float]] = {}

    def score(self, length: float) -> Numbers:
        """Return the probability of a right answer at a length, for every curve of the grid."""
        if length not in self._scores:
            self._scores[length] = self._shape(doublings(length))
        return self._scores[length]

    def _shape(self, at: float) -> Numbers:
        n = self._falls
        past = at - self._place
        fall = 1 / (1 + np.exp(np.clip(past[:n] / self._pace[:n], -60, 60)))
        decline = np.clip(1 - self._pace[n:] * np.maximum(0, past[n:]), 0, 1)
        return np.asarray(self.chance_level + (self._top - self.chance_level) * np.concatenate([fall, decline]))

    def add(self, length: int, total: float, n: float) -> None:
        """Add the scores of instances.

        A score between 0 and 1 counts as a share of a right answer.
        """
        before = self.counts.get(length, (0.0, 0))
        self.counts[length] = before[0] + total, before[1] + n
        if length not in self._logs:
            p = np.clip(self.score(length), TINY, 1 - TINY)
            self._logs[length] = np.log(p), np.log1p(-p)
        right, wrong = self._logs[length]
        self._log = self._log + total * right + (n - total) * wrong
        self._likely = None
        self._intervals.clear()

    @property
    def likely(self) -> tuple[NDArray[np.intp], Numbers]:
        """The curves that are still plausible, with their weights. They soon become few."""
        if self._likely is None:
            places = np.flatnonzero(self._log > self._log.max() - FAR)
            raised = np.exp(self._log[places] - self._log.max())
            self._likely = places, np.asarray(raised / raised.sum())
        return self._likely

    def mean(self, length: float) -> float:
        places, weights = self.likely
        return float(weights @ self.score(length)[places])

    def ends(self, rule: Rule) -> Numbers:
        """Return the doublings up to which each curve satisfies a rule.

        Minus infinity: not even without filler. Not a number: undefined, because the threshold is near the chance
        level.
        """
        if rule not in self._ends:
            self._ends[rule] = self._until(rule)
        return self._ends[rule]

    def _until(self, rule: Rule) -> Numbers:
        n, base = self._falls, self._shape(self._first)
        level = rule.threshold(base, self.chance_level)
        left = (level - self.chance_level) / (self._top - self.chance_level)
        with np.errstate(divide="ignore", invalid="ignore"):
            fall = self._place[:n] + self._pace[:n] * np.log(1 / left[:n] - 1)
            decline = self._place[n:] + (1 - left[n:]) / self._pace[n:]
        ends = np.where(left > 1, -np.inf, np.concatenate([fall, decline]))
        return np.asarray(np.where(level - self.chance_level < BLIND, np.nan, ends))

    def blind(self, rule: Rule) -> float:
        """Return the probability that no effective length is defined."""
        places, weights = self.likely
        return float(weights[np.isnan(self.ends(rule)[places])].sum())

    def effective(self, rule: Rule) -> tuple[float, float, float]:
        """Return the lower end, the median and the upper end of the effective length, if one is defined.

        0 means that the score is too low even without filler. A length past the longest is infinite.
        """
        if rule not in self._intervals:
            self._intervals[rule] = self._effective(rule)
        return self._intervals[rule]

    def _effective(self, rule: Rule) -> tuple[float, float, float]:
        ends, order = self.ends(rule), self._order(rule)
        places, weights = self.likely
        probabilities = np.zeros_like(ends)
        probabilities[places] = weights
        risen = np.cumsum(probabilities[order])
        if not len(order) or risen[-1] <= 0:
            return 0.0, 0.0, math.inf
        quantiles = np.searchsorted(risen, risen[-1] * np.array([(1 - INSIDE) / 2, 0.5, (1 + INSIDE) / 2]))
        low, middle, high = (self._length(float(ends[order[min(len(order) - 1, int(place))]])) for place in quantiles)
        return low, middle, high

    def _order(self, rule: Rule) -> NDArray[np.intp]:
        """Return the curves that have an end, ordered by it."""
        if rule not in self._orders:
            ends = self.ends(rule)
            self._orders[rule] = np.argsort(ends)[: np.count_nonzero(~np.isnan(ends))]
        return self._orders[rule]

    def _length(self, end: float) -> float:
        if end < self._first:
            return 0.0
        return math.inf if end > doublings(self.longest) else 2.0**end

    def gain(self, lengths: list[int], rule: Rule) -> list[float]:
        """Return the expected information about the effective length from one score at each length, in nats."""
        places, weights = self.likely
        ends = self.ends(rule)[places]
        first, last = self._first, doublings(self.longest)
        last_bin = math.ceil((last - first) / STEP) + 2
        bins = np.where(np.isnan(ends), last_bin + 1, np.clip(np.floor((ends - first) / STEP) + 1, 0, last_bin)).astype(
            int
        )
        mass = np.bincount(bins, weights)
        is_filled = mass > 1e-12
        gains = []
        for length in lengths:
            right = np.bincount(bins, weights * self.score(length)[places])
            total_entropy = _entropy(np.array([right.sum()]))[0]
            entropy_within = float((mass[is_filled] * _entropy(right[is_filled] / mass[is_filled])).sum())
            gains.append(max(0.0, float(total_entropy) - entropy_within))
        return gains

    def chance(self, length: int) -> float:
        """Return the probability of a score at least as far off as the observed one, to the same side."""
        return _tail(*self.counts[length], self.mean(length))

    def misfit(self) -> float:
        """Return how well the best curve fits the scores, as a probability: near 0 if it cannot be the curve.

        The test takes all scores together, and the score that fits worst. The worse result counts.
        """
        from scipy.special import chdtrc

        best = int(np.argmax(self._log))
        ps = {length: float(np.clip(self.score(length)[best], 0.02, 0.98)) for length in self.counts}
        statistic = sum(
            (total - n * ps[length]) ** 2 / (n * ps[length] * (1 - ps[length]))
            for length, (total, n) in self.counts.items()
        )
        if len(ps) <= 3:
            return 1.0
        single = min(_tail(total, n, ps[length]) for length, (total, n) in self.counts.items())
        return min(float(chdtrc(len(ps) - 3, statistic)), 2 * len(ps) * single)


def _tail(total: float, n: float, p: float) -> float:
    """Return the binomial probability of this value or a more extreme one, to the smaller side, for any share of n.

    >>> round(_tail(1, 4, 0.5), 4), _tail(4, 4, 1 - 1e-9) > 0.99
    (0.3125, True)
    """
    from scipy.special import betainc

    less = betainc(n - total, total + 1, 1 - p) if total < n else 1.0
    more = betainc(total, n - total + 1, p) if total > 0 else 1.0
    return float(min(less, more))


def _entropy(p: Numbers) -> Numbers:
    p = np.clip(p, TINY, 1 - TINY)
    return np.asarray(-(p * np.log(p) + (1 - p) * np.log1p(-p)))
