"""A model's provider, made ready: with its address, its secrets apart from it, and a client that asks once."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import GenerateConfig, Model, ModelAPI, get_model

from carrara.core.errors import UsageError
from carrara.engine.secrecy import in_address, in_environment, public
from carrara.engine.troubles import plain

PLACEHOLDER = "none"
"""The key for a server on this machine, which mostly wants none, and a client that does."""


def made(model: str, base_url: str | None, args: Mapping[str, Any]) -> Model:
    """An instance of its own: HTTP connections belong to the event loop that opened them."""
    try:
        found = _made(model, base_url, args)
        address = base_url or found.api.base_url
        if address and urlsplit(address).query:
            bare = urlsplit(address)._replace(query="", fragment="").geturl()
            found = _made(model, bare, args)
            _send_query(found.api, address)
    except TypeError as error:
        given = ", ".join(f"{name}={value}" for name, value in args.items()) or "none"
        raise UsageError(
            f"{model} cannot be made with its arguments ({given}): {plain(error)}; correct `model_args`"
        ) from None
    except (PrerequisiteError, ValueError, ImportError) as error:
        raise UsageError(plain(error)) from None
    found.api.addressed = address  # type: ignore[attr-defined]
    if base_url:
        found._explicit_base_url = public(base_url)  # stands in the header of every log
    return found


def _made(model: str, base_url: str | None, args: Mapping[str, Any]) -> Model:
    config = GenerateConfig()
    try:
        return get_model(model, config=config, base_url=base_url, memoize=False, **args)
    except PrerequisiteError as error:
        if "_API_KEY" not in plain(error) or not here(base_url):
            raise
        return get_model(model, config=config, base_url=base_url, api_key=PLACEHOLDER, memoize=False, **args)


def _send_query(api: ModelAPI, address: str) -> None:
    """What stands behind the ? of an address goes with every request: the client would put its paths behind it."""
    args = getattr(api, "model_args", None)
    if not isinstance(args, dict):
        raise UsageError(
            f"{public(address)} has a query, which the provider of {api.model_name} cannot send: leave it out"
        )
    args["default_query"] = dict(parse_qsl(urlsplit(address).query))
    api.initialize()


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


def once(api: ModelAPI) -> None:
    """Have the provider's client ask once, for as long as it takes.

    A request that it made again by itself would be in nobody's count, and its limit of time is here.
    """
    client: Any = getattr(api, "client", None)
    if getattr(client, "max_retries", 0):
        client.max_retries = 0
    timeout: Any = getattr(client, "timeout", None)
    if hasattr(timeout, "read") and timeout.read is not None:
        client.timeout = type(timeout)(None, connect=timeout.connect)
