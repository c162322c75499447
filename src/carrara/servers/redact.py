"""Redaction of secrets and prompts, so that none reaches a log, a report, an error or the terminal.

A reply is untrusted: half of a surrogate pair in it cannot be written as UTF-8, and in the cache it would make every
later run of the folder fail.
"""

import math
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from carrara.servers.secrets import mask
from carrara.util.unicode import replace_surrogates

if TYPE_CHECKING:
    from inspect_ai.model import ModelCall, ModelOutput, ModelUsage

SHOWN = 400
"""Characters of each end of a text that a log or an error may show."""
WHOLE = 2 * SHOWN + 100
"""A text of at most this length is shown unshortened."""

PROMPTS = frozenset({"messages", "input", "contents", "prompt", "system", "system_instruction"})
"""The names of the prompt in requests of providers."""

MOST_WRITTEN = 10_000_000
"""The most tokens of a reply. A greater count is wrong."""

MOST_COUNTED = 1 << 40
"""The most tokens of any other count, such as reasoning."""

MOST_KEPT = 1 << 20
"""The most characters of a reply that are kept, in all its parts together. A log repeats them several times."""

NAMED = 200
"""The most characters of the name that a server gives itself."""

Json = Any


def shorten(text: str) -> str:
    return text if len(text) <= WHOLE else _between(text[:SHOWN], len(text), text[-SHOWN:])


def _between(first: str, characters: int, last: str) -> str:
    return f"{first}\n… {characters - 2 * SHOWN:,} characters …\n{last}"


class Glimpse:
    """The excerpt that `shorten` would make of a text, from parts that are not stored."""

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


def stub(call: "ModelCall", key: str, reference: Mapping[str, str], secrets: Collection[str]) -> "ModelCall":
    """Return the raw call without the prompt, under any name by which the provider sends it."""
    rest = {name: value for name, value in call.request.items() if name not in PROMPTS}
    return type(call)(
        request={key: clip(dict(reference), ()), **clip(rest, secrets)},
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
        if choice.logprobs and not _is_finite(choice.logprobs.model_dump()):
            choice.logprobs = None
    output = _each_text(output, lambda text: replace_surrogates(mask(text, secrets)))
    output.model = output.model[:NAMED]
    if output.usage is not None and not believable(output.usage, letters):
        output.usage = None
        output.input_context_tokens = None
    return output


def _is_finite(value: Json) -> bool:
    match value:
        case dict():
            return all(map(_is_finite, value.values()))
        case list():
            return all(map(_is_finite, value))
        case float():
            return math.isfinite(value)
        case _:
            return True


def believable(usage: "ModelUsage", letters: int) -> bool:
    """Return whether counts are plausible: at most four tokens for each character, and none negative."""
    read = usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    counts = [value for value in usage.model_dump().values() if value is not None]
    return all(0 <= value <= MOST_COUNTED for value in counts) and (
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
            inner = {_walk(name, change): _walk(inner_value, change) for name, inner_value in value.items()}
            same = all(a is b and c is d for (a, c), (b, d) in zip(value.items(), inner.items(), strict=False))
            return value if same and len(inner) == len(value) else inner
        case list():
            items = [_walk(inner_value, change) for inner_value in value]
            return value if all(a is b for a, b in zip(value, items, strict=True)) else items
        case float() if not math.isfinite(value):
            return str(value)
        case _:
            return value
