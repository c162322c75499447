"""Keys, and what may be shown of an address: no secret reaches a log, a report, an error or the terminal.

A secret may come in as an API key, in the address of a server (`http://name:word@host/v1?api_key=…`) or in the
environment, and come back in whatever a server says.
"""

import os
import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from carrara.core.errors import UsageError

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
    """An address without what may be secret in it: a name and password, and the values of its query.

    >>> public("https://me:word@host/v1?api_key=sk-1&v=2#part")
    'https://host/v1?api_key=[key]&v=[key]'
    """
    if not url:
        return url
    url = re.sub(r"//[^/?#]*@", "//", url)
    before, question, query = url.partition("#")[0].partition("?")
    named = re.sub(r"=[^&;]*", f"={HIDDEN}", query)
    return before + question + ("" if not query else named if "=" in query else HIDDEN)


def in_address(url: str | None) -> set[str]:
    """The secrets in an address, as they stand there and as they are meant."""
    if not url:
        return set()
    parts = urlsplit(url)
    found = {value for _, value in parse_qsl(parts.query, keep_blank_values=False)}
    if parts.query and "=" not in parts.query:
        found.add(parts.query)
    found |= {part for part in (parts.username, parts.password) if part}
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
