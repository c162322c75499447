"""Effective length: the number of tokens up to which a score holds, and whether a model has one on a task at all.

Each model has one status on each task:

| status | meaning |
|--|--|
| usable | the base score is high enough; there is an effective length with its interval |
| not usable | the base score is too low: no length of context can be used |
| too few items | the interval of the base score reaches to both sides of what is required, or it has under 5 items |
| one length | the base score is high enough, but no second length was run |
| no score | nothing was measured |

The base score is the mean at the shortest length that was run. It has to exceed, with the lower end of its 95 %
interval, an absolute minimum (`MIN_BASE_SCORE`), the chance level, and the best declared shortcut of the task.

An effective length follows the rule of NoLiMa: the score keeps 85 % of the base score. RULER's rule is an absolute
score, 0.856. A single mean that lies below the rule by chance decides nothing: the length is the median of the
posterior of curve.py, over curves that fall around a place or decline from one on. Its interval is that of
`fall_interval`, which assumes of the curve only that it never rises. The interval of the posterior would exclude
curves that are neither, such as one that falls to a plateau just below the rule. A bootstrap over items gives no
interval where all scores are equal.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Literal

from carrara.results.baselines import ShortcutFinding
from carrara.results.intervals import Z, wilson
from carrara.results.result import MIN_BASE_SCORE, check_base_score
from carrara.results.rows import Row
from carrara.results.scores import Stat
from carrara.results.series import Series
from carrara.util.quantities import about_length, write_length

Points = Sequence[tuple[int, float, float]]
"""Length, mean, and the equivalent number of independent scores, the shortest length first."""

CRITICAL = (
    1.960, 2.178, 2.289, 2.361, 2.413, 2.453, 2.485, 2.512, 2.535, 2.555,
    2.572, 2.588, 2.602, 2.614, 2.626, 2.637, 2.647, 2.656, 2.664, 2.672,
)  # fmt: skip
"""Pocock's constants: the largest of n standardized means, over one to n equal groups, exceeds the n-th with a
probability of 2.5 %."""


def fall_interval(points: Points, share: float) -> tuple[float, float]:
    """Return a 95 % interval for the length at which a score falls below a share of its base score, by inverted tests.

    It assumes only that the score never rises with length. Two rows of tests, each at 2.5 %, give its ends:

    1. From the shortest length on: "here the score is below the share". The lower end is the last length before the
       first one at which this is not rejected. A score that is below the share at a length is below it at all longer
       ones, so the test uses the means over this length and any number of the next ones.
    2. From the longest length on, backwards: "here the score still has the share". The upper end is the last length at
       which this is rejected. The test uses the means over this length and any number of the ones before.

    The first wrong rejection of a row decides whether its end is wrong, so no correction for the number of lengths is
    needed. A test takes the largest statistic of its means, with Pocock's constants for the number of means. Each
    statistic is the score test for the ratio of two proportions (Miettinen and Nurminen, 1985): the base score is
    uncertain, too. Both ends are lengths that were run, because nothing is known of the score between them.

    Scores at different lengths are taken to be independent. Instances are shared by all lengths, which makes the
    interval wider than necessary, because an instance that is hard at one length is hard at others.

    The lower end is the first length if no longer one is known to have the share. The upper end is just below a length;
    it is infinite if no length is known to lack the share. Both are infinite if the longest is known to have it.

    >>> fall_interval([(0, 1.0, 40), (4096, 1.0, 40), (8192, 0.0, 40)], 0.85)
    (4096.0, 8191.999999999999)
    >>> fall_interval([(0, 0.95, 20), (4096, 0.75, 20), (8192, 0.8, 20)], 0.85)  # nothing is clear
    (0.0, inf)
    """
    (first, mean, n_effective), *longer = points
    base = mean * n_effective, n_effective
    low, high = float(first), math.inf
    for n, (length, _, _) in enumerate(longer):
        if not _exceeds(longer[n:], base, share, 1):
            break
        low = math.inf if n == len(longer) - 1 else float(length)
    for n in range(len(longer) - 1, -1, -1):
        if not _exceeds(longer[n::-1], base, share, -1):
            break
        high = math.nextafter(longer[n][0], 0.0)
    return min(low, high), high


def _exceeds(points: Points, base: tuple[float, float], share: float, sign: int) -> bool:
    """Return whether a mean over the first of these points is clearly above the threshold, or below it (sign -1)."""
    pooled = points[: len(CRITICAL)]
    totals = accumulate(mean * n_effective for _, mean, n_effective in pooled)
    sizes = accumulate(n_effective for _, _, n_effective in pooled)
    statistics = [sign * ratio_z(total, n, *base, share) for total, n in zip(totals, sizes, strict=True)]
    return max(statistics) > CRITICAL[len(pooled) - 1]


def ratio_z(total: float, n: float, base_total: float, base_n: float, ratio: float) -> float:
    """Return the score statistic of a mean against `ratio` times a base mean.

    The variance is that of the two proportions that are likeliest among those with this ratio.

    >>> round(ratio_z(90, 100, 50, 50, 0.85), 2), ratio_z(17, 20, 20, 20, 0.85)
    (1.4, 0.0)
    """
    # The likeliest base proportion solves a quadratic equation.
    square = (n + base_n) * ratio
    linear = n * ratio + total + base_n + base_total * ratio
    root = math.sqrt(max(0.0, linear * linear - 4 * square * (total + base_total)))
    base = min(1.0, (linear - root) / (2 * square))
    mean = ratio * base
    variance = mean * (1 - mean) / n + ratio**2 * base * (1 - base) / base_n
    difference = total / n - ratio * base_total / base_n
    if abs(difference) < 1e-12:
        return 0.0
    return difference / math.sqrt(variance) if variance > 1e-12 else math.copysign(math.inf, difference)


Usability = Literal["usable", "not usable", "too few items", "one length", "no score"]

SOLVED = 0.99
"""A declared shortcut with this score does exactly what the task asks for, such as finding a string. No score can
exceed it, so a base score is not compared with it."""
MANY = 10_000
"""The largest number of items that is suggested."""
FEWEST = 5
"""The least number of independent scores that decide. Below it, intervals exclude the truth more often than they say:
both of two replies are wrong in 9 % of cases at a true score of 0.7."""
SHARE = 0.85
RULE = "the length up to which the score is at least 85 % of the base score, with a 95 % interval"
EARLY = 10.0
"""How much likelier a score declines from the shortest length on than from a later place. Runs often have no length in
between."""
SURE = 0.01
"""The probability below which scores do not fall as a curve does."""


@dataclass(frozen=True)
class Requirements:
    """The score that a base score has to exceed."""

    min_base_score: float = MIN_BASE_SCORE
    shortcuts: Mapping[str, float] = field(default_factory=dict[str, float])
    """The score of the best declared shortcut, by task."""

    def __post_init__(self) -> None:
        check_base_score(self.min_base_score)

    @staticmethod
    def of(findings: Iterable[ShortcutFinding], min_base_score: float = MIN_BASE_SCORE) -> "Requirements":
        """Return the requirements for tasks from the audit's findings."""
        shortcuts = {finding.task: finding.declared_score for finding in findings if finding.declared_score is not None}
        return Requirements(min_base_score, shortcuts)

    def shortcut(self, task: str) -> float | None:
        """Return the score of the best declared shortcut.

        One of several questions (`sync/graph:path`) has that of its task.
        """
        return self.shortcuts.get(task.partition(":")[0])


