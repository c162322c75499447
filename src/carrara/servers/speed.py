"""The times of a reply, taken where its bytes arrive.

    request sent ── first piece of the reply ── … ── last piece, or the reason of its end
         └── first_token_seconds ──┘└───── decode_seconds ─────┘

An observer of the HTTP transport (util/transport.py) reads the events of a streamed reply beside the client, whichever
provider it belongs to. A piece is text, reasoning or a call of a tool. The first event of many servers has none of
these, and comments that keep a connection open have none either.

Some servers and proxies collect a reply, and send its events at once. The client then never waits between the first
event and the last one. Such a reply has no time to the first token. Neither has one whose reasoning is counted and not
sent.

A model on llama.cpp in this process sends no bytes; llama.cpp's own times count there.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage

from carrara.results.result import Speed
from carrara.util.transport import OBSERVER

FEW_TOKENS = 2
"""The most tokens of a reply that may arrive at once: a word, and the end of the reply."""

_TEXTS = frozenset({"content", "text", "delta", "arguments", "partial_json", "refusal"})
_REASONING = frozenset({"reasoning", "reasoning_content", "thinking"})
_ENDS = frozenset({"finish_reason", "finishReason", "stop_reason"})
_LINE_END = re.compile(rb"\r\n|\n|\r")
_SWITCHES = ("stream", "streaming")
"""The names that Inspect's providers give the setting whether they request streams."""


def set_streaming(api: ModelAPI, value: bool) -> bool:
    """Have a provider request its replies as streams, or whole. Return whether it has such a setting."""
    switches = [name for name in _SWITCHES if hasattr(api, name)]
    for name in switches:
        setattr(api, name, value)
    return bool(switches)


@dataclass
class _Times:
    """The moments of one request, and what its reply has."""

    began: float
    first: float | None = None
    """The moment of the first piece."""
    last: float = 0.0
    waited: float = 0.0
    """The seconds between the first piece and the last one in which the client waited for bytes."""
    has_reasoning: bool = False


class Stopwatch:
    """The times of a request, as an observer of its transport. If a provider sends several, those of the last one.

    Args:
        clock: Returns the seconds since any moment.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._times: _Times | None = None
        self._is_stream = False
        self._resumed = self._waiting = 0.0
        self._line: list[bytes] = []
        """The parts of a line that has not ended."""
        self.timings: Mapping[str, Any] | None = None
        """The times of llama.cpp in this process, if it made the reply."""

    @property
    def has_pieces(self) -> bool:
        """Whether the reply arrived as a stream of events with pieces of a reply."""
        return self._times is not None and self._times.first is not None

    def begin(self) -> None:
        self._resumed, self._waiting = self._clock(), 0.0
        self._times, self._is_stream, self._line = _Times(self._resumed), False, []

    def open(self, is_stream: bool) -> None:
        self._is_stream = is_stream

    def receive(self, part: bytes) -> None:
        now = self._clock()
        self._waiting += now - self._resumed
        if not self._is_stream or self._times is None:
            return
        for event in self._events(part):
            signs = _signs(event)
            self._times.has_reasoning |= "reasoning" in signs
            if self._times.first is None and signs & {"text", "reasoning"}:
                self._times.first, self._waiting = now, 0.0
            if signs:
                self._times.last, self._times.waited = now, self._waiting

    def resume(self) -> None:
        self._resumed = self._clock()

    def _events(self, part: bytes) -> Iterator[Any]:
        """Yield the JSON values of the lines of data that end in a part of the stream."""
        self._line.append(part)
        if b"\n" not in part and b"\r" not in part:
            return
        *lines, rest = _LINE_END.split(b"".join(self._line))
        self._line = [rest]
        for line in lines:
            if line.startswith(b"data:"):
                try:
                    yield json.loads(line[5:])
                except (ValueError, RecursionError):  # such as `[DONE]`; the client reports what is wrong
                    continue

    def speed(self, output: ModelOutput) -> Speed | None:
        """Return the times of the reply that was read from these bytes. None if no times were taken."""
        if self.timings is not None:
            return _speed_of_timings(self.timings)
        if self._times is None:
            return None
        usage = output.usage or ModelUsage()
        cached = usage.input_tokens_cache_read
        prompt = usage.input_tokens + (cached or 0) + (usage.input_tokens_cache_write or 0)
        speed = Speed(prompt_tokens=prompt or None, cached_tokens=cached, reply_tokens=usage.output_tokens or None)
        hides_reasoning = bool(usage.reasoning_tokens) and not self._times.has_reasoning
        first, last = self._times.first, self._times.last
        if first is None or hides_reasoning or self._came_at_once(speed.reply_tokens):
            return speed
        return replace(speed, first_token_seconds=first - self._times.began, decode_seconds=last - first)

    def _came_at_once(self, tokens: int | None) -> bool:
        """Return whether the client mostly did not wait between the first piece and the last one."""
        times = self._times
        if times is None or times.first is None or (tokens is not None and tokens <= FEW_TOKENS):
            return False
        return times.last == times.first or 2 * times.waited < times.last - times.first


def _signs(event: Any) -> set[str]:
    """Return what an event of a stream has: `text` of the reply or a call of a tool, `reasoning`, and `end`.

    The names are those of the APIs of OpenAI, Anthropic and Google.

    >>> sorted(_signs({"choices": [{"delta": {"reasoning_content": "So"}, "finish_reason": None}]}))
    ['reasoning']
    >>> _signs({"choices": [{"delta": {"role": "assistant", "content": ""}, "finish_reason": None}]})
    set()
    """
    signs, values = set[str](), [event]
    while values:
        value = values.pop()
        if isinstance(value, list):
            values += value
        for name, inner in value.items() if isinstance(value, dict) else ():
            if name == "tool_calls" and inner:
                signs.add("text")
            if not isinstance(inner, str):
                values.append(inner)
            elif inner:
                kinds = (("text", _TEXTS), ("reasoning", _REASONING), ("end", _ENDS))
                signs.update(sign for sign, names in kinds if name in names)
    return signs


def _speed_of_timings(timings: Mapping[str, Any]) -> Speed:
    """Return llama.cpp's own times of a reply. Its time of the reply begins with the first token."""
    read, cached = int(timings["prompt_n"]), int(timings.get("cache_n", 0))
    return Speed(
        timings["prompt_ms"] / 1e3, timings["predicted_ms"] / 1e3, read + cached, cached, int(timings["predicted_n"])
    )


@contextmanager
def timing(wanted: bool = True) -> Iterator[Stopwatch | None]:
    """Take the times of the request that is made within the block, if they are wanted."""
    stopwatch = Stopwatch() if wanted else None
    token = OBSERVER.set(stopwatch)
    try:
        yield stopwatch
    finally:
        OBSERVER.reset(token)


def current() -> Stopwatch | None:
    """Return the stopwatch of the request that is being made. None if no times are taken."""
    observer = OBSERVER.get()
    return observer if isinstance(observer, Stopwatch) else None
