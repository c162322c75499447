"""What may be kept of what goes over the wire: short, without the prompt, without a secret, and fit to be written.

A server's reply is untrusted. Half of a surrogate pair in it cannot be written as UTF-8, and one that reached the cache
would fail every later run of its folder.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from inspect_ai.model import ModelCall, ModelOutput, ModelUsage

from carrara.core.letters import whole
from carrara.engine.secrecy import masked

SHOWN = 400
"""Characters of each end of a text that a log or an error may show."""
WHOLE = 2 * SHOWN + 100
"""A text so short is shown whole."""

PROMPTS = frozenset({"messages", "input", "contents", "prompt", "system", "system_instruction"})
"""What providers call the prompt in their requests."""

MOST_WRITTEN = 10_000_000
"""Tokens that no reply has: a count above it is no count."""

NAMED = 200
"""Characters of the name that a server gives itself."""

Json = Any


def shorten(text: str) -> str:
    return text if len(text) <= WHOLE else _between(text[:SHOWN], len(text), text[-SHOWN:])


def _between(first: str, characters: int, last: str) -> str:
    return f"{first}\n… {characters - 2 * SHOWN:,} characters …\n{last}"


class Glimpse:
    """Of a text that comes in parts and is not held, what `shorten` would keep."""

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
    """A JSON value with every long string and list shortened and the secrets taken out."""
    match value:
        case str():
            return shorten(whole(masked(value, secrets)))
        case dict():
            return {clip(name, secrets): clip(inner, secrets) for name, inner in value.items()}
        case list() | tuple() if len(value) > 20:
            return [*(clip(inner, secrets) for inner in value[:20]), f"… {len(value) - 20} more …"]
        case list() | tuple():
            return [clip(inner, secrets) for inner in value]
        case _:
            return value


def stub(call: ModelCall, key: str, wanted: Mapping[str, str], secrets: Collection[str]) -> ModelCall:
    """The raw call without the prompt, under whichever name the provider sends it."""
    rest = {name: value for name, value in call.request.items() if name not in PROMPTS}
    return ModelCall(
        request={key: clip(dict(wanted), ()), **clip(rest, secrets)},
        response=clip(call.response, secrets),
        error=call.error,
        time=call.time,
    )


def kept(output: ModelOutput, secrets: Collection[str], letters: int) -> ModelOutput:
    """An output that can be written, without secrets, with counts that can be of a prompt of so many letters."""
    output = _each_text(output, lambda text: whole(masked(text, secrets)))
    output.model = output.model[:NAMED]
    if output.usage is not None and not believable(output.usage, letters):
        output.usage = None
        output.input_context_tokens = None
    return output


def believable(usage: ModelUsage, letters: int) -> bool:
    """Whether counts can be of such a prompt: no letter takes more than four tokens, and no count is negative."""
    read = usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    counts = [value for value in usage.model_dump().values() if isinstance(value, int)]
    return min(counts, default=0) >= 0 and read <= 4 * letters + 10_000 and usage.output_tokens <= MOST_WRITTEN


def _each_text(output: ModelOutput, change: Callable[[str], str]) -> ModelOutput:
    """An output with every text in it changed; the same object where nothing is."""
    dumped = output.model_dump()
    changed = _walk(dumped, change)
    return output if changed is dumped else ModelOutput.model_validate(changed)


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
        case _:
            return value
