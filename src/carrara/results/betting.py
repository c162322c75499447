"""A sequential test and a confidence interval for a mean difference. Both stay valid however often one looks.

The data are differences in [-1, 1], one for each instance. To test "the mean is at most m", a gambler bets on each
difference before it is known. The bets are fair or worse if the mean is at most m, so his wealth is then above
1 / alpha at some time with a probability of at most alpha (Ville's inequality). This holds for any number of instances
and any spread, and for any rule of when to stop (Waudby-Smith and Ramdas, 2024).

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
from collections.abc import Iterable, Sequence

BETS = ((0.97, 0.4), (0.6, 0.2), (0.3, 0.15), (0.15, 0.15), (0.07, 0.1))
"""The sizes of the bets, as shares of the largest possible one, and the share of the wealth for each."""
STEPS = 14
"""The number of halvings of an interval's ends: they are exact to 0.0002."""


class BettingTest:
    """A sequential test of whether a mean is above a bound, or below it.

    Args:
        bound: The bound, in (-1, 1).
        above: Whether to show that the mean is above the bound. Otherwise: that it is below.
    """

    def __init__(self, bound: float, *, above: bool) -> None:
        self.bound, self.sign = bound, 1 if above else -1
        self.evidence = 1.0
        """The greatest wealth at a look. At least 1 / alpha: the mean is above (or below) the bound."""
        self._bets = [share / (1 + self.sign * bound) for share, _ in BETS]
        self._wealth = [part for _, part in BETS]

    def add(self, difference: float) -> None:
        """Count a difference."""
        gain = self.sign * (difference - self.bound)
        self._wealth = [wealth * (1 + bet * gain) for wealth, bet in zip(self._wealth, self._bets, strict=True)]

    def look(self) -> None:
        """Let the differences so far count as evidence."""
        self.evidence = max(self.evidence, math.fsum(self._wealth))


def interval(turns: Iterable[Sequence[float]], alpha: float) -> tuple[float, float]:
    """Return an interval for the mean. It is wrong with a probability of at most `alpha` at each of its ends.

    It holds every bound that the tests do not reject, so it agrees with them.

    Args:
        turns: The differences of each turn. Each turn ends with a look.
        alpha: The error rate of each end.

    >>> [round(end, 2) for end in interval([[0.0]] * 76, 0.05)]
    [-0.05, 0.05]
    """
    kept = list(turns)

    def shows(bound: float, *, above: bool) -> bool:
        test = BettingTest(bound, above=above)
        for turn in kept:
            for difference in turn:
                test.add(difference)
            test.look()
        return test.evidence >= 1 / alpha

    ends = list[float]()
    for above, outside in ((True, -1.0), (False, 1.0)):
        inside = -outside
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
