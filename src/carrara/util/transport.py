"""Limits on a server's effect on an HTTP client: no redirect to another server, and no endless reply.

    limit_client(client)    # a client of httpx or httpx2, synchronous or asynchronous

The limits are in the client's transport, through which every request passes, redirected ones included. The transport
decompresses replies instead of the client, so that 100 KB that decompress to 100 MB are never held in memory. Its
errors are the cause of an error of the client; `causes` finds them.
"""

import re
import ssl
import zlib
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, Protocol, Self


class ReplyLimit(NamedTuple):
    """The size of a server's reply."""

    bytes: int
    """The most bytes, decompressed."""
    values: int
    """The most JSON values. A client makes an object of each, which takes a hundred times the memory of its text."""


LIMIT = ReplyLimit(32 << 20, 20_000)
"""The limit of a model's reply. The longest answers of models have 1 MB."""

BULK_LIMIT = ReplyLimit(1 << 30, 1 << 26)
"""The limit of a reply with log-probabilities of a whole prompt, about 150 bytes for each token, or of a batch."""

VECTORS_LIMIT = ReplyLimit(32 << 20, 1 << 20)
"""The limit of a reply with embeddings of up to a hundred texts."""

_STEP = 1 << 16
"""The bytes that are decompressed at a time."""
_NAMED = 100
"""The most characters of a server's name that an error shows."""
_ORIGIN = "carrara.origin"
"""Key of a request's extensions, which redirected requests inherit: the server that the first request was for."""

_CLOSED = re.compile(r"disconnect|clos(ed|ing)|terminated", re.IGNORECASE)
"""The messages of HTTP clients when a server closes a connection."""

_UNTRUSTED = {18, 19, 20, 21}
"""OpenSSL's codes for untrusted certificates, whatever else is wrong with them."""


class ReplyObserver(Protocol):
    """An observer of one request and of its reply, as its bytes arrive."""

    def begin(self) -> None:
        """Report that a request is sent."""

    def open(self, is_stream: bool) -> None:
        """Report the headers of the reply: whether it is a stream of events."""

    def receive(self, part: bytes) -> None:
        """Report decompressed bytes, before the client has them."""

    def resume(self) -> None:
        """Report that the client waits for more bytes."""


OBSERVER: ContextVar[ReplyObserver | None] = ContextVar("observer", default=None)
"""The observer of the requests that this context sends."""


class RedirectError(Exception):
    """A server redirects to another one, which would receive the prompt."""

    def __init__(self, origin: str, target: str) -> None:
        self.where = f"{origin} redirects to {target}"
        super().__init__(f"{self.where}: give that address as `base_url` if you mean it")


class ReplyTooLargeError(Exception):
    """A reply is larger than the limit."""

    def __init__(self, size: str) -> None:
        super().__init__(f"the server's reply is larger than {size}, which is the limit")


class PackingError(Exception):
    """A reply cannot be decompressed."""


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all its causes."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def certificate_error(error: BaseException, where: str) -> str:
    """Return a sentence about a server's certificate if an error is about it. Otherwise empty."""
    for cause in causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = str(getattr(cause, "verify_message", "") or cause).rstrip(".")
            remedy = "give the address with the name that the certificate has, or renew it"
            if getattr(cause, "verify_code", None) in _UNTRUSTED:
                remedy = "if you trust it, set SSL_CERT_FILE to a PEM file with it"
            return f"the certificate of {where} is not trusted ({why}): {remedy}"
    return ""


def refusal(error: BaseException, where: str) -> str:
    """Return why a server is not asked again, if an error proves it. Otherwise empty.

    The server's certificate is not trusted, it redirects to another one, or its reply is too large.
    """
    reasons = (str(cause) for cause in causes(error) if isinstance(cause, RedirectError | ReplyTooLargeError))
    return certificate_error(error, where) or next(reasons, "")


def protocol_error(error: BaseException) -> str:
    """Return the fault of an answer that breaks the rules of HTTP, if that is the error. Otherwise empty.

    The HTTP clients raise the same error if a server closes a connection, which is an outage.
    """
    for cause in causes(error):
        name, words = type(cause).__name__, " ".join(str(cause).split())
        if isinstance(cause, PackingError):
            return words
        if name == "TooManyRedirects":
            return "the server redirects again and again"
        if name == "RemoteProtocolError" and not _CLOSED.search(words):
            if "too long" in words:  # h11's phrase for unexpected data in its buffer
                return "the headers of the server's reply are larger than 100 KB"
            return f"the server's reply is not HTTP ({words.partition(':')[0][:_NAMED]})"
    return ""


