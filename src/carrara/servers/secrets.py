"""Secrets: where they are, which arguments are refused or hidden, and how texts are kept free of them.

A secret may be in an API key, in the address of a server (`http://name:word@host/v1?api_key=…`), in an argument of the
model such as the headers of its requests, or in the environment. A server may repeat it, also in Base64, reversed or in
capital letters.
"""

import json
import os
import re
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, quote_plus, unquote, urlsplit

from carrara.util.errors import UsageError

SHORT, SHORTEST = 8, 4
"""A secret of at least `SHORT` characters is masked wherever it stands. A shorter one is masked where it stands alone,
if it has at least `SHORTEST` characters and is neither a word nor a number."""

CODED = 6
"""The least characters of a secret in Base64 that are masked."""

PLACEHOLDERS = frozenset(
    {
        "none", "empty", "null", "na", "n/a", "no", "x", "xx", "xxx", "dummy", "fake", "foo", "bar", "test", "local",
        "key", "token", "nokey", "no-key", "not-needed", "no-key-required", "sk-no-key-required", "sk-none", "sk-xxx",
        "ollama", "lm-studio", "lmstudio", "vllm", "sglang", "llama-cpp-python", "inspectai", "token-abc123",
        "placeholder", "unused", "anything",
    }
)  # fmt: skip
"""Keys that users give to servers without keys. They are no secrets, and are parts of ordinary words."""

HIDDEN = "[key]"

_WORDS = frozenset(
    {"key", "apikey", "token", "secret", "password", "passwd", "passphrase", "passcode", "pass", "credential"}
    | {"credentials", "creds", "authorization", "bearer", "cookie", "signature", "jwt", "pwd"}
)
"""Words in the names of secrets."""
_SUSPECT = _WORDS | {"auth", "authentication", "oauth", "cred", "pw", "pin", "otp", "sig", "sas"}
"""Words in the names of arguments that may be secrets."""
_CARRIERS = frozenset({"header", "headers", "query", "cookies"})
"""Words in the names of arguments that are sent with each request. Each of their values may be a secret."""
_PERSONAL = frozenset(
    {"organization", "organisation", "org", "session", "account", "tenant", "user", "username", "email"}
)
"""Words in the names of arguments that say who asks."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_KEY_FORMS = re.compile(
    r"\b(sk|pk|rk|hf|gh[oprsu]|github_pat|glpat|gsk|xai|r8|nvapi|pplx|xox[a-z]|key)[-_][\w-]{6,}"  # of known providers
    r"|\b(AKIA|ASIA|AIza|ya29|eyJ)[\w.-]{8,}"
    r"|\b(bearer|basic|token|digest)\s+\S+"  # a header's value
    r"|\b[0-9a-f]{32,}\b|\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b",
    re.IGNORECASE,
)
_RUN = re.compile(r"[A-Za-z0-9]{16,}")
_CLASSES = re.compile(r"[a-z]+|[A-Z]+|[0-9]+")
_MIXED = 0.25
"""The least share of places at which a key changes between small letters, capital letters and digits. A random key
changes at half of them, a word after its first letter alone."""


def _words_of(name: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(name)}


def secret(name: str) -> bool:
    """Return whether something of this name is a secret.

    >>> [name for name in ("HF_TOKEN", "apiKey", "max_tokens", "MONKEY_MODE", "tokenizer", "x-api-key") if secret(name)]
    ['HF_TOKEN', 'apiKey', 'x-api-key']
    """
    return not _WORDS.isdisjoint(_words_of(name))


def looks_secret(value: str) -> bool:
    """Return whether a text has the form of a key, whatever its name is.

    >>> [looks_secret(text) for text in ("sk-proj-abc123", "Bearer abc", "Qwen2.5-32B-Instruct", "/models/llama-3")]
    [True, True, False, False]
    """
    if _KEY_FORMS.search(value):
        return True
    runs = _RUN.findall(value)
    return any(len(_CLASSES.findall(run)) - 1 >= _MIXED * (len(run) - 1) for run in runs)


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
    return f"{name}{equals}{_digest(value)}" if value else part


def in_address(url: str | None) -> set[str]:
    """Return the secrets in an address, both as written and decoded."""
    if not url:
        return set()
    parts = urlsplit(url)
    values = {value for _, value in parse_qsl(parts.query, keep_blank_values=False)}
    values |= {part for part in re.split("[&;]", parts.query) if part and "=" not in part}
    values |= {part for part in (parts.username, parts.password) if part}
    if parts.username or parts.password:
        values.add(basic_auth(parts).removeprefix("Basic "))
    return {form for value in values for form in (value, unquote(value), quote(value, safe=""), quote_plus(value))}


def named_in_address(url: str | None) -> dict[str, str]:
    """Return the values in an address that are certainly secrets, each with its name for messages."""
    parts = urlsplit(url or "")
    named = {f"`{name}` in the address": value for name, value in parse_qsl(parts.query) if secret(name)}
    return named | {"the password in the address": unquote(parts.password or "")}


def basic_auth(parts: SplitResult) -> str:
    """Return the `Authorization` header of an address with a user's name or password."""
    if not (parts.username or parts.password):
        return ""
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return f"Basic {b64encode(pair.encode()).decode()}"


