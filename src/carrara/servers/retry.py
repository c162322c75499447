"""Failed requests: the kind of a failure, a message that may stand in a log, and whether to make the request again.

    500  {"error": {"message": "internal error"}}   →  failing: "the server answered 500 (internal error)"
    200  <html>…                                     →  garbled: "the server answered with a web page …"
    429  {"error": {"code": "insufficient_quota"}}  →  final: the server would answer the same again

Inspect leaves this to each provider, and most providers treat every failure of a server as temporary.

An item is one request. If the reasoning has an exact length, each piece of the reply is a request. A request that
failed is made again as long as that may help, through an outage of hours. If the server answers other requests
meanwhile, it fails on this one, which is then repeated a few times only.
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
from carrara.util.transport import protocol_error, refusal

Kind = Literal["unreachable", "busy", "down", "failing", "hanging", "garbled", "final"]
"""The kinds of failures: no connection, too many requests, server loading, an error on this request, no reply in time,
an invalid reply, and a final refusal."""

MESSAGE_LENGTH = 300
"""The most characters of a server's message that are quoted."""

_SPENT = re.compile(r"insufficient.?(quota|balance|credit)|exceeded your current quota|billing|out of credits?", re.I)
"""A pattern of limits that waiting does not lift."""

_PAGE = re.compile(r"<(!doctype|html|head|body)\b", re.IGNORECASE)

_NO_REPLY = "non-ChatCompletion"
"""The message of Inspect for JSON that is not a reply."""

_GARBLED = (TypeError, ValueError, LookupError, AttributeError)
"""The exceptions of parsers for an invalid reply. JSON's own errors are ValueErrors."""


class GarbledReplyError(Exception):
    """Raised for a reply with a missing field or a field of a wrong type."""


class ServerError(Exception):
    """Raised for an error that a server sends in place of a reply, with the HTTP status of a success.

    Args:
        status_code: The status that its code names.
    """

    def __init__(self, body: Any, status_code: int) -> None:
        self.body, self.status_code = body, status_code
        super().__init__(message_in(body) or "an error without a message")


class ReplyTimeoutError(Exception):
    """Raised when no reply arrived in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"there was no reply within {duration(seconds)}")


@dataclass(frozen=True)
class RetryTrouble:
    kind: Kind
    words: str
    after: float = 0.0
    """The seconds for which the server asks the client to wait."""


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status of an error, under the names that the clients of providers give it."""
    values = (getattr(error, name, None) for name in ("status_code", "code"))
    return next((status for status in values if isinstance(status, int)), None)


def trouble_of(
    error: Exception, retried: Callable[[Exception], bool | RetryDecision], secrets: Collection[str]
) -> RetryTrouble:
    """Return the outcome of an attempt. The error is shortened already, and contains neither the prompt nor a key.

    `retried` is the provider's own decision: for unknown errors, and for the seconds that the server asks to wait.
    """
    status = status_of(error)
    words = message_of(error)
    match error:
        case ReplyTimeoutError():
            return RetryTrouble("hanging", words)
        case GarbledReplyError():
            return RetryTrouble("garbled", f"the server's reply {words}")
        case RecursionError():
            return RetryTrouble("garbled", "the server's reply is nested too deeply to be read")
    if why := refusal(error, "the server"):
        return RetryTrouble("final", clip(why, secrets))
    if why := protocol_error(error):
        return RetryTrouble("garbled", clip(why, secrets))
    if status is None and "onnect" in type(error).__name__:
        why = clip(str(error.__cause__ or error.__context__ or words), secrets)
        return RetryTrouble("unreachable", f"the server cannot be reached ({why})")
    if status is None and "imeout" in type(error).__name__:
        return RetryTrouble("hanging", f"there was no reply ({words})")
    if status is not None:
        decision = retried(error)
        after = decision.retry_after if isinstance(decision, RetryDecision) else None
        return RetryTrouble(_of_status(status, words), f"the server answered {status} ({words})", after or 0.0)
    if _PAGE.search(str(error)):
        return RetryTrouble("garbled", "the server answered with a web page instead of a reply")
    if isinstance(error, json.JSONDecodeError):
        return RetryTrouble("garbled", "the server's reply is no JSON, or was cut off")
    if isinstance(error, _GARBLED) or type(error).__name__ == "APIResponseValidationError" or _NO_REPLY in str(error):
        return RetryTrouble("garbled", "the server's reply has not the shape that its API gives replies")
    return RetryTrouble("down" if retried(error) else "final", words)