def limit_client(client: Any, limit: ReplyLimit = LIMIT) -> None:
    """Put the limits into a client's transports, unless they have them already."""
    client._transport = _limit(client._transport, limit)
    for pattern, proxy in client._mounts.items():
        if proxy is not None:
            client._mounts[pattern] = _limit(proxy, limit)


def is_client(value: Any) -> bool:
    """Return whether a value is an HTTP client of httpx or httpx2."""
    transport = getattr(value, "_transport", None)
    sends = hasattr(transport, "handle_async_request") or hasattr(transport, "handle_request")
    return sends and isinstance(getattr(value, "_mounts", None), dict)


def _limit(transport: Any, limit: ReplyLimit) -> "LimitedTransport":
    if isinstance(transport, LimitedTransport):
        transport.limit = limit
        return transport
    return LimitedTransport(transport, limit)


class LimitedTransport:
    """A transport that adds the limits to another one."""

    def __init__(self, inner: Any, limit: ReplyLimit) -> None:
        self.inner = inner
        self.limit = limit

    async def handle_async_request(self, request: Any) -> Any:
        _check(request)
        return self._limit(await self.inner.handle_async_request(request), "AsyncByteStream", _AsyncLimitedStream)

    def handle_request(self, request: Any) -> Any:
        _check(request)
        return self._limit(self.inner.handle_request(request), "SyncByteStream", _LimitedStream)

    def _limit(self, response: Any, base: str, kind: type) -> Any:
        package = type(response).__module__.partition(".")[0]
        encoding = response.headers.pop("Content-Encoding", "")
        response.stream = _stream(package, base, kind)(response.stream, encoding, self.limit)
        is_stream = response.headers.get("Content-Type", "").partition(";")[0].strip().lower() == "text/event-stream"
        if is_stream:
            response.stream.values = EventCounter()
        if observer := OBSERVER.get():
            observer.open(is_stream)
            response.stream.observer = observer
        return response

    async def aclose(self) -> None:
        await self.inner.aclose()

    async def __aenter__(self) -> Self:
        await self.inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.inner.__aexit__(*error)

    def close(self) -> None:
        self.inner.close()

    def __enter__(self) -> Self:
        self.inner.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.inner.__exit__(*error)


def _check(request: Any) -> None:
    """Refuse a request that was redirected to another server. Ask for compression that can be undone step by step."""
    origin = _origin(request.url)
    first = request.extensions.setdefault(_ORIGIN, origin)
    if origin != first:
        raise RedirectError(first, origin)
    request.headers["Accept-Encoding"] = "gzip, deflate"
    if observer := OBSERVER.get():
        observer.begin()


_PORTS = {"http": 80, "https": 443}


def _origin(url: Any) -> str:
    """Return the scheme, host and port of an address.

    >>> from httpx import URL
    >>> _origin(URL("HTTP://me:word@Host:80/v1?key=1")), _origin(URL("http://[::1]:8000"))
    ('http://host', 'http://[::1]:8000')
    """
    host = f"[{url.host}]" if ":" in url.host else url.host
    # httpx leaves out a scheme's default port only if the scheme is in lower case
    port = "" if url.port in (None, _PORTS.get(url.scheme)) else f":{url.port}"
    return f"{url.scheme}://{host}{port}"[:_NAMED]


@cache
def _stream(package: str, base: str, kind: type) -> type:
    """Return a class of streams that the client accepts as its own."""
    return type(kind.__name__, (kind, getattr(import_module(package), base)), {})


