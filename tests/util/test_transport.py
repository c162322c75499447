"""What a server may not do to an HTTP client: send a prompt on to another server, or reply without an end."""

import gzip
import json
import ssl
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import ChatMessageUser, GenerateConfig

from carrara import tokenizers
from carrara.readers.retrieval import embedders
from carrara.readers.retrieval.endpoint import Endpoint
from carrara.servers.probe import check_server
from carrara.servers.providers import make_model, prepare_client
from carrara.servers.retry import trouble_of
from carrara.util.errors import RunError
from carrara.util.transport import (
    EventCounter,
    PackingError,
    RedirectError,
    ReplyLimit,
    ReplyTooLargeError,
    ValueCounter,
    limit_client,
    protocol_error,
)
from tests.helpers.server import Address
from tests.helpers.tls import certificate, secured

HTTP: Any = [httpx, httpx2]
Answer = Callable[[Any], Any]


SMALL = ReplyLimit(1 << 20, 1000)


def asked(http: Any, answer: Answer, limit: ReplyLimit = SMALL, url: str = "http://here/v1") -> bytes:
    """What a client with limits reads of an answer, in both ways of asking, which agree."""
    with http.Client(transport=http.MockTransport(answer), follow_redirects=True) as client:
        limit_client(client, limit)
        limit_client(client, limit)  # which changes nothing
        once: bytes = client.post(url, json="the prompt").content

    async def post() -> bytes:
        async with http.AsyncClient(transport=http.MockTransport(answer), follow_redirects=True) as client:
            limit_client(client, limit)
            content: bytes = (await client.post(url, json="the prompt")).content
            return content

    assert anyio.run(post) == once
    return once


def stream(http: Any, parts: list[bytes]) -> Any:
    """The body of an answer that comes in parts."""

    class Stream(http.SyncByteStream, http.AsyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            return iter(parts)

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for part in parts:
                yield part

    return Stream()


def answered(response: Callable[[], Any], request: Any) -> Any:
    return response()


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKED: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("", bytes),
    ("gzip", gzip.compress),
    ("deflate", zlib.compress),
    ("Deflate", deflated),
]


@pytest.mark.parametrize("http", HTTP)
@pytest.mark.parametrize(("name", "pack"), PACKED)
def test_a_reply_is_unpacked_up_to_the_limit(http: Any, name: str, pack: Callable[[bytes], bytes]) -> None:
    headers = {"Content-Encoding": name} if name else {}
    for text in (b"", b"yes", b"x" * (1 << 20), bytes(range(256)) * 200):
        packed = pack(text)
        body = stream(http, [packed[:1], packed[1:5], packed[5:]])
        response = partial(http.Response, 200, headers=headers, stream=body)
        assert asked(http, partial(answered, response)) == text
    with pytest.raises(ReplyTooLargeError, match="larger than 1 MB, which is the limit"):
        asked(http, lambda request: http.Response(200, headers=headers, stream=http.ByteStream(pack(b"x" * 1_048_577))))


