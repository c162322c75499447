"""Which needed facts survive rounds of compaction, by their age, and whether the compactions kept to their budget.

The age of a fact is the number of rounds since it was read: 1 after the first compaction that it went through. Survival
at an age is the share of facts that are kept, among all that reached this age. Its interval takes the facts of one
context as a cluster. The cliff is the first age at which fewer than half survive.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from carrara.answers.status import NEVER_ASKED
from carrara.results.intervals import effective_n, wilson
from carrara.results.result import ROUND_STATES, Result, RoundState, RoundTrace
from carrara.results.series import Series, series_of
from carrara.util.quantities import natural

HALF = 0.5


@dataclass(frozen=True)
class Survival:
    """What is left of the facts of one age."""

    age: int
    """The rounds that the facts have gone through."""
    facts: int
    contexts: int
    share: float
    """The share that is kept."""
    low: float
    high: float
    states: Mapping[RoundState, int]
    """The number of facts of each state."""


@dataclass(frozen=True)
class RoundRow:
    """The compactions of one series on one task."""

    series: Series
    task: str
    """The name of the task. Empty: all tasks."""
    length: int | None
    """The length. None: all of them."""
    items: int
    rounds: float
    """The mean number of compactions of an item."""
    share_left: float
    """The mean share of the tokens that a compaction left."""
    with_budget: int
    """The number of compactions that had a budget."""
    within_budget: int
    """The number of them that kept to it."""
    ages: tuple[Survival, ...]
    last: Mapping[RoundState, int]
    """The number of facts of each state after the last compaction of their items."""

    @property
    def cliff(self) -> int | None:
        """The first age at which fewer than half of the facts survive. None: there is none."""
        return next((survival.age for survival in self.ages if survival.share < HALF), None)

    @property
    def described_cliff(self) -> str:
        if not self.ages:
            return "no facts"
        return f"none in {len(self.ages)}" if self.cliff is None else f"round {self.cliff}"

    def record(self) -> dict[str, Any]:
        """Return the row for JSON."""
        names = ("items", "rounds", "share_left", "with_budget", "within_budget", "last")
        figures = {name: getattr(self, name) for name in names}
        return {**figures, "cliff": self.cliff, "survival": [asdict(survival) for survival in self.ages]}


def round_rows(
    results: Sequence[Result], among: Sequence[Result] | None = None, *, by_length: bool = False
) -> list[RoundRow]:
    """Return a row for each series on each task that has compactions, and for all its tasks if it has several.

    Args:
        among: All results of the report, if `results` is a part of them. Each series has a unique name there.
        by_length: Whether each length has a row of its own. There is then none for all tasks.
    """
    series_for = series_of(results if among is None else among)
    groups: dict[tuple[str, Series, int | None], list[Result]] = {}
    for result in results:
        if result.rounds and result.status not in NEVER_ASKED:
            length = result.length if by_length else None
            groups.setdefault((result.task, series_for(result), length), []).append(result)
    rows = [_row(task, series, length, group) for (task, series, length), group in groups.items()]
    rows.sort(key=lambda row: (natural(row.task), row.series, row.length or 0))
    for series in sorted({row.series for row in rows}) if not by_length else ():
        several = [group for (_, of, _), group in groups.items() if of == series]
        if len(several) > 1:
            rows.append(_row("", series, None, [result for group in several for result in group]))
    return rows


def _row(task: str, series: Series, length: int | None, results: Sequence[Result]) -> RoundRow:
    rounds = [trace for result in results for trace in result.rounds]
    budgeted = [trace for trace in rounds if trace.budget is not None]
    shares = [trace.after / trace.before for trace in rounds if trace.before]
    return RoundRow(
        series=series,
        task=task,
        length=length,
        items=len(results),
        rounds=len(rounds) / len(results),
        share_left=math.fsum(shares) / len(shares) if shares else 0.0,
        with_budget=len(budgeted),
        within_budget=sum(trace.is_within_budget for trace in budgeted),
        ages=tuple(_survivals(results)),
        last=_in_order(state for result in results for _, state in result.rounds[-1].facts.values()),
    )


def _survivals(results: Sequence[Result]) -> Iterable[Survival]:
    """Yield the survival at each age that any fact reached."""
    states: dict[int, dict[str, list[RoundState]]] = {}
    for result in results:
        for age, state in _ages(result.rounds):
            states.setdefault(age, {}).setdefault(result.context_id, []).append(state)
    for age, contexts in sorted(states.items()):
        clusters = [[float(state == "kept") for state in context] for context in contexts.values()]
        facts = sum(map(len, clusters))
        share = math.fsum(map(math.fsum, clusters)) / facts
        low, high = wilson(share, effective_n(clusters))
        counts = _in_order(state for context in contexts.values() for state in context)
        yield Survival(age, facts, len(clusters), share, low, high, counts)


def _ages(rounds: Iterable[RoundTrace]) -> Iterable[tuple[int, RoundState]]:
    return (state for trace in rounds for state in trace.facts.values())


def _in_order(states: Iterable[RoundState]) -> Mapping[RoundState, int]:
    counts = Counter(states)
    return {state: counts[state] for state in ROUND_STATES}
