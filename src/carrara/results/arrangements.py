"""Penalties of distance: what a model loses if filler parts the needed facts.

`riffle` has the needed facts evenly apart, and `block` has no filler between them (items/arrangement.py). Both have
the same facts and the same number of tokens, so their scores are paired by instance. The interval is that of any paired
difference (differences.py), for each row by itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from carrara.results.differences import Difference, difference, instance_scores
from carrara.results.result import Result
from carrara.results.series import Series, as_drawn, series_of
from carrara.types import Arrange
from carrara.util.quantities import natural


@dataclass(frozen=True)
class ArrangementPenalty:
    """The scores of a model in both arrangements of a task at a length, over the instances that have both."""

    series: Series
    """The model, with its settings without the arrangement."""
    riffled: Series
    """The same model as tables name its results in the arrangement `riffle`."""
    task: str
    length: int
    block: float
    riffle: float
    difference: Difference
    """`riffle` minus `block`: negative if distance costs score."""

    def record(self) -> Mapping[str, float | int | None]:
        """Return the numbers for JSON."""
        change = self.difference
        return {
            "block": self.block,
            "riffle": self.riffle,
            "difference": change.mean,
            "low": change.low,
            "high": change.high,
            "instances": change.instances,
        }


def arrangement_penalties(results: Sequence[Result], among: Sequence[Result] | None = None) -> list[ArrangementPenalty]:
    """Return the penalty of each model, task and length that was run in both arrangements.

    Each series has another name than all other series of `among`, which the results may be a part of.
    """
    everything = results if among is None else among
    if not any(result.arrange for result in everything):
        return []
    riffled, series_for = series_of(everything), series_of([as_drawn(result) for result in everything])
    groups: dict[tuple[str, Series, int], dict[Arrange, list[Result]]] = {}
    for result in results:
        if result.arrange:
            key = (result.task, series_for(as_drawn(result)), result.length)
            groups.setdefault(key, {}).setdefault(result.arrange, []).append(result)
    penalties = []
    for (task, series, length), by_arrangement in sorted(
        groups.items(), key=lambda item: (natural(item[0][0]), *item[0][1:])
    ):
        block, riffle = by_arrangement.get("block", []), by_arrangement.get("riffle", [])
        if penalty := difference(block, riffle):
            pairs = instance_scores(block, riffle)
            means = fmean(first for first, _ in pairs), fmean(second for _, second in pairs)
            penalties.append(ArrangementPenalty(series, riffled(riffle[0]), task, length, *means, penalty))
    return penalties
