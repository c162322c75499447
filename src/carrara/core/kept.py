"""What was made last, kept while it weighs no more than is allowed: some things are small, and some fill a memory."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import RLock
from typing import Generic, ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")


class Kept(Generic[Given, Made]):
    """
    >>> squares = Kept(lambda n: print("made") or n * n, weigh=lambda n: n, most=5)
    >>> squares(2), squares(3), squares(2)
    made
    made
    (4, 9, 4)
    >>> squares(1), squares(3)
    made
    made
    (1, 9)
    """

    def __init__(self, make: Callable[Given, Made], weigh: Callable[Given, int], most: int) -> None:
        self._make, self._weigh, self._most = make, weigh, most
        self._made: OrderedDict[Hashable, tuple[Made, int]] = OrderedDict()
        self._weight = 0
        self._lock = RLock()

    def __call__(self, *given: Given.args, **named: Given.kwargs) -> Made:
        key = (given, *named.items())
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key][0]
        made, weight = self._make(*given, **named), self._weigh(*given, **named)
        with self._lock:
            self._weight += weight - self._made.pop(key, (made, 0))[1]
            self._made[key] = made, weight
            while self._weight > self._most and len(self._made) > 1:  # the last one stays, whatever it weighs
                self._weight -= self._made.popitem(last=False)[1][1]
        return made

    def cache_clear(self) -> None:
        """Forget all: as that of `functools.cache` is named."""
        with self._lock:
            self._made.clear()
            self._weight = 0