def in_environment() -> set[str]:
    """Return the secrets in the environment: values of variables with a secret's name, and credentials in addresses."""
    values = set()
    for name, value in os.environ.items():
        # Servers are not sent these, so that short ones need not be masked. PWD and OLDPWD are folders.
        if secret(name) and len(value) >= SHORT and name not in ("PWD", "OLDPWD"):
            values.add(value)
        if name.endswith("_URL") and "://" in value:
            values |= in_address(value)
    return values


def is_maskable(value: str) -> bool:
    """Return whether a secret can be removed from a text without removing ordinary words.

    >>> [is_maskable(value) for value in ("sk-1", "abc123", "hunter", "12345", "none", "lm-studio", "correct-horse")]
    [True, True, False, False, False, False, True]
    """
    if value.lower() in PLACEHOLDERS:
        return False
    return len(value) >= SHORT or (len(value) >= SHORTEST and not value.isalpha() and not value.isdigit())


def mask(text: str, secrets: Collection[str]) -> str:
    """Return a text without secrets in any of their forms.

    >>> mask("yours: SK-ABC123, 321cba-ks, c2stYWJjMTIz", ["sk-abc123"])
    'yours: [key], [key], [key]'
    >>> mask("a1b2 and a1b2c", ["a1b2"])
    '[key] and a1b2c'
    """
    if not secrets:
        return text
    lower = text.lower()
    present = [pattern for form, pattern in _patterns(frozenset(secrets)) if form in lower]
    return re.sub("|".join(present), HIDDEN, text, flags=re.IGNORECASE) if present else text


@lru_cache(maxsize=256)
def _patterns(secrets: frozenset[str]) -> Sequence[tuple[str, str]]:
    patterns = dict[str, str]()
    for value in filter(is_maskable, secrets):
        patterns |= {form.lower(): re.escape(form) for form in _coded(value)}
        for form in _quoted(value):
            patterns[form.lower()] = re.escape(form) if len(form) >= SHORT else rf"(?<!\w){re.escape(form)}(?!\w)"
    return sorted(patterns.items(), key=lambda pair: (-len(pair[0]), pair[0]))


def _quoted(value: str) -> set[str]:
    forms = {value, repr(value)[1:-1], json.dumps(value)[1:-1]}
    with suppress(UnicodeEncodeError):
        forms |= {quote(value, safe=""), quote_plus(value)}
    return forms | {form[::-1] for form in forms}


def _coded(value: str) -> set[str]:
    """Return a secret in hexadecimal digits and in Base64, forwards and backwards."""
    data = value.encode(errors="surrogatepass")
    whole = b64encode(data).decode()
    parts = {data.hex(), whole, whole.rstrip("=")}
    for before in range(3):  # in Base64 of a longer text, its first and last characters depend on what is beside it
        groups, rest = divmod(before + len(data), 3)
        end = 4 * groups + rest
        parts.add(b64encode(bytes(before) + data).decode()[before and before + 1 : end])
    forms = {form for part in parts if len(part) >= CODED for form in (part, part.translate(_URL_SAFE))}
    return forms | {form[::-1] for form in forms}


_URL_SAFE = str.maketrans("+/", "-_")


