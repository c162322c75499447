"""When a server is broken, when it is not, and when that cannot be told yet: sequential tests of known error rates.

Each reply is right or wrong. Of an unbroken server the items of a guard are right at a rate that was measured. What
breaks breaks somewhere: at a length, in a region of the context, for a capability, or now and then everywhere. So each
of these strata has a probability ratio test of its own (Wald 1945), of its items being right half of the time; and all
items together have one of a rate that lies a little lower, which is what one request in twenty comes to.

A test that has crossed a bound is over: what comes later counts for the others. By Wald's inequality a test of size
`alpha` alarms on an unbroken server at most so often, and all tests share one size. A server is broken as soon as one
of them alarms, and fine when all are over.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["fine", "broken", "open"]
Outcome = Verdict | Literal["unchecked"]
"""What a whole check ends with: it may be that the server did not answer."""

CODES: Mapping[Outcome, tuple[int, str]] = {
    "fine": (0, "fine: every test is over, and none found a fault"),
    "broken": (1, "broken: the replies, or the server's counts of prompt tokens, are not what they were"),
    "open": (3, "cannot tell yet: the server replied, but to too few prompts"),
    "unchecked": (4, "could not check: the server cannot be reached, or too many requests failed"),
}
"""The exit code of each outcome, and its meaning. 2 is, as everywhere, a command that cannot be carried out."""

ALL = "everywhere"
HALF = 0.5
"""The rate of a stratum that is broken; a stratum that is worse is found sooner."""
LOWER = 0.05
"""How much lower the rate of all is where one reply in twenty goes wrong."""
ALPHA = 0.004
"""Alarms of the test of all items where nothing is broken,"""
SHARED = 0.005
"""and of those of all strata together."""
MISSED, MISSED_ALL = 0.05, 0.01
"""How often a test ends as fine where what it tests for is the case: of a stratum, of all items."""


@dataclass
class Ratio:
    """A probability ratio test of a rate against a lower one."""

    rate: float
    lower: float
    alpha: float
    beta: float
    right: int = 0
    asked: int = 0
    _sum: float = 0.0
    verdict: Verdict = "open"

    def add(self, right: bool) -> None:
        self.asked += 1
        self.right += right
        if self.verdict != "open":
            return
        self._sum += math.log(self.lower / self.rate if right else (1 - self.lower) / (1 - self.rate))
        if self._sum >= math.log((1 - self.beta) / self.alpha):
            self.verdict = "broken"
        elif self._sum <= math.log(self.beta / (1 - self.alpha)):
            self.verdict = "fine"


@dataclass
class Ratios:
    """Of a server: one test of all items, one of each stratum."""

    rate: float
    """At which items are right where nothing is broken."""
    strata: Collection[str]
    of: Mapping[str, Ratio] = field(init=False)

    def __post_init__(self) -> None:
        alpha = SHARED / max(1, len(self.strata))
        self.of = {
            ALL: Ratio(self.rate, self.rate - LOWER, ALPHA, MISSED_ALL),
            **{name: Ratio(self.rate, HALF, alpha, MISSED) for name in self.strata},
        }

    def add(self, strata: Iterable[str], right: bool) -> None:
        for name in (ALL, *strata):
            self.of[name].add(right)

    @property
    def verdict(self) -> Verdict:
        ended = {one.verdict for one in self.of.values()}
        return "broken" if "broken" in ended else "open" if "open" in ended else "fine"

    @property
    def open(self) -> set[str]:
        """The tests that are not over."""
        return {name for name, one in self.of.items() if one.verdict == "open"}

    @property
    def broken(self) -> list[str]:
        return [name for name, one in self.of.items() if one.verdict == "broken"]
