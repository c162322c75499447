"""Decide whether two servers are the same up to a margin, by sequential tests of paired differences.

Each instance is asked at both servers. Its difference is the second score minus the first. A group of instances is:

- equivalent if the mean difference is shown to be within the margin (two one-sided tests);
- different if it is shown to be outside;
- open otherwise.

The servers are equivalent if they are so at every length. Each length is tested at the whole error rate, because all
of them have to agree (an intersection-union test). The servers are different as soon as a group is: all instances of a
length, or those of one region or capability there. These tests share their error rate.

The test of a mean difference and its confidence interval stay valid however often one looks. The data are differences
in [-1, 1], one for each instance. To test "the mean is at most m", a gambler bets on each difference before it is
known. The bets are fair or worse if the mean is at most m, so his wealth is then above 1 / alpha at some time with a
probability of at most alpha (Ville's inequality). This holds for any number of instances and any spread, and for any
rule of when to stop (Waudby-Smith and Ramdas, 2024).

A small bet wins slowly, and a large bet is lost when differences vary. So the wealth is divided among bets of several
sizes.

Several tasks take turns, and a turn ends with a `look`. Only looks count. The mean is then the mean over the tasks,
even if they differ: over a whole turn, the product of the tasks' factors is at most that of equal tasks.

The differences of a turn have to be independent of one another. The questions on one instance are not, so their mean is
one difference.

>>> test = BettingTest(-0.05, above=True)  # is the mean above -0.05?
>>> for _ in range(76):
...     test.add(0.0)
...     test.look()
>>> test.evidence >= 20  # 76 instances without any difference show it, at alpha = 0.05
True
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from carrara.guard.items import REGIONS, THROUGHOUT
from carrara.guard.sequential import ALL
from carrara.results.intervals import wilson

BETS = ((0.97, 0.4), (0.6, 0.2), (0.3, 0.15), (0.15, 0.15), (0.07, 0.1))
"""The sizes of the bets, as shares of the largest possible one, and the share of the wealth for each."""
STEPS = 14
"""The number of halvings of an interval's ends: they are exact to 0.0002."""


class BettingTest:
    """A sequential test of whether a mean is above a bound, or below it.

    Args:
        above: Whether to show that the mean is above the bound. Otherwise: that it is below.
        lowest: The lowest possible difference. The highest is 1.
    """

    def __init__(self, bound: float, *, above: bool, lowest: float = -1.0) -> None:
        self.bound, self.sign = bound, 1 if above else -1
        self.evidence = 1.0
        """The greatest wealth at a look. At least 1 / alpha: the mean is above (or below) the bound."""
        largest_loss = bound - lowest if above else 1 - bound
        self._bets = [share / largest_loss for share, _ in BETS]
        self._wealth = [part for _, part in BETS]

    def add(self, difference: float) -> None:
        """Count a difference."""
        gain = self.sign * (difference - self.bound)
        self._wealth = [wealth * (1 + bet * gain) for wealth, bet in zip(self._wealth, self._bets, strict=True)]

    def look(self) -> None:
        """Let the differences so far count as evidence."""
        self.evidence = max(self.evidence, math.fsum(self._wealth))


def interval(turns: Iterable[Sequence[float]], alpha: float, lowest: float = -1.0) -> tuple[float, float]:
    """Return an interval for the mean. It is wrong with a probability of at most `alpha` at each of its ends.

    It holds every bound that the tests do not reject, so it agrees with them.

    Args:
        turns: The differences of each turn. Each turn ends with a look.
        alpha: The error rate of each end.
        lowest: The lowest possible difference.

    >>> [round(end, 2) for end in interval([[0.0]] * 76, 0.05)]
    [-0.05, 0.05]
    """
    looks = list(turns)

    def shows(bound: float, *, above: bool) -> bool:
        test = BettingTest(bound, above=above, lowest=lowest)
        for turn in looks:
            for difference in turn:
                test.add(difference)
            test.look()
        return test.evidence >= 1 / alpha

    ends = list[float]()
    for above, outside, inside in ((True, lowest, 1.0), (False, 1.0, lowest)):
        for _ in range(STEPS):
            middle = (outside + inside) / 2
            outside, inside = (middle, inside) if shows(middle, above=above) else (outside, middle)
        ends.append(outside)
    return ends[0], ends[1]


def fewest(margin: float, alpha: float) -> int:
    """Return the number of instances without any difference that show a mean within a margin.

    >>> fewest(0.05, 0.05), fewest(0.1, 0.05)
    (76, 37)
    """
    test = BettingTest(-margin, above=True)
    instances = 0
    while test.evidence < 1 / alpha:
        test.add(0.0)
        test.look()
        instances += 1
    return instances


PairVerdict = Literal["equivalent", "different", "open"]
PairOutcome = PairVerdict | Literal["unchecked"]
"""The outcome of a comparison. It may be that a server has not answered."""