class _LimitedStream:
    """The decompressed bytes of a reply, up to the limit."""

    def __init__(self, inner: Any, encoding: str, limit: ReplyLimit) -> None:
        self.inner, self.limit, self.read = inner, limit, 0
        self.unpack = _Unpacker(encoding.strip().lower())
        self.values: ValueCounter | EventCounter = ValueCounter()
        self.observer: ReplyObserver | None = None

    def __iter__(self) -> Iterator[bytes]:
        for data in self.inner:
            yield from self.count_read(data)

    def count_read(self, data: bytes) -> Iterator[bytes]:
        for part in self.unpack(data):
            self.read += len(part)
            if self.read > self.limit.bytes:
                raise ReplyTooLargeError(f"{self.limit.bytes >> 20} MB")
            if self.values.add(part) > self.limit.values:
                raise ReplyTooLargeError(f"{self.limit.values:,} JSON values")
            if self.observer:
                self.observer.receive(part)
            yield part
            if self.observer:
                self.observer.resume()

    def close(self) -> None:
        self.inner.close()


class _AsyncLimitedStream(_LimitedStream):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self.inner:
            for part in self.count_read(data):
                yield part

    async def aclose(self) -> None:
        await self.inner.aclose()


_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_REST_OF_STRING = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


class ValueCounter:
    """A count of the values of a JSON text that arrives in parts: those that a comma or a bracket precedes.

    >>> counter = ValueCounter()
    >>> [counter.add(part) for part in (b'{"a": [1, "b, c', b', d", 2]}')]
    [3, 4]
    """

    def __init__(self) -> None:
        self.values = 0
        self._open = b""
        """The beginning of a string that has not ended: at most a quotation mark and a backslash."""

    def add(self, part: bytes) -> int:
        """Add a part of the text. Return the number of values so far."""
        if self._open:
            part = self._open[1:] + part
            ending = _REST_OF_STRING.match(part)
            if ending is None:
                self._open = b'"' + _last_backslash(part)
                return self.values
            part = part[ending.end() :]
        outside = _STRING.sub(b"", part)
        outside, quote, inside = outside.partition(b'"')
        self._open = quote + _last_backslash(inside)
        self.values += sum(map(outside.count, (b",", b"[", b"{")))
        return self.values


_BLANK_LINES = re.compile(rb"(?>\r\n|\n|\r){2,}")


class EventCounter:
    """A count of the values of each event of a stream, which clients parse one at a time. Blank lines divide events.

    >>> counter = EventCounter()
    >>> [counter.add(part) for part in (b"data: [1, 2]\\n", b"\\ndata: [3", b", 4", b", 5]\\n\\n", b"data: 6")]
    [2, 1, 2, 3, 0]
    """

    def __init__(self) -> None:
        self._values = ValueCounter()
        self._end = b""
        """The last character of the part before."""

    def add(self, part: bytes) -> int:
        """Add a part of the stream. Return the number of values of its largest event so far."""
        if self._end == b"\r" and part.startswith(b"\n"):  # both are one end of a line
            part = part[1:]
        if self._end in (b"\r", b"\n") and part.startswith((b"\r", b"\n")):
            self._values = ValueCounter()
        self._end = part[-1:] or self._end
        first, *others = _BLANK_LINES.split(part)
        most = self._values.add(first)
        for event in others:
            self._values = ValueCounter()
            most = max(most, self._values.add(event))
        return most


def _last_backslash(part: bytes) -> bytes:
    """Return the backslash at the end of a part that escapes the first character of the next part."""
    return b"\\" * ((len(part) - len(part.rstrip(b"\\"))) % 2)


class _Unpacker:
    """A decompressor of `gzip` and `deflate`, a few bytes at a time."""

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding
        self.stream: Any = None

    def __call__(self, data: bytes) -> Iterator[bytes]:
        if not data or self.encoding in ("", "identity"):
            yield data
            return
        if self.stream is None:
            self.stream = zlib.decompressobj(self._window(data))
        try:
            while not self.stream.eof:
                part = self.stream.decompress(data, _STEP)
                data = self.stream.unconsumed_tail
                if part:
                    yield part
                if not data and len(part) < _STEP:
                    return
        except zlib.error:
            raise PackingError("the server's reply cannot be unpacked") from None

    def _window(self, data: bytes) -> int:
        """Return zlib's number for the compression. Some servers send `deflate` without a header."""
        if self.encoding in ("gzip", "x-gzip"):
            return zlib.MAX_WBITS | 16
        if self.encoding != "deflate":
            raise PackingError(f"the server's reply is packed as {self.encoding[:_NAMED]}, which was not asked for")
        return zlib.MAX_WBITS if data[0] & 0x8F == 8 else -zlib.MAX_WBITS
