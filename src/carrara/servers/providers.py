"""Providers of models, prepared for a run: credentials separate from the address, and a client that does not retry.

    http://name:word@host/v1?api_key=sk-1   →   http://host/v1, with `Authorization: Basic …` and `?api_key=sk-1` added
                                                on the way out

The credentials in a server's address are kept in memory, and added to each request below everything that logs requests.
The HTTP client, the provider and Inspect see the address without them, so that none of their logs, traces and errors
can contain them. No request is redirected to another server (util/transport.py).
"""

import os
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Self
from urllib.parse import SplitResult, urlsplit

from inspect_ai.model import GenerateConfig, Model, ModelAPI, get_model

from carrara.servers.inspect_private import PrerequisiteError, plain
from carrara.servers.model_names import check_model
from carrara.servers.secrets import (
    SHORT,
    basic_auth,
    check_secrets,
    hide,
    in_address,
    in_arguments,
    in_environment,
    mask,
    named_in_address,
    public,
)
from carrara.util.errors import UsageError
from carrara.util.transport import LIMIT, ReplyLimit, is_client, limit_client

PLACEHOLDER = "none"
"""A placeholder key for local servers, which need none, although their client does."""


class ServedModel(Model):
    """A model with the address of its server and its arguments, as logs show them.

    Args:
        address: The address, if the user gave one.
    """

    def __init__(self, model: Model, address: str | None) -> None:
        super().__init__(model.api, model.config, hide(model.model_args))
        self._address = public(address)

    @property
    def explicit_base_url(self) -> str | None:
        return self._address


def make_model(model: str, base_url: str | None, args: Mapping[str, Any]) -> Model:
    """Return a new instance of a model, because HTTP connections belong to the event loop that opened them."""
    check_model(model)
    secrets = in_arguments(args)
    try:
        bare, credentials = split_address(base_url) if base_url else (base_url, None)
        inspect_model = _get_model(model, bare, args)
        address = base_url or inspect_model.api.base_url
        if credentials is None and address:  # it may come from the environment
            bare, credentials = split_address(address)
            if credentials:
                inspect_model = _get_model(model, bare, args)
        if credentials:
            attach_credentials(inspect_model.api, credentials, public(address) or "the address")
    except TypeError as error:
        names = ", ".join(args) or "none"
        raise UsageError(
            f"{model} cannot be made with its arguments ({names}): {mask(plain(error), secrets)}; correct `model_args`"
        ) from None
    except (PrerequisiteError, ValueError, ImportError) as error:
        why = _missing_variable(model, base_url, plain(error)) or plain(error)
        raise UsageError(mask(why, secrets)) from None
    check_secrets(inspect_model.api.api_key or "", address, args)
    inspect_model.api.addressed = address  # type: ignore[attr-defined]
    inspect_model.api.arguments = dict(args)  # type: ignore[attr-defined]
    return ServedModel(inspect_model, address if base_url or credentials else None)


def _get_model(model: str, base_url: str | None, args: Mapping[str, Any]) -> Model:
    config = GenerateConfig()
    try:
        return get_model(model, config=config, base_url=base_url, memoize=False, **args)
    except PrerequisiteError as error:
        if "_API_KEY" not in plain(error) or not is_local_address(base_url):
            raise
        return get_model(model, config=config, base_url=base_url, api_key=PLACEHOLDER, memoize=False, **args)


def _missing_variable(model: str, base_url: str | None, error: str) -> str:
    """Return what a model needs, if the error of its provider names variables of the environment. Empty otherwise.

    Variables of Azure, which Inspect names for several providers, are named for Azure alone.

    >>> _missing_variable("openai/m", None, "… No OPENAI_API_KEY or AZUREAI_OPENAI_API_KEY defined in the environment.")
    'openai/m needs an API key: set OPENAI_API_KEY'
    >>> _missing_variable("openai-api/local/m", None, "No LOCAL_API_KEY defined in the environment.")
    'openai-api/local/m needs the address of its server: give `base_url`, and the key in LOCAL_API_KEY if it has one'
    """
    if "defined in the environment" not in error:
        return ""
    variables = re.findall(r"\b[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\b", error)
    variables = [name for name in variables if not name.startswith("AZURE")] or variables
    if not variables:
        return ""
    names, service = " or ".join(variables), variables[0].removesuffix("_API_KEY")
    if variables[0].endswith("_BASE_URL"):
        return f"{model} needs the address of its server: give `base_url`, or set {names}"
    if not variables[0].endswith("_API_KEY"):
        return f"{model} needs {names}: set it in the environment"
    if model.startswith("openai-api") and not base_url and f"{service}_BASE_URL" not in os.environ:
        return f"{model} needs the address of its server: give `base_url`, and the key in {names} if it has one"
    return f"{model} needs an API key: set {names}"


def is_local_address(url: str | None) -> bool:
    """Return whether an address is on this machine.

    >>> [is_local_address(url) for url in ("http://localhost:8000/v1", "http://[::1]/v1", "https://api.example.org")]
    [True, True, False]
    """
    host = urlsplit(url or "").hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback or ip_address(host).is_unspecified
    except ValueError:
        return False