def values_of(value: Any) -> int:
    """Count the lists and objects of a JSON value, and what they hold beside the first of each."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(0, len(inner) - 1) + sum(map(values_of, inner))


TEXTS = st.text(st.sampled_from('a"\\,[{é\n'), max_size=8)
VALUES = st.recursive(
    st.none() | st.integers() | TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=20
)


@given(VALUES, st.lists(st.integers(1, 6)), st.booleans())
def test_values_are_counted_in_any_parts(value: Any, sizes: list[int], is_ascii: bool) -> None:
    counter, left = ValueCounter(), json.dumps(value, ensure_ascii=is_ascii).encode()
    for size in sizes:
        counter.add(left[:size])
        left = left[size:]
    assert counter.add(left) == values_of(value)


@pytest.mark.parametrize("http", HTTP)
def test_a_reply_of_many_values_is_refused_before_they_are_objects(http: Any) -> None:
    text = json.dumps([", { [" * 1000, *([{}] * 400)]).encode()
    assert asked(http, lambda _: http.Response(200, stream=http.ByteStream(text))) == text
    with pytest.raises(ReplyTooLargeError, match="larger than 1,000 JSON values, which is the limit"):
        asked(http, lambda _: http.Response(200, stream=http.ByteStream(b"[" + b"{}," * 600 + b"0]")))
    events = {"Content-Type": "text/event-stream; charset=utf-8"}
    asked(http, lambda _: http.Response(200, headers=events, stream=http.ByteStream(b"data: {}\n\n" * 2000)))
    long = b"data: {}\n\n" + b"data: [" + b"{},\ndata: " * 600 + b"0]\n\n"
    for kind in ("text/event-stream", "text/event-stream+json"):  # the latter is JSON for clients
        response = partial(http.Response, 200, headers={"Content-Type": kind}, stream=http.ByteStream(long))
        with pytest.raises(ReplyTooLargeError, match="larger than 1,000 JSON values, which is the limit"):
            asked(http, partial(answered, response))


@pytest.mark.slow
@given(st.lists(VALUES, min_size=1), st.sampled_from([b"\n", b"\r\n", b"\r"]), st.lists(st.integers(1, 6)))
def test_values_of_events_are_counted_in_any_parts(values: list[Any], end: bytes, sizes: list[int]) -> None:
    counter, left = EventCounter(), b"".join(b"data: " + json.dumps(one).encode() + 2 * end for one in values)
    counts = [0]
    for size in sizes:
        counts.append(counter.add(left[:size]))
        left = left[size:]
    assert max(*counts, counter.add(left)) == max(map(values_of, values))


@pytest.mark.parametrize("http", HTTP)
def test_a_bomb_takes_no_memory(http: Any) -> None:
    packed = gzip.compress(b" " * (100 << 20), 1)
    tracemalloc.start()
    with pytest.raises(ReplyTooLargeError):
        asked(http, lambda _: http.Response(200, headers={"Content-Encoding": "gzip"}, stream=http.ByteStream(packed)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20


@pytest.mark.parametrize("http", HTTP)
@pytest.mark.parametrize("name", ["br", "zstd", "gzip, gzip", "gzip"])
def test_what_was_not_asked_for_is_not_unpacked(http: Any, name: str) -> None:
    with pytest.raises(PackingError, match="packed as" if name != "gzip" else "cannot be unpacked"):
        asked(http, lambda _: http.Response(200, headers={"Content-Encoding": name}, stream=http.ByteStream(b"xyz")))


@pytest.mark.parametrize("http", HTTP)
@pytest.mark.parametrize("status", [302, 308])
@pytest.mark.parametrize(
    ("target", "named"),
    [
        ("http://there/v1", "http://there"),
        ("//there:80/v1", "http://there"),
        ("https://here/v1", "https://here"),
        ("http://me:word@there/v1?key=word", "http://there"),
    ],
)
def test_a_prompt_is_not_sent_on_to_another_server(http: Any, status: int, target: str, named: str) -> None:
    seen = []

    def answer(request: Any) -> Any:
        seen.append(str(request.url))
        return http.Response(status, headers={"Location": target})

    with pytest.raises(RedirectError) as refused:
        asked(http, answer)
    assert str(refused.value).startswith(f"http://here redirects to {named}: ")
    assert seen == ["http://here/v1"]


@pytest.mark.parametrize("http", HTTP)
@pytest.mark.parametrize("target", ["/v1/", "http://HERE:80/v1/", "?x=1", "//here/v1/"])
def test_a_redirect_within_a_server_is_followed(http: Any, target: str) -> None:
    def answer(request: Any) -> Any:
        if str(request.url) == "http://here/v1":
            return http.Response(307, headers={"Location": target})
        return http.Response(200, content=request.read())

    assert asked(http, answer) == b'"the prompt"'


@pytest.mark.slow
def test_a_second_client_of_a_provider_has_the_limits_too(server: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_API_KEY", "sk-not-a-key")
    api = make_model("openai-api/test/bomb", server.base_url, {}).api

    async def ask() -> None:
        await api.generate([ChatMessageUser(content="a")], [], "none", GenerateConfig())

    for _ in range(2):
        api.initialize()
        prepare_client(api)
        prepare_client(api)  # which changes nothing
        with pytest.raises(ReplyTooLargeError):
            anyio.run(ask)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("illegal status line: bytearray(b'HELLO')", "the server's reply is not HTTP (illegal status line)"),
        ("Receive buffer too long", "the headers of the server's reply are larger than 100 KB"),
        ("peer closed connection without sending complete message body (received 5 bytes, expected 9)", ""),
    ],
)
def test_an_answer_that_is_not_http_is_told_from_an_outage(words: str, said: str) -> None:
    for http in HTTP:
        error = ConnectionError("Connection error.")
        error.__cause__ = http.RemoteProtocolError(words)
        assert protocol_error(error) == said
        assert trouble_of(error, lambda error: True, ()).kind == ("garbled" if said else "unreachable")
    assert protocol_error(httpx.TooManyRedirects("Exceeded maximum allowed redirects.")) != ""


# --- certificates ---


def test_a_certificate_that_is_not_trusted_is_told_from_a_server_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_API_KEY", "sk-not-a-key")
    pem = certificate(tmp_path)
    with secured(pem) as url:
        said = (
            rf"the certificate of {url} is not trusted \(self-signed certificate\): if you trust it, set SSL_CERT_FILE"
        )
        with pytest.raises(RunError, match=said):
            check_server("openai-api/test/m", url, {})
        with pytest.raises(RunError, match=said):
            Endpoint.at(embedders.Address("m", url)).embed(["text"])
        with pytest.raises(RunError, match=said.replace("/v1", "")):
            tokenizers.get(f"server:{url.removesuffix('/v1')}")
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        check_server("openai-api/test/m", url, {})
        with pytest.raises(RunError, match="did not answer with one vector for each text"):
            Endpoint.at(embedders.Address("m", url)).embed(["text"])
        assert tokenizers.get(f"server:{url}").count("a") == 1


def test_a_certificate_that_no_setting_mends_is_told_with_its_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_API_KEY", "sk-not-a-key")
    for pem, why in ((certificate(tmp_path, days=-1), "expired"), (certificate(tmp_path, "127.0.0.2"), "mismatch")):
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        with (
            secured(pem) as url,
            pytest.raises(RunError, match=f"not trusted .*{why}.*: give the address with the name"),
        ):
            check_server("openai-api/test/m", url, {})


def test_a_run_does_not_wait_for_a_certificate() -> None:
    error = ConnectionError("Connection error.")
    error.__cause__ = ssl.SSLCertVerificationError("certificate verify failed: self-signed certificate")
    assert trouble_of(error, lambda error: True, ()).kind == "final"
    assert trouble_of(error, lambda error: True, ()).words.startswith("the certificate of the server is not trusted")