@dataclass(frozen=True)
class BaseScore:
    """The score at the shortest length that was run, and the score that it has to exceed."""

    length: int
    mean: float
    n: int
    n_effective: float
    """The number of independent scores with the same precision."""
    chance_level: float
    shortcut: float | None
    """The score of the best declared shortcut."""
    min_score: float

    @staticmethod
    def of(length: int, stat: Stat, task: str, requirements: Requirements) -> "BaseScore":
        shortcut = requirements.shortcut(task)
        minimum = requirements.min_base_score
        return BaseScore(length, stat.mean, stat.n, stat.n_effective, stat.chance_level, shortcut, minimum)

    @property
    def required(self) -> float:
        """The highest of the minimum, the chance level and the best declared shortcut."""
        return max(self.min_score, self.heuristic)

    @property
    def heuristic(self) -> float:
        """The highest score that is known to need no understanding: the chance level, or the best declared shortcut."""
        return max(self.chance_level, self.shortcut if self.shortcut is not None and self.shortcut < SOLVED else 0.0)

    @property
    def usability(self) -> Usability:
        if min(self.n, self.n_effective) < FEWEST - 1e-9:
            return "too few items"
        low, high = wilson(self.mean, self.n_effective)
        if low > self.required:
            return "usable"
        return "not usable" if high <= self.required else "too few items"

    @property
    def items_needed(self) -> int | None:
        """The items at each length that would decide, if they score like those so far. None: more than `MANY`.

        Wilson's interval excludes a value exactly where the score test rejects it, which gives the number directly.
        """
        required, gap = self.required, abs(self.mean - self.required)
        if gap < 1e-9:
            return None
        independent, share = Z * Z * required * (1 - required) / gap**2, self.n / self.n_effective
        fewest = math.ceil(FEWEST * max(1, share) - 1e-9)
        items = max(self.n + 1, fewest, math.floor(independent * share) + 1)
        return items if items <= MANY else None

    @property
    def correct(self) -> str:
        """
        >>> BaseScore(0, 0.4, 10, 10, 0.167, None, 0.7).correct
        '40 % correct without filler'
        """
        return f"{_percent(self.mean)} correct {self.place}"

    @property
    def place(self) -> str:
        return f"at {write_length(self.length)}, the shortest length that was run" if self.length else "without filler"

    @property
    def reason(self) -> str:
        """Why there is no effective length. Empty if the base score is high enough."""
        match self.usability:
            case "not usable":
                return self.correct + self._compared
            case "too few items":
                items = self.items_needed
                needed = f"{f'about {items:,}' if items else f'more than {MANY:,}'} items instead of {self.n:,}"
                return f"{_percent(self.mean)} of {self.n:,} correct {self.place}; {needed} would do"
            case _:
                return ""

    @property
    def _compared(self) -> str:
        """The value that the score does not exceed, if it is higher than the minimum."""
        if self.required <= self.min_score:
            return ""
        if self.required == self.chance_level:
            return f", no better than the chance level ({_percent(self.chance_level)})"
        return f", no better than a shortcut ({_percent(self.required)})"


