"""How long a model keeps a running total right in a conversation, and how far its own errors lead it on.

    survival       the share of conversations without an error up to a turn
    horizon        the last turn at which survival is at least one half
    steps          the share of turns that add the right number to the total before them, be that right or wrong,
                   before and after the first error: what errors in its own replies cost a model
    led on         the share of turns after the first error that have a wrong total by a right step
    corrected      the share of turns after the first error whose total is right again

All of it follows from the totals of each reply and the right ones, which every result has.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from carrara.answers.status import NEVER_ASKED
from carrara.answers.totals import Totals, right_steps, survival_length
from carrara.answers.transcript import split_replies
from carrara.results.result import Result
from carrara.results.series import Series, series_of
from carrara.types import ANSWER

_NUMBER = re.compile(r"-?[0-9]+")
HALF = 0.5
QUARTERS = ("at 1/4", "at 1/2", "at 3/4", "at end")
"""The names of the parts of a conversation at which tables show survival."""


@dataclass(frozen=True)
class HorizonRow:
    """The conversations of one series on one task at one length, with the same labels and number of turns."""

    series: Series
    task: str
    length: int
    labels: Mapping[str, str]
    conversations: int
    survival: Sequence[float]
    """The share of conversations without an error up to each turn, from the first on."""
    steps_before: float
    """The share of right steps as long as all totals before are right."""
    steps_after: float | None
    """The share of right steps after the turn of the first error. None: there is no such turn."""
    led_on: float | None
    """The share of turns after the first error with a right step from a wrong total."""
    corrected: float | None
    """The share of turns after the first error with a right total."""

    @property
    def turns(self) -> int:
        return len(self.survival)

    @property
    def mean_survived(self) -> float:
        """The mean number of turns before the first error."""
        return sum(self.survival)

    @property
    def horizon(self) -> int:
        """The last turn at which at least half of the conversations have no error. 0: more have one in the first."""
        return sum(share >= HALF for share in self.survival)

    @property
    def written_horizon(self) -> str:
        """The horizon as text. If it may be farther than the last turn, `20+`."""
        return f"{self.horizon}+" if self.horizon == self.turns else str(self.horizon)

    @property
    def quarters(self) -> list[float]:
        """Survival after each quarter of the turns."""
        return [self.survival[-(-self.turns * quarter // 4) - 1] for quarter in range(1, 5)]

    def record(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        return {
            "labels": dict(self.labels),
            "conversations": self.conversations,
            "turns": self.turns,
            "survival": [round(share, 4) for share in self.survival],
            "horizon": self.horizon,
            "steps_before": self.steps_before,
            "steps_after": self.steps_after,
            "led_on": self.led_on,
            "corrected": self.corrected,
        }


def horizon_rows(results: Sequence[Result], among: Sequence[Result] | None = None) -> list[HorizonRow]:
    """Return a row for each series, task, length and set of labels with conversations of totals.

    Args:
        among: All results of the report, if `results` is a part of them. Each series has a unique name there.
    """
    series_for = series_of(results if among is None else among)
    groups: dict[tuple[Series, str, int, tuple[tuple[str, str], ...], int], list[tuple[Totals, Totals]]] = {}
    for result in results:
        if result.status not in NEVER_ASKED and (pair := _pair(result)):
            labels = tuple((name, value) for name, value in result.labels.items() if name != ANSWER)
            key = series_for(result), result.task, result.length, labels, len(pair[1].totals)
            groups.setdefault(key, []).append(pair)
    return [_row(*key[:3], dict(key[3]), pairs) for key, pairs in sorted(groups.items(), key=_order)]


def _order(group: tuple[tuple[Series, str, int, tuple[tuple[str, str], ...], int], object]) -> tuple[object, ...]:
    series, task, length, labels, turns = group[0]
    return task, str(series), length, labels, turns


def _pair(result: Result) -> tuple[Totals, Totals] | None:
    """Return the totals of a reply, and the right ones. None if these are no transcript of several totals."""
    right = [int(text) for text in split_replies(result.gold) if _NUMBER.fullmatch(text)]
    if len(right) < 2 or len(right) != len(split_replies(result.gold)):
        return None
    replies = split_replies(result.answer or "")
    totals = [int(text) if _NUMBER.fullmatch(text) else None for text in replies[: len(right)]]
    steps = tuple(after - before for before, after in pairwise([0, *right]))
    return Totals((*totals, *[None] * (len(right) - len(totals))), steps), Totals(tuple(right), steps)


def _row(
    series: Series, task: str, length: int, labels: Mapping[str, str], pairs: Sequence[tuple[Totals, Totals]]
) -> HorizonRow:
    turns = len(pairs[0][1].totals)
    firsts = [survival_length(answer, gold) for answer, gold in pairs]
    before = sum(min(first + 1, turns) for first in firsts)
    after = [
        (step, total == right)
        for (answer, gold), first in zip(pairs, firsts, strict=True)
        for step, total, right in zip(
            right_steps(answer)[first + 1 :], answer.totals[first + 1 :], gold.totals[first + 1 :], strict=True
        )
    ]

    def share(number: int) -> float | None:
        return number / len(after) if after else None

    return HorizonRow(
        series,
        task,
        length,
        labels,
        len(pairs),
        [sum(first > turn for first in firsts) / len(pairs) for turn in range(turns)],
        sum(firsts) / before,
        share(sum(step for step, _ in after)),
        share(sum(step and not right for step, right in after)),
        share(sum(right for _, right in after)),
    )
