"""The requests that one item takes, and when enough have been made: nothing is asked again that cannot get better.

An item is one request; the pieces of a reply whose reasoning is held to a length are one each. A request that failed is
made again as long as that may help: through an outage of hours, but a few times only where it is this request that the
server fails on, which shows when it answers others meanwhile.
"""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from carrara.servers.api_errors import Kind, Trouble

PATIENCE = 6 * 3600
"""Seconds that one item may wait for a server to come back before it becomes an error row."""

LIMIT = 1800.0
"""Seconds that one request may take; slow servers that are asked much at a time need many of them."""

MOST: dict[Kind, int] = {"final": 1, "garbled": 3, "hanging": 3, "failing": 20}
"""Attempts that may fail in a way, whatever the server does otherwise; ways that are not here are waited out."""

OWN: dict[Kind, int] = {"failing": 6, "down": 30, "unreachable": 30}
"""Attempts of one item that may fail in a way after each of which the server has answered others."""


@dataclass
class Tally:
    """Of all requests of this process."""

    requests: int = 0
    """Sent for items; the small ones before a run are no part of it."""
    answers: int = 0
    again: int = 0
    """Requests that were to be made once more."""


TALLY = Tally()


@dataclass
class Attempts:
    """Of one item."""

    requests: int = 0
    """Since its last answer."""
    first_failure: float | None = None
    failed: Counter[Kind] = field(default_factory=Counter[Kind])
    own: Counter[Kind] = field(default_factory=Counter[Kind])
    answers_then: int = 0
    """What the server had answered at the last failure."""

    def sent(self) -> None:
        self.requests += 1
        TALLY.requests += 1

    def answered(self) -> int:
        """How many requests the answer took."""
        TALLY.answers += 1
        took, self.requests = self.requests, 0
        self.first_failure = None
        self.failed.clear()
        self.own.clear()
        return took

    def again(self, trouble: Trouble, patience: float = PATIENCE) -> bool:
        """Whether to ask once more after an attempt that failed."""
        now, kind = time.monotonic(), trouble.kind
        self.failed[kind] += 1
        if self.first_failure is None:
            self.first_failure = now
        elif TALLY.answers > self.answers_then:
            self.own[kind] += 1
        self.answers_then = TALLY.answers
        worth = (
            self.failed[kind] < MOST.get(kind, 1 << 30)
            and self.own[kind] < OWN.get(kind, 1 << 30)
            and now - self.first_failure < patience
        )
        TALLY.again += worth
        return worth


_CURRENT: ContextVar[Attempts | None] = ContextVar("attempts", default=None)


@contextmanager
def attempts() -> Iterator[Attempts]:
    """Of the item that is asked within."""
    own = Attempts()
    token = _CURRENT.set(own)
    try:
        yield own
    finally:
        _CURRENT.reset(token)


def current() -> Attempts:
    """Of the item that is being asked. Who asks without having said for what has one tally until it is answered."""
    own = _CURRENT.get()
    if own is None:
        own = Attempts()
        _CURRENT.set(own)
    return own
