"""Failed requests: of which kind a failure is, in words that may stand in a log, and whether the request is made again.

    500  {"error": {"message": "internal error"}}   →  failing: "the server answered 500 (internal error)"
    200  <html>…                                     →  garbled: "the server answered with a web page …"
    429  {"error": {"code": "insufficient_quota"}}  →  final: asking again would be told the same

Inspect leaves this to each provider, most of which take every failure of a server for one that passes.

An item is one request; the pieces of a reply whose reasoning is held to a length are one each. A request that failed is
made again as long as that may help: through an outage of hours, but a few times only where it is this request that the
server fails on, which shows when it answers others meanwhile.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

from inspect_ai.model import RetryDecision

from carrara.servers.redact import clip
from carrara.util.quantities import duration
from carrara.util.transport import malformed, refused

Kind = Literal["unreachable", "busy", "down", "failing", "hanging", "garbled", "final"]
"""Nobody answers; too many requests; the server is away or loading; it fails on this request; it says nothing; it says
what is no reply; it has refused for good."""

MESSAGE_LENGTH = 300
"""Characters of a server's own words that are repeated."""

_SPENT = re.compile(r"insufficient.?(quota|balance|credit)|exceeded your current quota|billing|out of credits?", re.I)
"""A limit that no waiting lifts."""

_PAGE = re.compile(r"<(!doctype|html|head|body)\b", re.IGNORECASE)

_NO_REPLY = "non-ChatCompletion"
"""What Inspect says of JSON that is no reply."""

_GARBLED = (TypeError, ValueError, LookupError, AttributeError)
"""What readers of replies raise for a reply that has not the shape of its API; JSON's own errors are ValueErrors."""


class GarbledReplyError(Exception):
    """Raised for a reply in which something is missing or of another kind."""


class ReplyTimeoutError(Exception):
    """Raised when there was no reply in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"there was no reply within {duration(seconds)}")


@dataclass(frozen=True)
class Trouble:
    kind: Kind
    words: str
    after: float = 0.0
    """Seconds for which the server asks to be left alone."""

    @property
    def limited(self) -> bool:
        """Whether it is the server that wants fewer requests at a time."""
        return self.kind == "busy"


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status of an error, under the names that the clients of providers give it."""
    found = (getattr(error, name, None) for name in ("status_code", "code"))
    return next((status for status in found if isinstance(status, int)), None)


def trouble_of(
    error: Exception, retried: Callable[[Exception], bool | RetryDecision], secrets: Collection[str]
) -> Trouble:
    """Return what became of an attempt. The error is clipped already: it holds nothing of the prompt, and no key.

    `retried` is the provider's own decision: for errors that nobody else knows, and how long the server asks to wait.
    """
    status = status_of(error)
    words = message_of(error)
    match error:
        case ReplyTimeoutError():
            return Trouble("hanging", words)
        case GarbledReplyError():
            return Trouble("garbled", f"the server's reply {words}")
    if why := refused(error, "the server"):
        return Trouble("final", clip(why, secrets))
    if why := malformed(error):
        return Trouble("garbled", clip(why, secrets))
    if status is None and "onnect" in type(error).__name__:
        why = clip(str(error.__cause__ or error.__context__ or words), secrets)
        return Trouble("unreachable", f"the server cannot be reached ({why})")
    if status is None and "imeout" in type(error).__name__:
        return Trouble("hanging", f"there was no reply ({words})")
    if status is not None:
        decision = retried(error)
        after = decision.retry_after if isinstance(decision, RetryDecision) else None
        return Trouble(_of_status(status, words), f"the server answered {status} ({words})", after or 0.0)
    if _PAGE.search(str(error)):
        return Trouble("garbled", "the server answered with a web page instead of a reply")
    if isinstance(error, json.JSONDecodeError):
        return Trouble("garbled", "the server's reply is no JSON, or was cut off")
    if isinstance(error, _GARBLED) or type(error).__name__ == "APIResponseValidationError" or _NO_REPLY in str(error):
        return Trouble("garbled", "the server's reply has not the shape that its API gives replies")
    return Trouble("down" if retried(error) else "final", words)


def _of_status(status: int, words: str) -> Kind:
    if status == 429:
        return "final" if _SPENT.search(words) else "busy"
    if status == 500:
        return "failing"
    return "down" if status in (408, 409, 425) or (status > 500 and status not in (501, 505)) else "final"


def message_of(error: Exception) -> str:
    """Return the server's own words about an error, or else the error's, on one line."""
    words = _message(getattr(error, "body", None)) or str(error) or type(error).__name__
    words = " ".join(words.split())
    return words if len(words) <= MESSAGE_LENGTH else words[:MESSAGE_LENGTH] + "…"


def _message(body: Any) -> str:
    """The message of an error's body, wherever it is kept."""
    for _ in range(3):
        if isinstance(body, str):
            return body
        if not isinstance(body, Mapping):
            return ""
        body = next((body[name] for name in ("message", "error", "detail", "msg") if body.get(name)), None)
    return ""


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
