"""Decide whether the tokens of two servers' replies are the same up to a margin, length by length.

Each instance has two numbers: how much the distributions of its reply's tokens differ (total variation) at least and at
most, from 0 to 1. Without log-probabilities both are 1 if the replies differ, and 0 otherwise. Servers are different if
the least is above the margin, and equivalent if the most is below it. The tests are those of scores (equivalence.py). A
difference is found with fewer prompts, for two reasons:

- A number is never negative. A bet on "the mean is above the margin" can lose the margin at most, so it can be larger.
- Most replies of a server that differs show it, even if the answers stay right.

>>> tests = TokenTests(0.05, lengths=1)
>>> tests.add([Moved(1.0, 1.0), Moved(1.0, 1.0)])  # both replies differ wholly
>>> tests.verdict, tests.decided
('different', 2)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import stdev
from typing import NamedTuple

from carrara.guard.equivalence import ALPHA_DIFFERENT, ALPHA_EQUIVALENT, BettingTest, PairVerdict, interval
from carrara.guard.reply_difference import ReplyDifference
from carrara.results.intervals import student


class Moved(NamedTuple):
    """How much the tokens of an instance differ."""

    least: float
    most: float


@dataclass
class TokenTests:
    """The tests of a length.

    Args:
        lengths: The number of lengths, whose tests share an error rate.
    """

    margin: float
    lengths: int
    turns: list[Sequence[Moved]] = field(default_factory=list[Sequence[Moved]])
    """What each turn's instances differ by."""
    decided: int | None = None
    """The number of instances after which the tests had decided. None: they have not."""

    def __post_init__(self) -> None:
        self._within = BettingTest(self.margin, above=False)
        self._outside = BettingTest(self.margin, above=True, lowest=0.0)

    def add(self, turn: Sequence[Moved]) -> None:
        """Count the instances of a turn."""
        if not turn:
            return
        self.turns.append(turn)
        for moved in turn:
            self._within.add(moved.most)
            self._outside.add(moved.least)
        self._within.look()
        self._outside.look()
        if self.decided is None and self.verdict != "open":
            self.decided = sum(map(len, self.turns))

    @property
    def verdict(self) -> PairVerdict:
        if self._outside.evidence >= self.lengths / ALPHA_DIFFERENT:
            return "different"
        return "equivalent" if self._within.evidence >= 1 / ALPHA_EQUIVALENT else "open"

    @property
    def is_over(self) -> bool:
        """Whether no more instances are needed."""
        return self.verdict != "open"

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the mean, each of whose ends is wrong at the rate `ALPHA_EQUIVALENT`."""
        least = [[moved.least for moved in turn] for turn in self.turns]
        most = [[moved.most for moved in turn] for turn in self.turns]
        return interval(least, ALPHA_EQUIVALENT, lowest=0.0)[0], interval(most, ALPHA_EQUIVALENT, lowest=0.0)[1]


@dataclass(frozen=True)
class TokenGroup:
    """How the tokens of the replies of a length differ."""

    length: int
    verdict: PairVerdict
    replies: int
    same: int
    """The number of equal replies."""
    first_place: float | None
    """The median number of equal tokens before the first one that differs. None if no reply differs."""
    moved: float
    """The mean total variation, at least: the share of drawn tokens that would differ."""
    low: float
    """The lower end of its interval."""
    high: float
    moved_at_most: float
    compared: int
    """The number of tokens whose distributions were compared."""
    divergence: float | None
    """The mean Kullback-Leibler divergence of a token in nats, at least. None without log-probabilities. So are the
    next numbers."""
    divergence_half: float | None
    """Half the width of its 95 % interval (Student's, over replies)."""
    unseen: float | None
    """The mean probability of tokens that not both servers list."""
    logprobs: tuple[float, float] | None
    """The mean log-probability of the right replies of the first server, at both servers."""
    leads: tuple[float, float] | None
    """By how many nats a token of these replies is more likely than its best rival, at both servers."""
    decided: int | None
    """The number of instances after which tokens had decided."""


def token_group(
    length: int, tests: TokenTests, differences: Sequence[ReplyDifference], right: Sequence[bool]
) -> TokenGroup:
    """Summarize the replies of a length.

    Args:
        differences: The difference of each pair of replies.
        right: Whether the first server's reply is right.
    """
    low, high = tests.interval
    compared = [difference for difference in differences if difference.compared]
    places = sorted(difference.place for difference in differences if difference.place is not None)
    right_replies = [difference for difference, is_right in zip(differences, right, strict=True) if is_right]
    return TokenGroup(
        length=length,
        verdict=tests.verdict,
        replies=len(differences),
        same=sum(difference.is_same for difference in differences),
        first_place=(places[(len(places) - 1) // 2] + places[len(places) // 2]) / 2 if places else None,
        moved=_mean([moved.least for turn in tests.turns for moved in turn]),
        low=low,
        high=high,
        moved_at_most=_mean([moved.most for turn in tests.turns for moved in turn]),
        compared=sum(difference.compared for difference in compared),
        divergence=_mean([difference.divergence for difference in compared]) if compared else None,
        divergence_half=_half_width([difference.divergence for difference in compared]),
        unseen=_mean([difference.unseen for difference in compared]) if compared else None,
        logprobs=_mean_pair([difference.logprobs for difference in right_replies]),
        leads=_mean_pair([difference.leads for difference in right_replies]),
        decided=tests.decided,
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def _half_width(values: Sequence[float]) -> float | None:
    n = len(values)
    return student(n - 1) * stdev(values) / math.sqrt(n) if n > 1 else None


def _mean_pair(pairs: Sequence[tuple[float, float] | None]) -> tuple[float, float] | None:
    known = [pair for pair in pairs if pair is not None]
    return (_mean([first for first, _ in known]), _mean([second for _, second in known])) if known else None
