"""Redaction of secrets and prompts, so that none reaches a log, a report, an error or the terminal.

A secret may be in an API key, in the address of a server (`http://name:word@host/v1?api_key=…`) or in the environment,
and a server may repeat it. A reply is untrusted: half of a surrogate pair in it cannot be written as UTF-8, and in the
cache it would make every later run of the folder fail.
"""

import math
import os
import re
from base64 import b64encode
from collections.abc import Callable, Collection, Iterable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, quote, quote_plus, unquote, urlsplit

from carrara.util.errors import UsageError
from carrara.util.unicode import replace_surrogates

if TYPE_CHECKING:
    from inspect_ai.model import ModelCall, ModelOutput, ModelUsage

SHORT = 8
"""The least length of a key. Shorter ones, as for local servers, are parts of ordinary words."""

HIDDEN = "[key]"

SHOWN = 400
"""Characters of each end of a text that a log or an error may show."""
WHOLE = 2 * SHOWN + 100
"""A text of at most this length is shown unshortened."""

PROMPTS = frozenset({"messages", "input", "contents", "prompt", "system", "system_instruction"})
"""The names of the prompt in requests of providers."""

MOST_WRITTEN = 10_000_000
"""The most tokens of a reply. A greater count is wrong."""

MOST_KEPT = 1 << 20
"""The most characters of a reply that are kept, in all its parts together. A log repeats them several times."""

NAMED = 200
"""The most characters of the name that a server gives itself."""

Json = Any

_WORDS = frozenset(
    {"key", "apikey", "token", "secret", "password", "passwd", "passphrase", "credential", "credentials"}
    | {"authorization", "cookie", "signature"}
)
"""Words in the names of secrets."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def secret(name: str) -> bool:
    """Return whether something of this name is a secret.

    >>> [name for name in ("HF_TOKEN", "apiKey", "max_tokens", "MONKEY_MODE", "tokenizer", "x-api-key") if secret(name)]
    ['HF_TOKEN', 'apiKey', 'x-api-key']
    """
    return any(word.lower() in _WORDS for word in _WORD.findall(name))


def public(url: str | None) -> str | None:
    """Return an address without a user's name, a password and the values of its query, which may be secret.

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
    """Return `name=value` of a query with a digest in place of the value. A part without a name is a value."""
    if part in ("", "&", ";"):
        return part
    name, equals, value = part.rpartition("=") if "=" not in part else part.partition("=")
    if not value or re.fullmatch(r"\[[0-9a-f]{6}\]", value):  # it is a digest already
        return part
    return f"{name}{equals}[{blake2b(value.encode(), digest_size=3).hexdigest()}]"


def in_address(url: str | None) -> set[str]:
    """Return the secrets in an address, both as written and decoded."""
    if not url:
        return set()
    parts = urlsplit(url)
    found = {value for _, value in parse_qsl(parts.query, keep_blank_values=False)}
    found |= {part for part in re.split("[&;]", parts.query) if part and "=" not in part}
    found |= {part for part in (parts.username, parts.password) if part}
    if parts.username or parts.password:
        found.add(basic_auth(parts).removeprefix("Basic "))
    return {form for value in found for form in (value, unquote(value), quote(value, safe=""), quote_plus(value))}


def basic_auth(parts: SplitResult) -> str:
    """Return the `Authorization` header of an address with a user's name or password."""
    if not (parts.username or parts.password):
        return ""
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return f"Basic {b64encode(pair.encode()).decode()}"


def in_environment() -> set[str]:
    """Return the secrets in the environment: values of variables with a secret's name, and credentials in addresses."""
    found = set()
    for name, value in os.environ.items():
        if secret(name):
            found.add(value)
        if name.endswith("_URL") and "://" in value:
            found |= in_address(value)
    return found


