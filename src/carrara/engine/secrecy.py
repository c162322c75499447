"""Keys, and what may be shown of an address: no secret reaches a log, a report, an error or the terminal.

A secret may come in as an API key, in the address of a server (`http://name:word@host/v1?api_key=…`) or in the
environment, and come back in whatever a server says.
"""

import os
import re
from collections.abc import Iterable
from hashlib import blake2b
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from carrara.core.errors import UsageError
from carrara.engine.credentials import basic

SHORT = 8
"""Characters from which on a key is one: shorter ones, as local servers take, stand in ordinary words."""

HIDDEN = "[key]"

_WORDS = frozenset(
    {"key", "apikey", "token", "secret", "password", "passwd", "passphrase", "credential", "credentials"}
    | {"authorization", "cookie", "signature"}
)
"""Words in the names of what is not to be kept."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def secret(name: str) -> bool:
    """Whether something of this name is not to be kept.

    >>> [name for name in ("HF_TOKEN", "apiKey", "max_tokens", "MONKEY_MODE", "tokenizer", "x-api-key") if secret(name)]
    ['HF_TOKEN', 'apiKey', 'x-api-key']
    """
    return any(word.lower() in _WORDS for word in _WORD.findall(name))


def public(url: str | None) -> str | None:
    """Return an address without what may be secret in it: a user's name, a password and the values of its query.

    Each value is replaced by a short digest, so that two deployments of one server keep two addresses.

    >>> public("https://me:word@host/v1?api_key=sk-1&v=2#part")
    'https://host/v1?api_key=[8f3b09]&v=[644a3e]'
    >>> public(public("https://host/v1?v=2")) == public("https://host/v1?v=2")
    True
    """
    if not url:
        return url
    url = re.sub(r"//[^/?#]*@", "//", url)
    before, question, query = url.partition("#")[0].partition("?")
    return before + question + "".join(map(_without_value, re.split("([&;])", query)))


def _without_value(part: str) -> str:
    """Return `name=value` of a query with a digest in place of the value; a part without a name is a value."""
    if part in ("", "&", ";"):
        return part
    name, equals, value = part.rpartition("=") if "=" not in part else part.partition("=")
    if not value or re.fullmatch(r"\[[0-9a-f]{6}\]", value):  # it is a digest already
        return part
    return f"{name}{equals}[{blake2b(value.encode(), digest_size=3).hexdigest()}]"


def in_address(url: str | None) -> set[str]:
    """The secrets in an address, as they stand there and as they are meant."""
    if not url:
        return set()
    parts = urlsplit(url)
    found = {value for _, value in parse_qsl(parts.query, keep_blank_values=False)}
    found |= {part for part in re.split("[&;]", parts.query) if part and "=" not in part}
    found |= {part for part in (parts.username, parts.password) if part}
    if parts.username or parts.password:
        found.add(basic(parts).removeprefix("Basic "))
    return {form for value in found for form in (value, unquote(value), quote(value, safe=""), quote_plus(value))}


def in_environment() -> set[str]:
    """What the environment holds under a name that says it is secret, or in the address of a server."""
    found = set()
    for name, value in os.environ.items():
        if secret(name):
            found.add(value)
        if name.endswith("_URL") and "://" in value:
            found |= in_address(value)
    return found


def masked(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        if len(secret) >= SHORT and secret in text:
            text = text.replace(secret, HIDDEN)
    return text


def refuse_secret(name: str, value: object, where: str) -> None:
    """Refuse an argument that would be kept in the logs and is a secret by its name, or by one within it."""
    if secret(name):
        raise UsageError(f"{where} {name} would be kept in the logs: give keys in the environment")
    if isinstance(value, dict):
        for inner, held in value.items():
            refuse_secret(str(inner), held, f"{where} {name}:")
    if isinstance(value, str) and "://" in value and in_address(value):
        raise UsageError(f"{where} {name} has a secret in its address, which would be kept in the logs: leave it out")
