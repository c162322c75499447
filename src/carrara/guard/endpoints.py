"""The servers of a comparison: addresses, models, or models at addresses."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import anyio

from carrara.constants import LogprobsOf
from carrara.guard.config import LETTERS, CompareServersConfig
from carrara.runs.config import model_name
from carrara.servers.model_names import check_model, is_llama
from carrara.servers.probe import check_file_model, is_probed, probe
from carrara.servers.secrets import public
from carrara.util.errors import RunError, UsageError

if TYPE_CHECKING:
    from carrara.servers.function_model import Function

SCHEMES = ("http://", "https://")


@dataclass(frozen=True)
class Endpoint:
    """A server to compare.

    Args:
        letter: Its name in the comparison.
        model: The name of the model, or a function.
        base_url: The address. None: the provider's own.
        returns_logprobs: Whether it returns the log-probabilities of a reply's tokens.
    """

    letter: str
    model: "str | Function"
    base_url: str | None
    returns_logprobs: bool = False

    @property
    def name(self) -> str:
        """The name of the model."""
        return model_name(self.model)

    def __str__(self) -> str:
        address = public(self.base_url)
        return f"{self.name} at {address}" if address else self.name


def is_address(server: "str | Function") -> bool:
    """Return whether a user names a server by its address alone."""
    return isinstance(server, str) and server.startswith(SCHEMES)


def endpoint_of(letter: str, server: "str | Function", model: str | None, base_url: str | None) -> Endpoint:
    """Return the server that a user names by an address, a model, or MODEL@ADDRESS.

    Args:
        model: The model at an address that is given alone.
        base_url: The address of a model that is given alone.

    Raises:
        UsageError: There is no such model, or an address comes without one.

    >>> str(endpoint_of("A", "openai-api/local/m@http://127.0.0.1:8000/v1", None, None))
    'openai-api/local/m at http://127.0.0.1:8000/v1'
    >>> str(endpoint_of("B", "http://127.0.0.1:8001/v1", "vllm/m", None))
    'vllm/m at http://127.0.0.1:8001/v1'
    >>> str(endpoint_of("B", "anthropic/claude@20240620", None, None))
    'anthropic/claude@20240620'
    """
    if not isinstance(server, str):
        return _checked(Endpoint(letter, server, None))
    if is_address(server):
        if not model:
            raise UsageError(f"{public(server)} names no model: give `model`, or write MODEL@{public(server)}")
        return _checked(Endpoint(letter, model, server))
    for scheme in SCHEMES:
        name, separator, rest = server.partition(f"@{scheme}")
        if separator:
            return _checked(Endpoint(letter, name, scheme + rest))
    in_process = server.partition("/")[0] == "carrara"
    return _checked(Endpoint(letter, server, None if in_process else base_url))


def _checked(endpoint: Endpoint) -> Endpoint:
    check_model(endpoint.name)
    return endpoint


def endpoints_of(config: CompareServersConfig) -> list[Endpoint]:
    """Return the servers of a comparison, the first one first. An option that none of them needs is refused."""
    if config.model and not any(map(is_address, config.servers)):
        raise UsageError("`model` is the model at an address that is given alone, and none is: leave it out")
    model = config.model or (config.guard.model if config.guard else None)
    if config.guard and not config.model:
        for address in filter(is_address, config.servers):
            check_file_model(config.guard.model, str(address), config.model_args, "the guard")
    servers = [
        endpoint_of(letter, server, model, config.base_url)
        for letter, server in zip(LETTERS, config.servers, strict=False)
    ]
    if config.base_url and not any(server.base_url == config.base_url for server in servers):
        raise UsageError("`base_url` is the address of a model that is given without one, and none is: leave it out")
    return servers


def with_logprobs(endpoint: Endpoint, config: CompareServersConfig) -> Endpoint:
    """Return a server with the fact whether it returns log-probabilities. One that does not answer now does not."""
    name, provider = endpoint.name, endpoint.name.partition("/")[0]
    if not is_probed(name, endpoint.base_url, config.model_args):
        return replace(endpoint, returns_logprobs=is_llama(name) or provider == "hf")
    kinds: tuple[LogprobsOf, ...] = ("reply",)
    try:
        info = anyio.run(partial(probe, name, endpoint.base_url, config.model_args, logprobs=kinds))
    except RunError:
        return endpoint
    return replace(endpoint, returns_logprobs=bool(info.reply_logprobs))
