"""Decide whether two servers are the same up to a margin, by sequential tests of paired differences.

Each instance is asked at both servers. Its difference is the second score minus the first. A group of instances is:

- equivalent if the mean difference is shown to be within the margin (two one-sided tests);
- different if it is shown to be outside;
- open otherwise.

The servers are equivalent if they are so at every length. Each length is tested at the whole error rate, because all
of them have to agree (an intersection-union test). The servers are different as soon as a group is: all instances of a
length, or those of one region or capability there. These tests share their error rate.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from carrara.guard.items import REGIONS, THROUGHOUT
from carrara.guard.sequential import ALL
from carrara.results.betting import BettingTest, fewest, interval
from carrara.results.intervals import wilson

PairVerdict = Literal["equivalent", "different", "open"]
PairOutcome = PairVerdict | Literal["unchecked"]
"""The outcome of a comparison. It may be that a server has not answered."""

PAIR_CODES: Mapping[PairOutcome, tuple[int, str]] = {
    "equivalent": (0, "equivalent: at each length, the scores differ by less than the margin"),
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

    @property
    def difference(self) -> float:
        return self.second - self.first


@dataclass
class GroupTests:
    """The tests of a group of instances at one length.

    Args:
        margin: The margin.
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
        margin: The margin.
        capabilities: The names of all capabilities.
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


def fewest_instances(margin: float) -> int:
    """Return the number of instances of a length that can show equivalence, if none differs."""
    return fewest(margin, ALPHA_EQUIVALENT)


def verdict_of(lengths: Sequence[LengthTests], expected: int) -> PairVerdict:
    """Return the verdict on the servers, from the tests of the lengths that were asked.

    Args:
        lengths: The tests of the lengths so far.
        expected: The number of lengths to ask.
    """
    verdicts = [one.verdict for one in lengths]
    if "different" in verdicts:
        return "different"
    return "equivalent" if verdicts == ["equivalent"] * expected else "open"
