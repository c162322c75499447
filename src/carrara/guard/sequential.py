"""Decide whether a server is broken, by sequential tests with known error rates.

Each reply is right or wrong. While a server is not broken, the items of a guard are right at a rate that was measured.
A fault shows somewhere: at a length, in a region of the context, in a capability, or now and then everywhere. So each
of these strata has a probability ratio test (Wald 1945) against half of its items being right. All items together have
a test against a rate that is a little lower: about one request in twenty goes wrong.

A test that has crossed a bound is over, and later replies count for the others only. By Wald's inequality, `alpha`
bounds the rate of false alarms of a test, and the tests of the strata share one such rate. A server is broken as soon
as one test alarms, and fine when all tests are over.

A schedule chooses which items to ask next, until the tests have decided. A failed request says nothing about the
answers, so it counts for no test.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from carrara.guard.guard_file import Guard, GuardItem

Verdict = Literal["fine", "broken", "open"]
Outcome = Verdict | Literal["unchecked"]
"""The outcome of a check. It may be that the server has not answered."""

CODES: Mapping[Outcome, tuple[int, str]] = {
    "fine": (0, "fine: every test is over, and none found a fault"),
    "broken": (1, "broken: the replies, or the server's counts of prompt tokens, are not what they were"),
    "open": (3, "cannot tell yet: the server replied, but to too few prompts"),
    "unchecked": (4, "could not check: the server cannot be reached, or too many requests failed"),
}
"""The exit code of each outcome, and its meaning. Code 2 is a command that cannot be carried out, as everywhere."""

ALL = "everywhere"
"""The name of the test of all items."""
STRATUM_RATE = 0.5
"""The rate of a broken stratum. A worse stratum is found sooner."""
LOWER = 0.05
"""The difference in the rate of all items if one reply in twenty goes wrong."""
ALPHA_ALL, ALPHA_STRATA = 0.004, 0.005
"""The rate of false alarms of the test of all items, and of those of all strata together."""
BETA_ALL, BETA_STRATUM = 0.01, 0.05
"""The rate at which the test of all items, or of a stratum, misses a fault."""


@dataclass
class RatioTest:
    """A probability ratio test of a rate against a lower one."""

    rate: float
    lower: float
    alpha: float
    beta: float
    right: int = 0
    asked: int = 0
    verdict: Verdict = "open"
    _sum: float = 0.0

    def add(self, is_right: bool) -> None:
        self.asked += 1
        self.right += is_right
        if self.verdict != "open":
            return
        self._sum += math.log(self.lower / self.rate if is_right else (1 - self.lower) / (1 - self.rate))
        if self._sum >= math.log((1 - self.beta) / self.alpha):
            self.verdict = "broken"
        elif self._sum <= math.log(self.beta / (1 - self.alpha)):
            self.verdict = "fine"


@dataclass
class RatioTests:
    """The tests of a server: one of all items, and one of each stratum.

    Args:
        rate: The rate of right replies while nothing is broken.
    """

    rate: float
    strata: Collection[str]
    by_name: Mapping[str, RatioTest] = field(init=False)

    def __post_init__(self) -> None:
        alpha = ALPHA_STRATA / max(1, len(self.strata))
        self.by_name = {
            ALL: RatioTest(self.rate, self.rate - LOWER, ALPHA_ALL, BETA_ALL),
            **{name: RatioTest(self.rate, STRATUM_RATE, alpha, BETA_STRATUM) for name in self.strata},
        }

    def add(self, strata: Iterable[str], is_right: bool) -> None:
        """Count a reply to an item of these strata."""
        for name in (ALL, *strata):
            self.by_name[name].add(is_right)

    @property
    def verdict(self) -> Verdict:
        verdicts = {test.verdict for test in self.by_name.values()}
        return "broken" if "broken" in verdicts else "open" if "open" in verdicts else "fine"

    @property
    def open(self) -> set[str]:
        """The names of the tests that are not over."""
        return {name for name, test in self.by_name.items() if test.verdict == "open"}

    @property
    def broken(self) -> list[str]:
        """The names of the tests that alarm."""
        return [name for name, test in self.by_name.items() if test.verdict == "broken"]


ROUNDS = 6
"""The most times that an item is asked. An item with a wrong reply is not asked again, because it may stay wrong."""


@dataclass
class Schedule:
    """The course of a check.

    Args:
        most: The number of prompts at most.
    """

    guard: Guard
    most: int | None = None
    round: int = 0
    prompts: int = 0
    """Prompts with a reply."""
    right: int = 0
    """Replies that were right."""
    failed: int = 0
    """Requests without a reply."""
    tests: RatioTests = field(init=False)
    _asked: set[str] = field(default_factory=set[str])
    """The items that were asked in this round."""
    _dropped: set[str] = field(default_factory=set[str])
    """The items that are not asked again, because their reply was wrong or their request failed."""
    _counts: Counter[str] = field(default_factory=Counter[str])
    """The number of items of each stratum that were asked."""

    def __post_init__(self) -> None:
        self.tests = RatioTests(self.guard.rate, self.guard.strata)

    def __str__(self) -> str:
        failed = f", {self.failed} requests failed" if self.failed else ""
        tests = len(self.tests.by_name)
        return (
            f"{self.prompts} prompts, {self.right} of them right{failed}; "
            f"{tests - len(self.tests.open)} of {tests} tests are over"
        )

    @property
    def verdict(self) -> Verdict:
        return self.tests.verdict

    @property
    def is_limited(self) -> bool:
        """Whether the allowed number of requests was made."""
        return self.most is not None and self.prompts + self.failed >= self.most

    def next_batch(self, size: int, beyond_fine: bool = False) -> Sequence[GuardItem]:
        """Return the items to ask next. Empty when the tests have decided, or no item is left.

        Items whose undecided strata were asked least come first. If only the test of all items is undecided, the
        shortest prompts come first.

        Args:
            beyond_fine: Whether to go on although the tests have found no fault, because of a test of the caller's.
        """
        if self.verdict == "broken" or (self.verdict == "fine" and not beyond_fine):
            return []
        if self.most is not None:
            size = min(size, self.most - self.prompts - self.failed)
        remaining = [item for item in self.guard.items if item.id not in self._asked | self._dropped]
        if not remaining and self.round + 1 < ROUNDS:
            self.round += 1
            self._asked = set()
            remaining = [item for item in self.guard.items if item.id not in self._dropped]
        undecided, counts, batch = self.tests.open, self._counts.copy(), list[GuardItem]()

        def order(item: GuardItem) -> tuple[float, int, str]:
            least_asked = min((counts[name] for name in item.strata if name in undecided), default=float("inf"))
            return least_asked, item.length, item.sha256

        while remaining and len(batch) < size:
            first = min(remaining, key=order)
            remaining.remove(first)
            batch.append(first)
            counts.update(first.strata)
        return batch

    def add(self, item: GuardItem, is_right: bool) -> None:
        """Count the reply to an item."""
        self.prompts += 1
        self.right += is_right
        self._asked.add(item.id)
        self._counts.update(item.strata)
        if not is_right:
            self._dropped.add(item.id)
        self.tests.add(item.strata, is_right)

    def fail(self, item: GuardItem) -> None:
        """Count the failed request of an item."""
        self.failed += 1
        self._counts.update(item.strata)
        self._dropped.add(item.id)
