"""The credentials in a server's address: kept in memory, and added to each request below everything that logs requests.

    http://name:word@host/v1?api_key=sk-1   →   http://host/v1, with `Authorization: Basic …` and `?api_key=sk-1` added
                                                on the way out

The HTTP client, the provider and Inspect see the address without credentials, so that none of their logs, traces and
errors can contain them. No request is redirected to another server (core/transport.py).
"""

import re
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import SplitResult, unquote, urlsplit

from carrara.core.errors import UsageError

if TYPE_CHECKING:
    from inspect_ai.model import ModelAPI


@dataclass(frozen=True)
class Credentials:
    """The secret parts of one server's address."""

    origin: tuple[str, str, int | None]
    """Scheme, host and port of the server."""
    basic: str
    """The value of the `Authorization` header, or nothing."""
    query: str
    """The query of the address as it was written, or nothing."""


def split(address: str) -> tuple[str, Credentials | None]:
    """Split an address into the part that may be shown and its credentials.

    >>> split("http://me:my%20word@host:8000/v1?key=sk-1")[0]
    'http://host:8000/v1'
    >>> split("http://host:8000/v1")
    ('http://host:8000/v1', None)
    """
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018  # raises for one that is no number
    except ValueError:
        shown = re.sub(r"//[^/?#]*@", "//", address).partition("?")[0]
        raise UsageError(f"{shown[:100]!r} is not a server's address: write http://HOST:PORT/v1") from None
    if not parts.query and "@" not in parts.netloc:
        return address, None
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
    return bare.geturl(), Credentials(_origin(parts), basic(parts), parts.query)


def basic(parts: SplitResult) -> str:
    """Return the `Authorization` header of an address with a user's name or password."""
    if not (parts.username or parts.password):
        return ""
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return f"Basic {b64encode(pair.encode()).decode()}"


def attach(api: "ModelAPI", credentials: Credentials, shown: str) -> None:
    """Add credentials to each request that a provider's client sends. They are added once.

    Args:
        api: The provider, made for the address without its credentials.
        credentials: What to add.
        shown: The address as it may be shown in an error.

    Raises:
        UsageError: The provider has no HTTP client that can be given them.
    """
    client: Any = getattr(getattr(api, "client", None), "_client", None)
    transport = getattr(client, "_transport", None)
    if not hasattr(transport, "handle_async_request"):
        raise UsageError(
            f"the provider of {api.model_name} cannot send the credentials in {shown}: leave out what stands behind "
            "the ? and before the @, and give the key in the environment"
        )
    if isinstance(getattr(transport, "inner", transport), Transport):  # the limits may stand around it
        return
    client._transport = Transport(transport, credentials)
    for pattern, proxy in client._mounts.items():
        if proxy is not None:
            client._mounts[pattern] = Transport(proxy, credentials)


class Transport:
    """An HTTP transport that adds credentials to each request of one server.

    It stands below the client's own logging and event hooks, which see the request without them. It works with
    `httpx` and with `httpx2`, whose classes are not the same.
    """

    def __init__(self, inner: Any, credentials: Credentials) -> None:
        self._inner = inner
        self._credentials = credentials

    async def handle_async_request(self, request: Any) -> Any:
        own = self._credentials
        if _origin(urlsplit(str(request.url))) != own.origin:
            return await self._inner.handle_async_request(request)
        url, headers = request.url, request.headers.copy()
        if own.query:
            url = url.copy_with(query="&".join(filter(None, (url.query.decode("ascii"), own.query))).encode())
        if own.basic:
            headers["Authorization"] = own.basic
        sent = type(request)(request.method, url, headers=headers, stream=request.stream, extensions=request.extensions)
        return await self._inner.handle_async_request(sent)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._inner.__aexit__(*error)


def _origin(parts: SplitResult) -> tuple[str, str, int | None]:
    return parts.scheme, parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme)