def secrets_of(api: ModelAPI) -> frozenset[str]:
    """Return the secrets of this provider and of the environment, which must never be written."""
    address = getattr(api, "addressed", None) or api.base_url
    args = getattr(api, "arguments", None) or getattr(api, "model_args", None)
    sent = {*named_in_address(address).values(), *in_arguments(args if isinstance(args, Mapping) else {}), api.api_key}
    in_query = {value for value in in_address(address) if len(value) >= SHORT}  # others say which deployment is meant
    return frozenset({*in_environment(), *in_query, *filter(None, sent)})


def prepare_client(api: ModelAPI, limit: ReplyLimit = LIMIT) -> None:
    """Turn off the retries and time limits of the provider's client, and limit what a server may do to it.

    The run would not count a request that the client repeats by itself. The run has its own time limit.

    Inspect gives its providers `initialize` to make a client. vLLM's calls it within its first request, and again when
    another model has stopped its server, so that no caller could prepare that client. Therefore the provider's
    `initialize` is replaced by one that prepares what it makes.

    Args:
        api: The provider. The limits hold for HTTP clients of httpx that it keeps, such as those of OpenAI's and
            Anthropic's SDKs.
    """
    initialize: Any = api.initialize
    if not getattr(initialize, "prepares", False):

        def prepare() -> None:
            initialize()
            _prepare(api, limit)

        prepare.prepares = True  # type: ignore[attr-defined]
        api.initialize = prepare  # type: ignore[method-assign]
    _prepare(api, limit)


def _prepare(api: ModelAPI, limit: ReplyLimit) -> None:
    address = getattr(api, "addressed", None)
    if address and (credentials := split_address(address)[1]):
        attach_credentials(api, credentials, public(address) or "the address")
    for http in _http_clients(api):
        limit_client(http, limit)
    client: Any = getattr(api, "client", None)
    if getattr(client, "max_retries", 0):
        client.max_retries = 0
    timeout: Any = getattr(client, "timeout", None)
    if hasattr(timeout, "read") and timeout.read is not None:
        client.timeout = type(timeout)(None, connect=timeout.connect)


async def close_with_loop(api: ModelAPI) -> AsyncIterator[None]:
    """Close the HTTP clients that a provider made when the event loop that runs this generator ends.

    Otherwise their connections stay open until the next garbage collection.
    """
    args = getattr(api, "model_args", None)
    argument_values = list(args.values()) if isinstance(args, dict) else []
    try:
        yield
    finally:
        for http in _http_clients(api):
            if http not in argument_values and hasattr(http, "aclose"):
                await http.aclose()


def _http_clients(api: ModelAPI) -> list[Any]:
    args = getattr(api, "model_args", None)
    values = [*vars(api).values(), *(args.values() if isinstance(args, dict) else ())]
    inner = (getattr(value, "_client", None) for value in values)
    return [client for client in (*values, *inner) if is_client(client)]


@dataclass(frozen=True)
class Credentials:
    """The secret parts of one server's address."""

    origin: tuple[str, str, int | None]
    """The scheme, host and port of the server."""
    basic: str
    """The value of the `Authorization` header. Empty if there is none."""
    query: str
    """The query of the address as written. Empty if there is none."""


def split_address(address: str) -> tuple[str, Credentials | None]:
    """Split an address into the part that may be shown and its credentials.

    >>> split_address("http://me:my%20word@host:8000/v1?key=sk-1")[0]
    'http://host:8000/v1'
    >>> split_address("http://host:8000/v1")
    ('http://host:8000/v1', None)
    """
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018  # raises if the port is not a number
    except ValueError:
        shown = re.sub(r"//[^/?#]*@", "//", address).partition("?")[0]
        raise UsageError(f"{shown[:100]!r} is not a server's address: write http://HOST:PORT/v1") from None
    if not parts.query and "@" not in parts.netloc:
        return address, None
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
    return bare.geturl(), Credentials(_origin(parts), basic_auth(parts), parts.query)


def attach_credentials(api: ModelAPI, credentials: Credentials, shown: str) -> None:
    """Add credentials to each request that a provider's client sends. They are added once.

    Args:
        api: The provider, made for the address without its credentials.
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
    if isinstance(getattr(transport, "inner", transport), CredentialsTransport):  # it may have limits already
        return
    client._transport = CredentialsTransport(transport, credentials)
    for pattern, proxy in client._mounts.items():
        if proxy is not None:
            client._mounts[pattern] = CredentialsTransport(proxy, credentials)


class CredentialsTransport:
    """An HTTP transport that adds credentials to each request of one server.

    It stands below the client's own logging and event hooks, which see the request without them. It works with
    `httpx` and with `httpx2`, whose classes are not the same.
    """

    def __init__(self, inner: Any, credentials: Credentials) -> None:
        self._inner = inner
        self._credentials = credentials

    async def handle_async_request(self, request: Any) -> Any:
        credentials = self._credentials
        if _origin(urlsplit(str(request.url))) != credentials.origin:
            return await self._inner.handle_async_request(request)
        url, headers = request.url, request.headers.copy()
        if credentials.query:
            url = url.copy_with(query="&".join(filter(None, (url.query.decode("ascii"), credentials.query))).encode())
        if credentials.basic:
            headers["Authorization"] = credentials.basic
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