def _of_status(status: int, words: str) -> Kind:
    if status == 429:
        return "final" if _SPENT.search(words) else "busy"
    if status == 500:
        return "failing"
    return "down" if status in (408, 409, 425) or (status > 500 and status not in (501, 505)) else "final"


def message_of(error: Exception) -> str:
    """Return the server's message about an error, or else the error's own, on one line."""
    words = message_in(getattr(error, "body", None)) or str(error) or type(error).__name__
    words = " ".join(words.split())
    return words if len(words) <= MESSAGE_LENGTH else words[:MESSAGE_LENGTH] + "…"


def message_in(body: Any) -> str:
    """Return the message of an error's body, wherever it stands."""
    for _ in range(3):
        if isinstance(body, str):
            return body
        if not isinstance(body, Mapping):
            return ""
        body = next((body[name] for name in ("message", "error", "detail", "msg") if body.get(name)), None)
    return ""


PATIENCE = 6 * 3600
"""Seconds that an item waits for a server to come back before it becomes a result with the status `error`."""

LIMIT = 1800.0
"""The time limit of one request. Slow servers with many parallel requests need a long one."""

MOST: dict[Kind, int] = {"final": 1, "garbled": 3, "hanging": 3, "failing": 20}
"""The most attempts for each kind of failure, whatever the server does otherwise. Other kinds are waited out."""

MOST_ALONE: dict[Kind, int] = {"failing": 6, "down": 30, "unreachable": 30}
"""The most attempts of one item for each kind of failure, if the server has answered other items after each of them."""


@dataclass
class RetryCounts:
    """Counts of all requests of this process."""

    requests: int = 0
    """Requests for items, without the short ones before a run."""
    answers: int = 0
    again: int = 0
    """Requests that repeat a failed one."""


TALLY = RetryCounts()


@dataclass
class Attempts:
    """The attempts of one item."""

    requests: int = 0
    """The requests since its last answer."""
    first_failure: float | None = None
    """The time of the first failure since its last answer."""
    failed: Counter[Kind] = field(default_factory=Counter[Kind])
    """The failures since its last answer, by kind."""
    failed_alone: Counter[Kind] = field(default_factory=Counter[Kind])
    """The failures of this item alone: the server has answered other items since the failure before."""
    answers_then: int = 0
    """The number of answers from the server at the last failure."""
    repeated: int = 0
    """The requests that were sent again after they failed, before and since its last answer."""

    def count_request(self) -> None:
        self.requests += 1
        TALLY.requests += 1

    def count_answer(self) -> int:
        """Count an answer. Return the number of requests that it took."""
        TALLY.answers += 1
        took, self.requests = self.requests, 0
        self.first_failure = None
        self.failed.clear()
        self.failed_alone.clear()
        return took

    def should_repeat(self, trouble: RetryTrouble, patience: float = PATIENCE) -> bool:
        """Return whether to repeat a request after a failed attempt."""
        now, kind = time.monotonic(), trouble.kind
        self.failed[kind] += 1
        if self.first_failure is None:
            self.first_failure = now
        elif TALLY.answers > self.answers_then:
            self.failed_alone[kind] += 1
        self.answers_then = TALLY.answers
        repeats = (
            self.failed[kind] < MOST.get(kind, 1 << 30)
            and self.failed_alone[kind] < MOST_ALONE.get(kind, 1 << 30)
            and now - self.first_failure < patience
        )
        TALLY.again += repeats
        self.repeated += repeats
        return repeats

    def patience_left(self, patience: float = PATIENCE) -> float:
        """Return the seconds that are left to wait for the server, counted from the first failure."""
        return max(0.0, patience - (time.monotonic() - (self.first_failure or time.monotonic())))


_CURRENT: ContextVar[Attempts | None] = ContextVar("attempts", default=None)


@contextmanager
def attempts() -> Iterator[Attempts]:
    """Count the attempts of the item that is asked within the block."""
    item_attempts = Attempts()
    token = _CURRENT.set(item_attempts)
    try:
        yield item_attempts
    finally:
        _CURRENT.reset(token)


@contextmanager
def attempts_within() -> Iterator[None]:
    """Count the attempts of one of several requests for an item, which may run side by side."""
    item = current()
    try:
        with attempts() as own_attempts:
            yield
    except Exception:
        item.failed.update(own_attempts.failed)
        raise
    finally:
        item.requests += own_attempts.requests
        item.repeated += own_attempts.repeated


def current() -> Attempts:
    """Return the attempts of the item that is being asked. Outside of an item, each request has its own."""
    item_attempts = _CURRENT.get()
    if item_attempts is None:
        item_attempts = Attempts()
        _CURRENT.set(item_attempts)
    return item_attempts
