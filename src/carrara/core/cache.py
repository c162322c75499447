"""A cache whose entries have sizes of their own: some results are small, and some fill the memory."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import RLock
from typing import Generic, ParamSpec, TypeVar

Args = ParamSpec("Args")
Result = TypeVar("Result")


class WeightedCache(Generic[Args, Result]):
    """Cache the latest results of a function, up to a total weight. The last result is kept whatever it weighs.

    >>> squares = WeightedCache(lambda n: print("computed") or n * n, weigh=lambda n: n, limit=5)
    >>> squares(2), squares(3), squares(2)
    computed
    computed
    (4, 9, 4)
    >>> squares(1), squares(3)
    computed
    computed
    (1, 9)
    """

    def __init__(self, function: Callable[Args, Result], weigh: Callable[Args, int], limit: int) -> None:
        self._function, self._weigh, self._limit = function, weigh, limit
        self._results: OrderedDict[Hashable, tuple[Result, int]] = OrderedDict()
        self._weight = 0
        self._lock = RLock()

    def __call__(self, *args: Args.args, **kwargs: Args.kwargs) -> Result:
        key = (args, *kwargs.items())
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return self._results[key][0]
        result, weight = self._function(*args, **kwargs), self._weigh(*args, **kwargs)
        with self._lock:
            self._weight += weight - self._results.pop(key, (result, 0))[1]
            self._results[key] = result, weight
            while self._weight > self._limit and len(self._results) > 1:
                self._weight -= self._results.popitem(last=False)[1][1]
        return result

    def cache_clear(self) -> None:
        """Forget all results, like `cache_clear` of `functools.cache`."""
        with self._lock:
            self._results.clear()
            self._weight = 0
