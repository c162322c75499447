"""The times of a reply: when its bytes arrived, by a clock that the script of the bytes moves."""

import json
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from inspect_ai.model import ModelOutput, ModelUsage

from carrara.results.result import Speed
from carrara.servers.speed import Stopwatch
from carrara.util.transport import OBSERVER, limit_client

HTTP: Any = [httpx, httpx2]
EVENTS = {"Content-Type": "text/event-stream; charset=utf-8"}

Script = Sequence[tuple[float, bytes]]
"""The seconds that pass before each part of a reply arrives, and the part."""


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def event(**delta: Any) -> bytes:
    choice = {"index": 0, "delta": {}, "finish_reason": None} | delta
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


def piece(text: str) -> bytes:
    return event(delta={"content": text})


ROLE = event(delta={"role": "assistant", "content": ""})
END = event(finish_reason="stop")
USAGE = b'data: {"choices": [], "usage": {"completion_tokens": 5}}\n\ndata: [DONE]\n\n'
STREAM: Script = [(0.5, ROLE), (2.5, piece("a")), (0.25, piece("b")), (0.25, piece("c")), (0.5, END), (9.0, USAGE)]


def timed(
    script: Script,
    http: Any = httpx2,
    slowness: float = 0.0,
    headers: Any = EVENTS,
    again: bool = False,
    is_sync: bool = False,
) -> Any:
    """The stopwatch of a request whose reply arrives by a script, to a client that takes its time for each part."""
    clock = Clock()
    stopwatch = Stopwatch(clock)

    class Stream(http.SyncByteStream, http.AsyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            for seconds, part in script:
                clock.now += seconds
                yield part

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for part in self:
                yield part

    def answer(request: Any) -> Any:
        return http.Response(200, headers=headers, stream=Stream())

    async def ask() -> None:
        async with http.AsyncClient(transport=http.MockTransport(answer)) as client:
            limit_client(client)
            for _ in range(1 + again):
                async with client.stream("POST", "http://here/v1", json={}) as response:
                    async for _ in response.aiter_raw():
                        clock.now += slowness

    def ask_sync() -> None:
        with http.Client(transport=http.MockTransport(answer)) as client:
            limit_client(client)
            with client.stream("POST", "http://here/v1", json={}) as response:
                for _ in response.iter_raw():
                    clock.now += slowness

    token = OBSERVER.set(stopwatch)
    try:
        if is_sync:
            ask_sync()
        else:
            anyio.run(ask)
    finally:
        OBSERVER.reset(token)
    return stopwatch


def output(tokens: int = 5, **usage: int) -> ModelOutput:
    counted = ModelOutput.from_content("m", "abc")
    counted.usage = ModelUsage(input_tokens=60, output_tokens=tokens, **usage)
    return counted


@pytest.mark.parametrize("http", HTTP)
@pytest.mark.parametrize("again", [False, True])
def test_times_of_a_stream(http: Any, again: bool) -> None:
    """Neither the first event without text nor the last one with counts is a piece; a second request counts alone."""
    speed = timed(STREAM, http, again=again).speed(output(input_tokens_cache_read=40))
    assert speed == Speed(3.0, 1.0, prompt_tokens=100, cached_tokens=40, reply_tokens=5)


@pytest.mark.parametrize("http", HTTP)
def test_times_of_a_synchronous_client(http: Any) -> None:
    assert timed(STREAM, http, is_sync=True).speed(output()) == Speed(3.0, 1.0, prompt_tokens=60, reply_tokens=5)


@pytest.mark.parametrize("slowness", [0.0, 0.001])
def test_a_client_that_keeps_up_changes_nothing_but_its_own_seconds(slowness: float) -> None:
    speed = timed(STREAM, slowness=slowness).speed(output())
    assert speed.first_token_seconds == pytest.approx(3.0, abs=0.01)
    assert speed.decode_seconds == pytest.approx(1.0, abs=0.01)


def test_comments_that_keep_a_connection_are_no_pieces() -> None:
    silent = [(1.0, b": OPENROUTER PROCESSING\n\n"), (1.0, b": ping\n\n"), (1.0, b"event: ping\ndata: {}\n\n")]
    assert timed([*silent, *STREAM]).speed(output()).first_token_seconds == 6.0


@pytest.mark.parametrize(
    ("script", "slowness"),
    [
        ([(4.0, ROLE + piece("a") + piece("b") + piece("c") + END)], 0.0),
        ([(4.0, ROLE), (0.0, piece("a")), (0.0, piece("b")), (0.0, END)], 0.0),
        ([(4.0, ROLE), (0.0, piece("a")), (0.0, piece("b")), (0.0, END)], 0.5),  # the client's own time is no stream
        ([(0.1, ROLE), (4.0, piece("a b c")), (0.0, END)], 0.1),
        ([(0.1, ROLE), (4.0, piece("a b c"))], 0.1),
    ],
)
def test_a_reply_that_comes_at_once_has_no_time_to_the_first_token(script: Script, slowness: float) -> None:
    stopwatch = timed(script, slowness=slowness)
    assert stopwatch.has_pieces
    assert stopwatch.speed(output()) == Speed(prompt_tokens=60, reply_tokens=5)


def test_a_reply_without_a_piece_has_no_first_token() -> None:
    stopwatch = timed([(1.0, ROLE), (2.0, END), (1.0, USAGE)])
    assert not stopwatch.has_pieces
    assert not stopwatch.speed(output(tokens=1)).is_streamed


def test_one_word_may_come_at_once() -> None:
    speed = timed([(0.5, ROLE), (3.0, piece("a") + END)]).speed(output(tokens=2))
    assert (speed.first_token_seconds, speed.decode_seconds) == (3.5, 0.0)


@pytest.mark.parametrize("body", [b'{"choices": [{"message": {"content": "a b c"}}]}', STREAM[1][1]])
def test_a_reply_that_is_no_stream_has_no_time_to_the_first_token(body: bytes) -> None:
    stopwatch = timed([(3.0, body), (1.0, b"\n")], headers={"Content-Type": "application/json"})
    assert not stopwatch.has_pieces
    assert stopwatch.speed(output()) == Speed(prompt_tokens=60, reply_tokens=5)


@pytest.mark.parametrize("http", HTTP)
def test_compressed_streams(http: Any) -> None:
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    packed = [(after, packer.compress(part) + packer.flush(zlib.Z_SYNC_FLUSH)) for after, part in STREAM]
    speed = timed(packed, http, headers={**EVENTS, "Content-Encoding": "gzip"}).speed(output())
    assert (speed.first_token_seconds, speed.decode_seconds) == (3.0, 1.0)


def test_a_proxy_that_collects_the_compressed_stream() -> None:
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    packed = [(after, packer.compress(part)) for after, part in STREAM] + [(0.0, packer.flush())]
    stopwatch = timed(packed, headers={**EVENTS, "Content-Encoding": "gzip"})
    assert stopwatch.speed(output()).first_token_seconds is None


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("cut", [1, 9, 40])
def test_events_that_are_cut_anywhere(end: bytes, cut: int) -> None:
    script = []
    for after, part in STREAM:
        whole = part.replace(b"\n", end)
        script += [(0.0, whole[:cut]), (after, whole[cut:])]
    speed = timed(script).speed(output())
    assert (speed.first_token_seconds, speed.decode_seconds) == (3.0, 1.0)


@pytest.mark.parametrize(
    ("before", "first"),
    [
        (ROLE, event(delta={"reasoning_content": "So"})),
        (ROLE, event(delta={"tool_calls": [{"index": 0, "function": {"name": "look", "arguments": ""}}]})),
        (event(text="", logprobs={"content": [{"token": "a"}]}), event(text="a")),
        (
            b'data: {"type": "message_start", "message": {"content": [], "stop_reason": null, "role": "assistant"}}\n\n'
            b'data: {"type": "content_block_start", "content_block": {"type": "text", "text": ""}}\n\n',
            b'data: {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "a"}}\n\n',
        ),
        (
            b'data: {"type": "response.created", "response": {"output": [], "text": {"format": {"type": "text"}}}}\n\n',
            b'data: {"type": "response.output_text.delta", "delta": "a"}\n\n',
        ),
        (b'data: {"usageMetadata": {}}\n\n', b'data: {"candidates": [{"content": {"parts": [{"text": "a"}]}}]}\n\n'),
    ],
)
def test_the_first_piece_of_each_api(before: bytes, first: bytes) -> None:
    speed = timed([(1.0, before), (2.0, first), (1.0, piece("b")), (0.5, END)]).speed(output())
    assert (speed.first_token_seconds, speed.decode_seconds) == (3.0, 1.5)


def test_hidden_reasoning_is_no_time_to_the_first_token() -> None:
    assert timed(STREAM).speed(output(reasoning_tokens=4)).first_token_seconds is None
    shown = [(1.0, event(delta={"reasoning_content": "So"})), *STREAM]
    assert timed(shown).speed(output(reasoning_tokens=4)).first_token_seconds == 1.0


def test_without_counts_there_are_times_and_no_tokens() -> None:
    speed = timed(STREAM).speed(ModelOutput.from_content("m", "abc"))
    assert speed == Speed(3.0, 1.0)


@pytest.mark.parametrize("noise", [b"data: {\n\n", b"data: [[[[\n\n", b"data: 7\n\n", b"data:\n\n", b"\xff\xfe\n\n"])
def test_events_that_cannot_be_read_are_left_to_the_client(noise: bytes) -> None:
    assert timed([(0.5, noise), *STREAM]).speed(output()).first_token_seconds == 3.5


def test_no_request_has_no_times() -> None:
    assert Stopwatch(Clock()).speed(output()) is None


def test_times_of_llama_cpp_in_this_process() -> None:
    stopwatch = Stopwatch(Clock())
    timings = {"cache_n": 40, "prompt_n": 60, "prompt_ms": 1500.0, "predicted_n": 5, "predicted_ms": 500.0}
    stopwatch.timings = timings
    assert stopwatch.speed(output()) == Speed(1.5, 0.5, prompt_tokens=100, cached_tokens=40, reply_tokens=5)