@dataclass(frozen=True)
class LengthEstimate:
    """An estimated length. An infinite length is past the longest one that was run."""

    low: float
    length: float
    high: float
    lengths: tuple[int, ...]
    """The lengths that were run."""
    fits: bool
    """Whether the scores fall as a curve does."""

    @property
    def open(self) -> bool:
        """Whether the length is past the longest one that was run."""
        return math.isinf(self.length)

    @property
    def share(self) -> float:
        """The lower end as a share of the doublings from the shortest length to the longest."""
        if math.isinf(self.low):
            return 1.0
        ends = [math.log2(max(256.0, length)) for length in (self.lengths[0], self.low, self.lengths[-1])]
        return min(1.0, max(0.0, (ends[1] - ends[0]) / (ends[2] - ends[0]))) if ends[2] > ends[0] else 0.0

    @property
    def rank(self) -> float:
        """The number to sort by: an open length lies past the longest."""
        return 2.0 * self.lengths[-1] if self.open else self.length

    @property
    def interval(self) -> str:
        """The interval as text. Empty if both ends are written like the length itself."""
        most = self._write(self.high)
        return "" if self.least == most == str(self) else f"{self.least} – {most}"

    @property
    def least(self) -> str:
        return self._write(self.low)

    def __str__(self) -> str:
        return self._write(self.length)

    def _write(self, length: float) -> str:
        if math.isinf(length):
            return f"≥ {write_length(self.lengths[-1])}"
        following = next(longer for longer in self.lengths if longer > self.lengths[0])
        if self.lengths[0] == 0 and length < following:  # a prompt without filler has no length to compare with
            return f"< {write_length(following)}"
        return about_length(length)


@dataclass(frozen=True)
class EffectiveLength:
    """The effective length of one model on one task, or on the mean of several."""

    series: Series
    task: str
    usability: Usability
    base: BaseScore | None
    """The base score. None if there is no score."""
    estimate: LengthEstimate | None = None
    """The estimate. None unless the status is usable."""
    reason: str = ""
    """Why there is no effective length."""
    note: str = ""
    """A remark on the estimate."""

    @property
    def interval(self) -> str:
        return self.estimate.interval if self.estimate else ""

    @property
    def details(self) -> str:
        """The text beside the status: the interval, or the reason. It is never empty."""
        ends = f"{self} at both ends" if self.estimate else ""
        return "; ".join(filter(None, [self.interval or self.reason or ends, self.note]))

    @property
    def sentence(self) -> str:
        """The status with its details: `1.2k (1k – 1.6k)`, `not usable: 40 % correct without filler`."""
        if self.estimate:
            details = "; ".join(filter(None, [self.interval, self.note]))
            return f"{self} ({details})" if details else str(self)
        return f"{self}: {self.reason}" if self.reason else str(self)

    def __str__(self) -> str:
        if self.estimate:
            return str(self.estimate)
        return describe(self.usability)

    def record(self) -> dict[str, Any]:
        """Return the estimate for JSON.

        JSON has no infinity: a length past the longest is null, and `open` is true.
        """
        fields: dict[str, Any] = {"status": self.usability, "reason": self.reason, "note": self.note}
        if self.base:
            fields |= {
                "base_length": self.base.length,
                "base_score": self.base.mean,
                "required": self.base.required,
                "items_needed": self.base.items_needed if self.usability == "too few items" else None,
            }
        if estimate := self.estimate:
            ends = {name: None if math.isinf(end := getattr(estimate, name)) else round(end) for name in ENDS}
            fields |= {**ends, "longest": estimate.lengths[-1], "open": estimate.open, "fits": estimate.fits}
        return fields


ENDS = ("low", "length", "high")


