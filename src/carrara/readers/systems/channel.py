"""The protocol of systems: one JSON object for a request, and one for its reply.

    {"id": 1, "op": "reset"}                                  {"id": 1, "ok": true, "size": true}
    {"id": 2, "op": "add", "text": "…", "number": 0}          {"id": 2, "ok": true}
    {"id": 3, "op": "answer", "question": "…", …}             {"id": 3, "reply": "…", "found": ["…"]}
    {"id": 4, "op": "size"}                                   {"id": 4, "bytes": 1234, "entries": 7}

In place of any reply there may be `{"id": 3, "error": "…"}`. docs/reference/system-protocol.md is for those who write
a system. A channel carries the requests: to a command, an address or the tools of an MCP server.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import anyio

from carrara.readers.systems.program import SystemFaultError
from carrara.util.errors import CarraraError, RunError
from carrara.util.transport import ValueCounter
from carrara.util.unicode import replace_surrogates

VALUES = 20_000
"""The most JSON values of a reply."""
ERROR = 500
"""The most characters of a system's own error that ours shows."""
SHOWN = 80
"""The most characters of a line that an error shows."""

Message = Mapping[str, Any]


class Channel(ABC):
    """A connection to a system that takes one request at a time.

    Args:
        name: The system, as errors name it.
        seconds: The most seconds for a reply.
    """

    reusable = True
    """Whether `reset` empties the system, so that another context can be put to it."""

    def __init__(self, name: str, seconds: int) -> None:
        self.name, self._seconds = name, seconds
        self.requests = 0
        self.is_broken = False
        """Whether the system is in a state that nobody knows."""

    async def request(self, op: str, **fields: Any) -> Message:
        """Return the reply to a request.

        Raises:
            RunError: The system replied with an error.
            SystemFaultError: It broke the protocol, or is gone.
        """
        if self.is_broken:
            raise SystemFaultError(f"{self.name} was stopped in the middle of a request")
        self.requests += 1
        self.is_broken = True
        try:
            with anyio.fail_after(self._seconds):
                reply = await self._exchange({"id": self.requests, "op": op, **fields})
        except TimeoutError:
            raise SystemFaultError(
                f"{self.name} gave no reply to `{op}` within {self._seconds} seconds: give it more by seconds=…"
            ) from None
        except CarraraError as error:
            self.is_broken = isinstance(error, SystemFaultError)
            raise
        self.is_broken = False
        if "error" in reply:
            raise RunError(f"{self.name} replied to `{op}` with an error: {one_line(reply['error'])}")
        return reply

    @abstractmethod
    async def _exchange(self, message: Message) -> Message:
        """Send a request, and return its reply."""

    @abstractmethod
    async def close(self) -> None:
        """Close the connection, and end the program at its end."""


def one_line(text: object) -> str:
    """Return the beginning of a text as one line."""
    return " ".join(str(text)[:ERROR].split())


def parse_reply(name: str, data: bytes, message: Message, place: str = "") -> Message:
    """Return a reply.

    Args:
        name: The system, as errors name it.
        data: The reply, as it was read.
        message: The request.
        place: Where the reply was found, for errors.

    Raises:
        SystemFaultError: It is not the reply to the request.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise SystemFaultError(f"{name} wrote bytes that are not UTF-8: encode replies as UTF-8") from None
    if ValueCounter().add(data) > VALUES:
        raise SystemFaultError(f"{name} wrote a reply of more than {VALUES:,} JSON values: write less")
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):
        reply = None
    if not isinstance(reply, dict):
        line = text.strip()[:SHOWN]
        raise SystemFaultError(f"{name} wrote {line!r}{place}, which is no JSON object: write its logs to stderr")
    id, asked = reply.get("id"), message["id"]
    if id != asked or isinstance(id, bool):
        if isinstance(id, int) and 0 < id < asked:
            raise SystemFaultError(f"{name} replied to request {id} twice: reply to each request once")
        raise SystemFaultError(
            f"{name} replied to request {str(id)[:SHOWN]}, and request {asked} was asked: repeat the id of the request"
        )
    return reply


def text_of(name: str, value: object, field: str) -> str:
    """Return a text of a reply.

    Raises:
        SystemFaultError: It is no text.
    """
    if not isinstance(value, str):
        raise SystemFaultError(f"{name} replied with {type(value).__name__} as `{field}`: reply with a text")
    return replace_surrogates(value)