PAIR_CODES: Mapping[PairOutcome, tuple[int, str]] = {
    "equivalent": (
        0,
        "equivalent: at each length, the scores (or tokens, if they decide) differ by less than the margin",
    ),
    "different": (1, "different: at a length, or in a region or capability there, they differ by more than the margin"),
    "open": (3, "cannot tell yet: the servers replied, but to too few prompts, or no score is above the chance level"),
    "unchecked": (4, "could not compare: a server cannot be reached, or too many requests failed"),
}
"""The exit code of each outcome, and its meaning."""

ALPHA_EQUIVALENT = 0.05
"""The rate at which servers that differ by the margin or more are called equivalent."""
ALPHA_DIFFERENT = 0.01
"""The rate at which servers that differ by the margin or less everywhere are called different."""


@dataclass(frozen=True)
class Pair:
    """The scores of an instance at both servers."""

    region: str
    capability: str
    first: float
    second: float
    chance_level: float
    moved: float = 0.0
    """How much the tokens of the replies differ, at least (ReplyDifference)."""
    moved_at_most: float = 0.0

    @property
    def difference(self) -> float:
        return self.second - self.first


@dataclass
class GroupTests:
    """The tests of a group of instances at one length.

    Args:
        alpha: The error rate of each test of whether it is different.
    """

    margin: float
    alpha: float
    turns: list[list[Pair]] = field(default_factory=list[list[Pair]])
    """The instances, turn by turn."""

    def __post_init__(self) -> None:
        self._within = [BettingTest(-self.margin, above=True), BettingTest(self.margin, above=False)]
        self._outside = [BettingTest(-self.margin, above=False), BettingTest(self.margin, above=True)]

    def add(self, turn: Sequence[Pair]) -> None:
        """Count the instances of a turn."""
        if not turn:
            return
        self.turns.append(list(turn))
        for test in (*self._within, *self._outside):
            for pair in turn:
                test.add(pair.difference)
            test.look()

    @property
    def verdict(self) -> PairVerdict:
        if any(test.evidence >= 1 / self.alpha for test in self._outside):
            return "different"
        return "equivalent" if all(test.evidence >= 1 / ALPHA_EQUIVALENT for test in self._within) else "open"

    @property
    def pairs(self) -> list[Pair]:
        return [pair for turn in self.turns for pair in turn]

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the mean difference, each of whose ends is wrong at the rate `ALPHA_EQUIVALENT`."""
        return interval([[pair.difference for pair in turn] for turn in self.turns], ALPHA_EQUIVALENT)

    @property
    def can_show(self) -> bool:
        """Whether the score of a server is above the chance level. Otherwise equal scores show nothing."""
        pairs = self.pairs
        n, chance_level = len(pairs), sum(pair.chance_level for pair in pairs) / max(1, len(pairs))
        means = (sum(pair.first for pair in pairs), sum(pair.second for pair in pairs))
        return any(wilson(mean / n, n)[0] > chance_level for mean in means if n)


class LengthTests:
    """The tests of a length: one of all instances, and one of each region and capability.

    Args:
        lengths: The number of lengths, whose tests share an error rate.
    """

    def __init__(self, margin: float, capabilities: Collection[str], lengths: int) -> None:
        self.names = (ALL, *REGIONS, THROUGHOUT, *capabilities)
        alpha = ALPHA_DIFFERENT / (2 * len(self.names) * lengths)
        self.by_name = {name: GroupTests(margin, alpha) for name in self.names}

    def add(self, turn: Sequence[Pair]) -> None:
        """Count a turn, which has an instance of each capability."""
        for name, tests in self.by_name.items():
            tests.add([pair for pair in turn if name in (ALL, pair.region, pair.capability)])

    @property
    def instances(self) -> int:
        """The number of instances."""
        return sum(map(len, self.by_name[ALL].turns))

    @property
    def verdict(self) -> PairVerdict:
        if self.different:
            return "different"
        return "open" if self.shows_nothing else self.by_name[ALL].verdict

    @property
    def shows_nothing(self) -> bool:
        """Whether equal scores show nothing here, because no score is above the chance level."""
        return self.by_name[ALL].verdict == "equivalent" and not self.by_name[ALL].can_show

    @property
    def is_over(self) -> bool:
        """Whether no more instances are needed."""
        return self.verdict != "open" or self.shows_nothing

    @property
    def different(self) -> list[str]:
        """The names of the groups that are different."""
        return [name for name, tests in self.by_name.items() if tests.verdict == "different"]


class _HasVerdict(Protocol):
    @property
    def verdict(self) -> PairVerdict: ...


def fewest_instances(margin: float) -> int:
    """Return the number of instances of a length that can show equivalence, if none differs."""
    return fewest(margin, ALPHA_EQUIVALENT)


def verdict_of(lengths: Sequence["_HasVerdict"], expected: int) -> PairVerdict:
    """Return the verdict on the servers, from the tests of the lengths that were asked.

    Args:
        expected: The number of lengths to ask.
    """
    verdicts = [tests.verdict for tests in lengths]
    if "different" in verdicts:
        return "different"
    return "equivalent" if verdicts == ["equivalent"] * expected else "open"