def describe(usability: Usability) -> str:
    """Return the text in place of a length."""
    return "too few items to say" if usability == "too few items" else usability


def counts(stat: Stat) -> bool:
    """Return whether replies count at a length.

    A prompt that did not fit counts 0. A failed request does not count, nor a prompt that the server cut.
    """
    return stat.scored or stat.statuses.keys() == {"overflow"}


def effective_lengths(rows: Iterable[Row], requirements: Requirements | None = None) -> list[EffectiveLength]:
    """Return one effective length for each series and task of a summary.

    Args:
        rows: The rows of `summarize`, without labels.
        requirements: What base scores have to exceed; by default the minimum of 0.7 and the chance level alone.
    """
    groups: dict[tuple[str, Series], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.task, row.series), []).append(row)
    return [
        _effective_length(task, series, sorted(task_rows, key=lambda row: row.length), requirements or Requirements())
        for (task, series), task_rows in groups.items()
    ]


def _effective_length(task: str, series: Series, rows: list[Row], requirements: Requirements) -> EffectiveLength:
    counted_rows = [row for row in rows if counts(row.stat)]
    if not any(row.stat.scored for row in counted_rows):
        return EffectiveLength(series, task, "no score", None, reason=rows[0].stat.unscored)
    base = BaseScore.of(counted_rows[0].length, counted_rows[0].stat, task, requirements)
    points = [(row.length, row.stat.mean, row.stat.n_effective) for row in counted_rows]
    return judge(series, task, base, points, "; ".join(_unfit_notes(rows)))


def _unfit_notes(rows: Sequence[Row]) -> Iterator[str]:
    """Yield which lengths have no score because their prompts did not reach the model whole."""
    unscored = [row for row in rows if not row.stat.scored]
    overflowing = [write_length(row.length) for row in unscored if counts(row.stat)]
    if overflowing:
        yield f"{', '.join(overflowing)} did not fit and {'counts' if len(overflowing) == 1 else 'count'} 0"
    cut = [write_length(row.length) for row in unscored if "shortened" in row.stat.statuses]
    if cut:
        yield f"the server cut {', '.join(cut)}, so {'it is' if len(cut) == 1 else 'they are'} not measured"


def judge(
    series: Series, task: str, base: BaseScore, points: Sequence[tuple[int, float, float]], note: str = ""
) -> EffectiveLength:
    """Return the effective length by the base score and the means at all lengths.

    Args:
        task: Empty for the mean of several tasks.
        points: Length, mean, and the equivalent number of independent scores, the shortest length first.
    """
    if base.usability != "usable":
        return EffectiveLength(series, task, base.usability, base, reason=base.reason)
    if len(points) == 1:
        reason = f"{_percent(base.mean)} correct at {write_length(base.length)}, the only length that was run"
        return EffectiveLength(series, task, "one length", base, reason=reason)
    estimate = estimate_length(points, base.chance_level)
    if estimate is None:
        return EffectiveLength(series, task, "not usable", base, reason=near_chance(base))
    misfit = "" if estimate.fits else "its scores do not fall as a curve does: look at each length"
    return EffectiveLength(series, task, "usable", base, estimate, note="; ".join(filter(None, [misfit, note])))


def near_chance(base: BaseScore) -> str:
    """Return why a high enough base score has no effective length: guessing reaches 85 % of it."""
    return f"{base.correct}, and what has to be kept of it is near the chance level ({_percent(base.chance_level)})"


def estimate_length(points: Sequence[tuple[int, float, float]], chance_level: float) -> LengthEstimate | None:
    """Estimate the length up to which the score keeps 85 % of the first mean. None if that is near the chance level.

    >>> print(estimate_length([(0, 1.0, 40), (4096, 1.0, 40), (8192, 0.0, 40)], 0.0))
    5.5k
    """
    from carrara.results.curve import Curve, Rule

    lengths, rule = tuple(length for length, _, _ in points), Rule("base", SHARE)
    curve = Curve(chance_level, lengths[-1], lengths[0], EARLY)
    for length, mean, n_effective in points:
        curve.add(length, mean * n_effective, n_effective)
    if SHARE * points[0][1] <= chance_level or curve.blind(rule) > 0.5:
        return None
    low, high = fall_interval(points, SHARE)
    _, median, _ = curve.effective(rule)
    return LengthEstimate(low, min(max(low, median), high), high, lengths, curve.misfit() >= SURE)


def _percent(share: float) -> str:
    """
    >>> _percent(0.4), _percent(0.999), _percent(0.004), _percent(1.0)
    ('40 %', '99.9 %', '0.4 %', '100 %')
    """
    rounded = f"{100 * share:.0f}"
    return f"{100 * share:.1f} %" if rounded in ("0", "100") and share not in (0.0, 1.0) else f"{rounded} %"
