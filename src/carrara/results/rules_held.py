"""How long rules about the form of replies are held in conversations of several turns: by turn, and by age of a rule.

The age of a rule is the number of replies since it was given: 1 in the first reply after it, and in the first reply of
all if the prompt has it. The curve by age has only rules about forms that no reply has by accident. The horizon is the
last turn, or age, up to which at least half of the rules are held. Its interval is that of the limits of these shares,
which take the rules of one conversation as a cluster.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import takewhile
from statistics import fmean
from typing import Any, NamedTuple

from carrara.answers.reply_rules import DISTINCT
from carrara.answers.status import NEVER_ASKED
from carrara.results.intervals import effective_n, wilson
from carrara.results.result import Result
from carrara.results.series import Series, series_of

HALF = 0.5


@dataclass(frozen=True)
class HeldShare:
    """The rules that are held at a turn, or at an age."""

    number: int
    """The turn or the age."""
    rules: int
    share: float
    """The share that is held."""
    low: float
    high: float


class HeldHorizon(NamedTuple):
    """The last turn or age up to which at least half of the rules are held, with its interval."""

    last: int
    low: int
    high: int
    most: int
    """The last turn or age that was reached. A horizon of as many may be farther."""

    @classmethod
    def of(cls, shares: Sequence[HeldShare]) -> "HeldHorizon":
        def reach(bound: Callable[[HeldShare], float]) -> int:
            return max((held.number for held in takewhile(lambda held: bound(held) >= HALF, shares)), default=0)

        return cls(
            reach(lambda held: held.share),
            reach(lambda held: held.low),
            reach(lambda held: held.high),
            max((held.number for held in shares), default=0),
        )

    def __str__(self) -> str:
        """Return the horizon and its interval, or only `6+` if both are the end or farther."""
        if self.low == self.most:
            return f"{self.most}+" if self.most else "–"
        last, low, high = (f"{number}+" if number == self.most else str(number) for number in self[:3])
        return f"{last} ({low} to {high})"


@dataclass(frozen=True)
class RulesHeldRow:
    """The conversations of one series on one task at one length, with the same number of turns."""

    series: Series
    task: str
    length: int
    conversations: int
    scores: Sequence[dict[str, float]]
    """The mean scores of each turn, by name."""
    by_turn: Sequence[HeldShare]
    by_age: Sequence[HeldShare]

    @property
    def turns(self) -> int:
        return len(self.by_turn)

    def at_age(self, age: int) -> HeldShare | None:
        return next((held for held in self.by_age if held.number == age), None)

    def mean(self, name: str) -> float:
        """Return the mean of a score over all turns."""
        return fmean(scores[name] for scores in self.scores)

    def record(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        return {
            "conversations": self.conversations,
            "turns": [
                {"scores": scores, **asdict(held)} for scores, held in zip(self.scores, self.by_turn, strict=True)
            ],
            "ages": [asdict(held) for held in self.by_age],
            "horizon_turns": HeldHorizon.of(self.by_turn)._asdict(),
            "horizon_ages": HeldHorizon.of(self.by_age)._asdict(),
        }


def rules_held_rows(results: Sequence[Result], among: Sequence[Result] | None = None) -> list[RulesHeldRow]:
    """Return a row for each series, task, length and number of turns with conversations about rules.

    Args:
        among: All results of the report, if `results` is a part of them. Each series has a unique name there.
    """
    series_for = series_of(results if among is None else among)
    groups: dict[tuple[str, Series, int, int], list[Result]] = {}
    for result in results:
        if result.turns and result.status not in NEVER_ASKED:
            key = result.task, series_for(result), result.length, len(result.turns)
            groups.setdefault(key, []).append(result)
    return [
        RulesHeldRow(series, task, length, len(group), _scores(group), _by_turn(group), _by_age(group))
        for (task, series, length, _), group in sorted(groups.items(), key=_order)
    ]


def _order(group: tuple[tuple[str, Series, int, int], object]) -> tuple[str, str, int, int]:
    task, series, length, turns = group[0]
    return task, str(series), length, turns


def _scores(results: Sequence[Result]) -> list[dict[str, float]]:
    turns = zip(*(result.turns for result in results), strict=True)
    return [{name: fmean(trace.scores[name] for trace in traces) for name in traces[0].scores} for traces in turns]


def _by_turn(results: Sequence[Result]) -> list[HeldShare]:
    turns = zip(*(result.turns for result in results), strict=True)
    return [
        _share(number, [[float(rule.held) for rule in trace.rules] for trace in traces])
        for number, traces in enumerate(turns, 1)
    ]


def _by_age(results: Sequence[Result]) -> list[HeldShare]:
    ages: dict[int, list[list[float]]] = {}
    for result in results:
        own: dict[int, list[float]] = {}
        for rule in (rule for trace in result.turns for rule in trace.rules if rule.kind in DISTINCT):
            own.setdefault(rule.age, []).append(float(rule.held))
        for age, held in own.items():
            ages.setdefault(age, []).append(held)
    return [_share(age, clusters) for age, clusters in sorted(ages.items())]


def _share(number: int, clusters: Sequence[Sequence[float]]) -> HeldShare:
    rules = sum(map(len, clusters))
    share = math.fsum(map(math.fsum, clusters)) / rules
    return HeldShare(number, rules, share, *wilson(share, effective_n(clusters)))