def mask(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        if len(secret) >= SHORT and secret in text:
            text = text.replace(secret, HIDDEN)
    return text


def refuse_secret(name: str, value: object, where: str) -> None:
    """Raise `UsageError` for an argument that would be logged and whose name, or a part's, marks a secret."""
    if secret(name):
        raise UsageError(f"{where} {name} would be kept in the logs: give keys in the environment")
    if isinstance(value, dict):
        for inner, held in value.items():
            refuse_secret(str(inner), held, f"{where} {name}:")
    if isinstance(value, str) and "://" in value and in_address(value):
        raise UsageError(f"{where} {name} has a secret in its address, which would be kept in the logs: leave it out")


def shorten(text: str) -> str:
    return text if len(text) <= WHOLE else _between(text[:SHOWN], len(text), text[-SHOWN:])


def _between(first: str, characters: int, last: str) -> str:
    return f"{first}\n… {characters - 2 * SHOWN:,} characters …\n{last}"


class Glimpse:
    """Return the excerpt that `shorten` would make of a text, from parts that are not stored."""

    def __init__(self) -> None:
        self._first = self._last = ""
        self._long = 0

    def add(self, part: str) -> None:
        self._long += len(part)
        if len(self._first) <= WHOLE:
            self._first += part[: WHOLE + 1]
        self._last = (self._last + part[-SHOWN:])[-SHOWN:]

    @property
    def text(self) -> str:
        if self._long <= WHOLE:
            return self._first
        return _between(self._first[:SHOWN], self._long, self._last)


def clip(value: Json, secrets: Collection[str]) -> Json:
    """Return a JSON value with long strings and lists shortened and secrets removed."""
    match value:
        case str():
            return shorten(replace_surrogates(mask(value, secrets)))
        case dict():
            return {clip(name, secrets): clip(inner, secrets) for name, inner in value.items()}
        case list() | tuple() if len(value) > 20:
            return [*(clip(inner, secrets) for inner in value[:20]), f"… {len(value) - 20} more …"]
        case list() | tuple():
            return [clip(inner, secrets) for inner in value]
        case float() if not math.isfinite(value):
            return str(value)
        case _:
            return value


def stub(call: "ModelCall", key: str, wanted: Mapping[str, str], secrets: Collection[str]) -> "ModelCall":
    """Return the raw call without the prompt, under any name by which the provider sends it."""
    rest = {name: value for name, value in call.request.items() if name not in PROMPTS}
    return type(call)(
        request={key: clip(dict(wanted), ()), **clip(rest, secrets)},
        response=clip(call.response, secrets),
        error=call.error,
        time=call.time,
    )


def sanitize_output(output: "ModelOutput", secrets: Collection[str], letters: int) -> "ModelOutput":
    """Return an output that can be written, and read again.

    It has no secrets, no number that JSON lacks, at most `MOST_KEPT` characters, and only counts that a prompt of so
    many characters can have.
    """
    for choice in output.choices:
        if choice.logprobs and not all(math.isfinite(one.logprob) for one in choice.logprobs.content):
            choice.logprobs = None
    output.model = output.model[:NAMED]
    output = _each_text(output, lambda text: replace_surrogates(mask(text, secrets)))
    if output.usage is not None and not believable(output.usage, letters):
        output.usage = None
        output.input_context_tokens = None
    return output


def believable(usage: "ModelUsage", letters: int) -> bool:
    """Return whether counts are plausible: at most four tokens for each character, and none negative."""
    read = usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    counts = [value for value in usage.model_dump().values() if value is not None]
    return all(0 <= value < math.inf for value in counts) and (
        read <= 4 * letters + 10_000 and usage.output_tokens <= MOST_WRITTEN
    )


def _each_text(output: "ModelOutput", change: Callable[[str], str]) -> "ModelOutput":
    """Return an output with every text in it changed and clipped, or the same object if nothing changes."""
    dumped = output.model_dump()
    changed = _walk(dumped, change)
    lengths = list[int]()
    _walk(changed, lambda text: lengths.append(len(text)) or text)  # type: ignore[func-returns-value]
    if sum(lengths) > MOST_KEPT:
        most = _longest_kept(lengths)
        changed = _walk(changed, lambda text: _leave_out_middle(text, most))
    return output if changed is dumped else type(output).model_validate(changed)


def _longest_kept(lengths: Collection[int]) -> int:
    """Return the length to which longer texts are clipped, so that all together have at most `MOST_KEPT` characters.

    >>> _longest_kept([10, 2 << 20, 3 << 20]), 10 + 2 * 524283
    (524283, 1048576)
    """
    left, count = MOST_KEPT, len(lengths)
    for length in sorted(lengths):
        if length * count > left:
            break
        left, count = left - length, count - 1
    return left // max(1, count)


def _leave_out_middle(text: str, most: int) -> str:
    """Return a text with at most about `most` characters. An answer mostly stands at one of its ends."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters are not kept …\n{text[len(text) - half :]}"


def _walk(value: Json, change: Callable[[str], str]) -> Json:
    match value:
        case str():
            return change(value)
        case dict():
            inner = {_walk(name, change): _walk(held, change) for name, held in value.items()}
            same = all(a is b and c is d for (a, c), (b, d) in zip(value.items(), inner.items(), strict=False))
            return value if same and len(inner) == len(value) else inner
        case list():
            items = [_walk(held, change) for held in value]
            return value if all(a is b for a, b in zip(value, items, strict=True)) else items
        case float() if not math.isfinite(value):
            return str(value)
        case _:
            return value
