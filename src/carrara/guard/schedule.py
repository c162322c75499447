"""What is asked next of a guard's items, until it is known whether a server is broken.

A request that failed says nothing about the answers: it counts for no test.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from carrara.guard.guard_file import Guard, Kept
from carrara.guard.sequential import Ratios, Verdict

ROUNDS = 6
"""Times that the items are asked; those that were wrong are not asked again, for they may be wrong for good."""


@dataclass
class Course:
    guard: Guard
    most: int | None = None
    """Prompts."""
    round: int = 0
    prompts: int = 0
    tests: Ratios = field(init=False)
    right: int = 0
    failed: int = 0
    """Requests without an answer."""
    _asked: set[str] = field(default_factory=set[str])
    """In this round."""
    _over: set[str] = field(default_factory=set[str])
    """Items that are not asked again: those that were wrong, and those whose request failed."""
    _of: Counter[str] = field(default_factory=Counter[str])
    """How many of each stratum were asked."""

    def __post_init__(self) -> None:
        self.tests = Ratios(self.guard.rate, self.guard.strata)

    @property
    def verdict(self) -> Verdict:
        return self.tests.verdict

    @property
    def limited(self) -> bool:
        """Whether as many requests were made as are allowed."""
        return self.most is not None and self.prompts + self.failed >= self.most

    def batch(self, size: int) -> Sequence[Kept]:
        """The next ones; none where all is told, or nothing is left to ask.

        Of strata about which it is not known yet the least asked come first; where only all items together are in
        question, the shortest prompts do.
        """
        if self.verdict != "open":
            return []
        if self.most is not None:
            size = min(size, self.most - self.prompts - self.failed)
        left = [one for one in self.guard.items if one.id not in self._asked | self._over]
        if not left and self.round + 1 < ROUNDS:
            self.round += 1
            self._asked = set()
            left = [one for one in self.guard.items if one.id not in self._over]
        open_to, of, found = self.tests.open, self._of.copy(), list[Kept]()

        def first(one: Kept) -> tuple[float, int, str]:
            counts = [of[name] for name in one.strata if name in open_to]
            return min(counts, default=float("inf")), one.length, one.sha256

        while left and len(found) < size:
            best = min(left, key=first)
            left.remove(best)
            found.append(best)
            of.update(best.strata)
        return found

    def add(self, one: Kept, right: bool) -> None:
        self.prompts += 1
        self.right += right
        self._asked.add(one.id)
        self._of.update(one.strata)
        if not right:
            self._over.add(one.id)
        self.tests.add(one.strata, right)

    def fail(self, one: Kept) -> None:
        """Note that an item's request failed."""
        self.failed += 1
        self._of.update(one.strata)
        self._over.add(one.id)