def refuse_secret(name: str, value: object, where: str) -> None:
    """Raise `UsageError` for an argument that would be logged and whose name, or a part's, marks a secret.

    Headers and queries may be secrets, and `hide` keeps them out of the logs.
    """
    words = _words_of(name)
    if not _CARRIERS.isdisjoint(words):
        return
    if not _SUSPECT.isdisjoint(words) and value is not None and not isinstance(value, bool):
        raise UsageError(f"{where} {name} would be kept in the logs: give keys in the environment")
    if isinstance(value, Mapping):
        for inner, inner_value in value.items():
            refuse_secret(str(inner), inner_value, f"{where} {name}:")
    if isinstance(value, str) and "://" in value and in_address(value):
        raise UsageError(f"{where} {name} has a secret in its address, which would be kept in the logs: leave it out")


def hide(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a model as logs may show them. A digest stands in place of each value that may be secret.

    >>> hide({"default_headers": {"X-Auth": "abc"}, "context": 4096, "device": "cuda:0", "extra": ["sk-proj-abc123"]})
    {'default_headers': {'X-Auth': '[8c45ed]'}, 'context': 4096, 'device': 'cuda:0', 'extra': ['[ef62d0]']}
    >>> hide(hide({"organization": "acme"})) == hide({"organization": "acme"})
    True
    """
    return {name: _change_secrets(name, value, lambda text, _: _digest(text)) for name, value in arguments.items()}


def in_arguments(arguments: Mapping[str, Any]) -> set[str]:
    """Return the secrets among a model's arguments, and whatever else is hidden and is neither a word nor a number."""
    return {
        form
        for text, is_secret in _hidden_texts(arguments)
        for form in (text, _SCHEME.sub("", text))
        if is_secret or not (form.isalpha() or form.isdigit())
    }


def check_secrets(key: str, address: str | None, arguments: Mapping[str, Any]) -> None:
    """Raise `UsageError` for a secret that is sent to a server and could not be removed from its replies."""
    named = [_SCHEME.sub("", text) for text, is_secret in _hidden_texts(arguments) if is_secret]
    sent = [("the API key", key), *named_in_address(address).items(), *(("a secret in `model_args`", v) for v in named)]
    for what, value in sent:
        if value and value.lower() not in PLACEHOLDERS and not is_maskable(value):
            raise UsageError(
                f"{what} is so short that it could not be told from words of a reply, and would be written: give one "
                f"of {SHORT} characters or more, or `none` to a server that needs none"
            )


def _hidden_texts(arguments: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Return the texts that `hide` hides, and whether the name or form of each says that it is a secret."""
    texts = list[tuple[str, bool]]()

    def note(text: str, is_secret: bool) -> str:
        texts.append((text, is_secret))
        return text

    for name, value in arguments.items():
        _change_secrets(name, value, note)
    return texts


_SCHEME = re.compile(r"^(bearer|basic|token|digest) +", re.IGNORECASE)


def _change_secrets(name: str, value: object, change: Callable[[str, bool], str], is_private: bool = False) -> object:
    """Return an argument with each text in it changed that may be a secret.

    Args:
        change: What becomes of a text. It is also given whether the text's name or form says that it is a secret.
        is_private: Whether it is hidden whatever its name is.
    """
    words = _words_of(name)
    is_secret = not _SUSPECT.isdisjoint(words)
    is_private = is_private or is_secret or not (_CARRIERS | _PERSONAL).isdisjoint(words)
    match value:
        case Mapping():
            return {key: _change_secrets(str(key), inner, change, is_private) for key, inner in value.items()}
        case list() | tuple() | set():
            return [_change_secrets(name, inner, change, is_private) for inner in value]
        case bytes():
            return _change_secrets(name, value.decode(errors="replace"), change, is_private)
        case int() | float() if is_private and not isinstance(value, bool):
            return change(str(value), is_secret)
        case str() if is_private or ("revision" not in words and looks_secret(value)):
            return change(value, is_secret or looks_secret(value))
        case _:
            return value


def _digest(value: str) -> str:
    """Return a digest in place of a value. A digest stays as it is."""
    if re.fullmatch(r"\[[0-9a-f]{6}\]", value):
        return value
    return f"[{blake2b(value.encode(errors='surrogatepass'), digest_size=3).hexdigest()}]"
