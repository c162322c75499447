"""Choose which items of a guard to ask next, until the tests have decided.

A failed request says nothing about the answers, so it counts for no test.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from carrara.guard.guard_file import Guard, GuardItem
from carrara.guard.sequential import RatioTests, Verdict

ROUNDS = 6
"""The most times that an item is asked. An item with a wrong reply is not asked again, because it may stay wrong."""


@dataclass
class Schedule:
    """The course of a check.

    Args:
        guard: The guard.
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

    def next_batch(self, size: int) -> Sequence[GuardItem]:
        """Return the items to ask next. Empty when the tests have decided, or no item is left.

        Items whose undecided strata were asked least come first. If only the test of all items is undecided, the
        shortest prompts come first.
        """
        if self.verdict != "open":
            return []
        if self.most is not None:
            size = min(size, self.most - self.prompts - self.failed)
        left = [item for item in self.guard.items if item.id not in self._asked | self._dropped]
        if not left and self.round + 1 < ROUNDS:
            self.round += 1
            self._asked = set()
            left = [item for item in self.guard.items if item.id not in self._dropped]
        undecided, counts, batch = self.tests.open, self._counts.copy(), list[GuardItem]()

        def order(item: GuardItem) -> tuple[float, int, str]:
            asked = min((counts[name] for name in item.strata if name in undecided), default=float("inf"))
            return asked, item.length, item.sha256

        while left and len(batch) < size:
            first = min(left, key=order)
            left.remove(first)
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
