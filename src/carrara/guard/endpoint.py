"""A server to compare: the name of its model, and its address."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrara.runs.config import model_name
from carrara.servers.model_names import check_model
from carrara.servers.secrets import public
from carrara.util.errors import UsageError

if TYPE_CHECKING:
    from carrara.servers.function_model import Function

SCHEMES = ("http://", "https://")


@dataclass(frozen=True)
class Endpoint:
    """A server to compare.

    Args:
        letter: `A` or `B`.
        model: The name of the model, or a function.
        base_url: The address. None: the provider's own.
    """

    letter: str
    model: "str | Function"
    base_url: str | None

    @property
    def name(self) -> str:
        """The name of the model."""
        return model_name(self.model)

    def __str__(self) -> str:
        address = public(self.base_url)
        return f"{self.name} at {address}" if address else self.name


def is_address(given: "str | Function") -> bool:
    """Return whether a user names a server by its address alone."""
    return isinstance(given, str) and given.startswith(SCHEMES)


def endpoint_of(letter: str, given: "str | Function", model: str | None, base_url: str | None) -> Endpoint:
    """Return the server that a user names by an address, a model, or MODEL@ADDRESS.

    Args:
        letter: `A` or `B`.
        given: What the user gave.
        model: The model at an address that is given alone.
        base_url: The address of a model that is given alone.

    Raises:
        UsageError: There is no such model, or an address comes without one.

    >>> str(endpoint_of("A", "openai-api/local/m@http://127.0.0.1:8000/v1", None, None))
    'openai-api/local/m at http://127.0.0.1:8000/v1'
    >>> str(endpoint_of("B", "http://127.0.0.1:8001/v1", "vllm/m", None))
    'vllm/m at http://127.0.0.1:8001/v1'
    """
    if not isinstance(given, str):
        return _checked(Endpoint(letter, given, None))
    if is_address(given):
        if not model:
            raise UsageError(f"{public(given)} names no model: give `model`, or write MODEL@{public(given)}")
        return _checked(Endpoint(letter, model, given))
    for scheme in SCHEMES:
        name, found, rest = given.partition(f"@{scheme}")
        if found:
            return _checked(Endpoint(letter, name, scheme + rest))
    in_process = given.partition("/")[0] == "carrara"
    return _checked(Endpoint(letter, given, None if in_process else base_url))


def _checked(endpoint: Endpoint) -> Endpoint:
    check_model(endpoint.name)
    return endpoint
