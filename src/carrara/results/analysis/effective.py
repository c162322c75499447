"""Effective length: how much context a model can use, in one number, with the rule that makes it.

Rules differ from paper to paper: RULER's is to stay above 0.856, what Llama 2 7B scores at 4k; NoLiMa's is to keep 85 %
of the model's own base score. This is NoLiMa's: the longest length at which the mean is at least 85 % of the model's
own mean at the shortest length that it was run at. A base score that guessing explains has no such length: everything
keeps 85 % of nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from carrara.core.lengths import write_length
from carrara.results.analysis.series import Series
from carrara.results.analysis.summary import Row

SHARE = 0.85
RULE = "the longest length at which the mean score is at least 85 % of the model's own at the shortest length"


@dataclass(frozen=True)
class Effective:
    series: Series
    task: str
    base: Row
    """The row of the shortest length."""
    length: int | None
    """None: not defined, and `note` says why."""
    open: bool = False
    """It is the longest length that was run: the true one may be longer."""
    note: str = ""

    @property
    def threshold(self) -> float:
        return SHARE * self.base.stat.mean

    def __str__(self) -> str:
        if self.length is None:
            return "not defined"
        return f"≥ {write_length(self.length)}" if self.open else write_length(self.length)


def effective_lengths(rows: Iterable[Row]) -> list[Effective]:
    """One for each series and test of a summary."""
    groups: dict[tuple[str, Series], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.task, row.series), []).append(row)
    return [_effective(task, series, sorted(own, key=lambda row: row.length)) for (task, series), own in groups.items()]


def _effective(task: str, series: Series, rows: list[Row]) -> Effective:
    known = [row for row in rows if row.stat.scored]
    if not known:
        return Effective(series, task, rows[0], None, note="there is no score")
    base, last = known[0], known[-1]
    if len(known) == 1:
        return Effective(series, task, base, None, note="only one length was run")
    threshold = SHARE * base.stat.mean
    if base.stat.guessing or threshold <= base.stat.floor:
        note = f"at {write_length(base.length)} it scores {base.stat.mean:.2f}, near the floor of {base.stat.floor:.2f}"
        return Effective(series, task, base, None, note=note)
    held, below = kept([(row.length, row.stat.mean) for row in known])
    note = f"though below that at {', '.join(map(write_length, below))}" if below else ""
    return Effective(series, task, base, held, held == last.length, note)


def kept(curve: Sequence[tuple[int, float]]) -> tuple[int, list[int]]:
    """The longest length at which a score is at least that share of the first, and the shorter ones at which it is not.

    >>> kept([(0, 1.0), (4096, 0.8), (8192, 0.9), (16384, 0.1)])
    (8192, [4096])
    """
    threshold = SHARE * curve[0][1]
    held = [length for length, mean in curve if mean >= threshold - 1e-9]
    return held[-1], [length for length, mean in curve if mean < threshold - 1e-9 and length < held[-1]]
