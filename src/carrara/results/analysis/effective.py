"""Effective length: how much context a model can use, in one number with its interval, and the rule that makes it.

Rules differ from paper to paper: RULER's is to stay above 0.856, what Llama 2 7B scores at 4k; NoLiMa's is to keep 85 %
of the model's own base score. This is NoLiMa's, its base the mean at the shortest length that was run. Whether a mean
lies above that by chance decides nothing: what is known of the length is the posterior of `profiling/curve.py`, of
curves that fall around a place or decline from one on. A bootstrap over worlds would give no interval at all where all
are right, or all wrong, and an isotonic fit steps only where a length was run. A base score that guessing explains has
no such length: everything keeps 85 % of nothing.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from carrara.core.lengths import about_length, write_length
from carrara.results.analysis.series import Series
from carrara.results.analysis.summary import Row, Stat

SHARE = 0.85
INSIDE = 0.95
RULE = (
    "up to which length the score is at least 85 % of the model's own at the shortest, by the curve that it follows, "
    "with a 95 % interval"
)
EARLY = 10.0
"""How much likelier a score sinks from the shortest length on than from a place behind it: whoever chose the lengths
often has none in between, where a profile would have looked. Intervals hold slow declines by it (simulated).
"""
SURE = 0.01
"""A chance below which scores do not fall as a curve does."""


@dataclass(frozen=True)
class Reach:
    """An effective length. Infinite is past the longest length that was run."""

    low: float
    length: float
    high: float
    lengths: tuple[int, ...]
    """That were run."""
    fits: bool
    """Whether the scores fall as a curve does."""

    @property
    def open(self) -> bool:
        """The true one may be any that is longer."""
        return math.isinf(self.length)

    @property
    def share(self) -> float:
        """Of the doublings from the shortest length to the longest, what is sure: up to the lower end."""
        if math.isinf(self.low):
            return 1.0
        ends = [math.log2(max(256.0, one)) for one in (self.lengths[0], self.low, self.lengths[-1])]
        return min(1.0, max(0.0, (ends[1] - ends[0]) / (ends[2] - ends[0]))) if ends[2] > ends[0] else 0.0

    @property
    def rank(self) -> float:
        """What it is sorted by: an open one lies past the longest."""
        return 2.0 * self.lengths[-1] if self.open else self.length

    @property
    def interval(self) -> str:
        """Nothing where both ends are said as the length itself is."""
        most = self._said(self.high)
        return "" if self.least == most == str(self) else f"{self.least} – {most}"

    @property
    def least(self) -> str:
        return self._said(self.low)

    def __str__(self) -> str:
        return self._said(self.length)

    def _said(self, length: float) -> str:
        if math.isinf(length):
            return f"≥ {write_length(self.lengths[-1])}"
        following = next(one for one in self.lengths if one > self.lengths[0])
        if self.lengths[0] == 0 and length < following:  # a prompt without filler has no length to be compared with
            return f"< {write_length(following)}"
        return about_length(length)


@dataclass(frozen=True)
class Effective:
    series: Series
    task: str
    base: Row
    """The row of the shortest length."""
    reach: Reach | None
    """None: not defined, and `note` says why."""
    note: str = ""

    @property
    def brief(self) -> str:
        """The note where there is little room."""
        if self.reach is None and self.note:
            return f"{self.base.stat.mean:.2f} at {write_length(self.base.length)}, floor {self.base.stat.floor:.2f}"
        return "" if self.reach is None or self.reach.fits else "no such curve: look at each length"

    def __str__(self) -> str:
        return "not defined" if self.reach is None else str(self.reach)


def counts(one: Stat) -> bool:
    """What was scored; and what did not fit, which counts 0. What failed says nothing."""
    return one.scored or one.statuses.keys() == {"overflow"}


def effective_lengths(rows: Iterable[Row]) -> list[Effective]:
    """One for each series and test of a summary."""
    groups: dict[tuple[str, Series], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.task, row.series), []).append(row)
    return [_effective(task, series, sorted(own, key=lambda row: row.length)) for (task, series), own in groups.items()]


def _effective(task: str, series: Series, rows: list[Row]) -> Effective:
    known = [row for row in rows if counts(row.stat)]
    if not any(row.stat.scored for row in known):
        return Effective(series, task, rows[0], None, "there is no score")
    base = known[0]
    if len(known) == 1:
        return Effective(series, task, base, None, "only one length was run")
    points = [(row.length, row.stat.mean, row.stat.n_effective) for row in known]
    reach = None if base.stat.guessing else reached(points, base.stat.floor)
    if reach is None:
        note = f"at {write_length(base.length)} it scores {base.stat.mean:.2f}, near the floor of {base.stat.floor:.2f}"
        return Effective(series, task, base, None, note)
    notes = [] if reach.fits else ["its scores do not fall as a curve does: look at each length"]
    if over := [row.length for row in known if not row.stat.scored]:
        notes.append(f"{', '.join(map(write_length, over))} did not fit and counts 0")
    return Effective(series, task, base, reach, "; ".join(notes))


def reached(points: Sequence[tuple[int, float, float]], floor: float) -> Reach | None:
    """Of means at lengths, the shortest first, each with the independent scores that it is worth.

    None where what would have to be kept is near the floor.

    >>> print(reached([(0, 1.0, 40), (4096, 1.0, 40), (8192, 0.0, 40)], 0.0))
    5.5k
    """
    from carrara.profiling.curve import Curve, Rule

    lengths, rule = tuple(length for length, _, _ in points), Rule("base", SHARE)
    curve = Curve(floor, lengths[-1], lengths[0], EARLY)
    for length, mean, worth in points:
        curve.add(length, mean * worth, worth)
    if SHARE * points[0][1] <= floor or curve.blind(rule) > 0.5:
        return None
    return Reach(*curve.effective(rule, INSIDE), lengths, curve.misfit() >= SURE)
