"""A model's provider, made ready: with its address, its secrets apart from it, and a client that asks once."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from inspect_ai.model import GenerateConfig, Model, ModelAPI, get_model

from carrara.core.errors import UsageError
from carrara.core.transport import LIMIT, is_client, limit_client
from carrara.servers.credentials import attach, split
from carrara.servers.inspect_errors import plain
from carrara.servers.inspect_private import PrerequisiteError
from carrara.servers.model_names import check_model
from carrara.servers.redact import in_address, in_environment, public

PLACEHOLDER = "none"
"""The key for a server on this machine, which mostly wants none, and a client that does."""


class ServedModel(Model):
    """A model with the address of its server, as every log of it shows that address."""

    def __init__(self, model: Model, address: str | None) -> None:
        super().__init__(model.api, model.config, model.model_args)
        self._address = public(address)

    @property
    def explicit_base_url(self) -> str | None:
        return self._address


def made(model: str, base_url: str | None, args: Mapping[str, Any]) -> Model:
    """An instance of its own: HTTP connections belong to the event loop that opened them."""
    check_model(model)
    try:
        bare, credentials = split(base_url) if base_url else (base_url, None)
        found = _made(model, bare, args)
        address = base_url or found.api.base_url
        if credentials is None and address:  # which may have come from the environment
            bare, credentials = split(address)
            if credentials:
                found = _made(model, bare, args)
        if credentials:
            attach(found.api, credentials, public(address) or "the address")
    except TypeError as error:
        given = ", ".join(f"{name}={value}" for name, value in args.items()) or "none"
        raise UsageError(
            f"{model} cannot be made with its arguments ({given}): {plain(error)}; correct `model_args`"
        ) from None
    except (PrerequisiteError, ValueError, ImportError) as error:
        raise UsageError(plain(error)) from None
    found.api.addressed = address  # type: ignore[attr-defined]
    return ServedModel(found, address) if base_url or credentials else found


def _made(model: str, base_url: str | None, args: Mapping[str, Any]) -> Model:
    config = GenerateConfig()
    try:
        return get_model(model, config=config, base_url=base_url, memoize=False, **args)
    except PrerequisiteError as error:
        if "_API_KEY" not in plain(error) or not here(base_url):
            raise
        return get_model(model, config=config, base_url=base_url, api_key=PLACEHOLDER, memoize=False, **args)


def here(url: str | None) -> bool:
    """Whether an address is one of this machine's.

    >>> here("http://localhost:8000/v1"), here("http://[::1]/v1"), here("https://api.example.org"), here(None)
    (True, True, False, False)
    """
    host = urlsplit(url or "").hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback or ip_address(host).is_unspecified
    except ValueError:
        return False


def secrets_of(api: ModelAPI) -> frozenset[str]:
    """All that must stand nowhere, of what this provider and the environment know."""
    given = getattr(api, "addressed", None) or api.base_url
    return frozenset({*in_environment(), *in_address(given), *([api.api_key] if api.api_key else [])})


def prepare_client(api: ModelAPI, limit: int = LIMIT) -> None:
    """Have the provider's client ask once, for as long as it takes, and put limits on what a server may do to it.

    A request that it made again by itself would be in nobody's count, and its limit of time is here.

    Inspect gives its providers `initialize` to make a client. vLLM's calls it within its first request, and again when
    another model has stopped its server, so that no caller could prepare that client. Therefore the provider's
    `initialize` is replaced by one that prepares what it makes.

    Args:
        api: The provider. The limits hold for HTTP clients of httpx that it keeps, such as those of OpenAI's and
            Anthropic's SDKs.
        limit: Bytes of a reply, unpacked.
    """
    initialize: Any = api.initialize
    if not getattr(initialize, "prepares", False):

        def prepared() -> None:
            initialize()
            _prepare(api, limit)

        prepared.prepares = True  # type: ignore[attr-defined]
        api.initialize = prepared  # type: ignore[method-assign]
    _prepare(api, limit)


def _prepare(api: ModelAPI, limit: int) -> None:
    address = getattr(api, "addressed", None)
    if address and (credentials := split(address)[1]):
        attach(api, credentials, public(address) or "the address")
    for http in _http_clients(api):
        limit_client(http, limit)
    client: Any = getattr(api, "client", None)
    if getattr(client, "max_retries", 0):
        client.max_retries = 0
    timeout: Any = getattr(client, "timeout", None)
    if hasattr(timeout, "read") and timeout.read is not None:
        client.timeout = type(timeout)(None, connect=timeout.connect)


def _http_clients(api: ModelAPI) -> list[Any]:
    """The HTTP clients that a provider holds, in its SDK's client or among its arguments."""
    args = getattr(api, "model_args", None)
    held = [*vars(api).values(), *(args.values() if isinstance(args, dict) else ())]
    return [one for one in (*held, *(getattr(one, "_client", None) for one in held)) if is_client(one)]
