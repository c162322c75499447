"""Responses of servers: their validity, how a reply ended, and the cost of the prompt's tokens.

The client of OpenAI-compatible servers accepts any JSON as a reply, and Inspect fails on missing fields. So each
response is checked first, and an error names what is missing.

Providers signal an end in different ways. A prompt that is too long is a stop reason of one provider, a 400 of another
and a 413 of a third, so the message decides. Grading decides whether a reply is 'ok', 'unparsed', 'empty' or 'refused'.
"""

import math
import re
import warnings
from typing import Any, Literal

from inspect_ai.model import ModelAPI, ModelOutput

from carrara.constants import NATS
from carrara.servers.retry import GarbledReplyError

Ending = Literal["answered", "called", "filtered", "truncated", "overflow"]

OVERFLOW = re.compile(
    r"context_length_exceeded"  # OpenAI, and servers that copy its codes
    r"|maximum context length"  # OpenAI's and vLLM's sentence, DeepSeek, Together, Fireworks
    r"|max_?model_?len"  # vLLM: "longer than the maximum model length of", "max_model_len"
    r"|maximum (model|input|sequence|prompt) length"
    r"|exceed(s|ed|_)?.{0,40}context.?(size|length|window|limit)"  # llama.cpp, SGLang, Groq
    r"|context.{0,12}(size|length|window|limit).{0,30}(exceed|overflow|too)"
    r"|longer than the.{0,20}context length"  # SGLang
    r"|prompt is too long|input is too long|input length and `max_tokens` exceed"  # Anthropic, Bedrock
    r"|input token count.{0,40}exceeds|exceeds the maximum (number of|allowed)\s(input\s)?tokens"  # Google
    r"|too many (input |total )?tokens|reduce the length of (the|your) (messages|prompt|input)"
    r"|(prompt|input) (length|tokens?).{0,30}(exceed|too (long|large))"  # DeepInfra, Mistral, xAI
    r"|`inputs` tokens \+"  # TGI
    r"|requested tokens.{0,30}exceed"  # llama-cpp-python
    r"|request_too_large|request entity too large|payload too large",  # 413 of Anthropic and of proxies
    re.IGNORECASE,
)

NOT_OVERFLOW = re.compile(r"per (minute|day|hour)|rate.?limit|\b[TR]PM\b|quota", re.IGNORECASE)
"""A pattern of errors about the account, such as 'Too many tokens per minute', not about the prompt."""

REJECTIONS = frozenset({400, 413, 422, 500})
"""Status codes of overflows. Some versions of llama.cpp answer 500 if a prompt does not fit."""

_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")


def validate_responses(api: ModelAPI) -> None:
    """Have a provider check each response for the API of OpenAI before it reads it."""
    read: Any = getattr(api, "chat_choices_from_completion", None)
    if read is None:
        return
    # Its warnings are handled here.
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)

    def look(completion: Any, tools: Any) -> Any:
        check_completion(completion)
        return read(completion, tools)

    api.chat_choices_from_completion = look  # type: ignore[attr-defined]


def check_completion(completion: Any) -> None:
    """Raise `GarbledReplyError` for a completion without a reply. Remove unreadable fields from others."""
    choices = completion.choices
    if not isinstance(choices, list) or not choices:
        raise GarbledReplyError("has no choices")
    for choice in choices:
        message = getattr(choice, "message", None)
        if message is None or isinstance(message, str | list | int | float):
            raise GarbledReplyError("has a choice without a message")
        content = getattr(message, "content", None)
        if isinstance(content, list) and all(isinstance(_text(part), str) for part in content):
            message.content = "".join(_text(part) for part in content if not _is_thinking(part))
            thoughts = "".join(_text(part) for part in content if _is_thinking(part))
            if thoughts and not getattr(message, "reasoning_content", None):
                message.reasoning_content = thoughts
        elif content is not None and not isinstance(content, str):
            raise GarbledReplyError(f"has {_kind(content)} for its content")
        if not isinstance(getattr(choice, "index", 0), int):
            choice.index = 0
        if not isinstance(getattr(message, "tool_calls", None), list | None):
            raise GarbledReplyError("calls tools in a way that cannot be read")
        if not isinstance(getattr(choice, "finish_reason", None), str | None):
            choice.finish_reason = None
    if not isinstance(getattr(completion, "model", ""), str):
        completion.model = ""
    usage = getattr(completion, "usage", None)
    if usage is not None and not all(type(getattr(usage, name, None)) is int for name in _COUNTS):
        completion.usage = None


def _is_thinking(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "thinking"


def _text(part: Any) -> Any:
    """Return the text of one of the parts of a reply's content. None: it is a part of another kind.

    >>> _text({"type": "thinking", "thinking": [{"type": "text", "text": "So"}]}), _text({"text": "[1]"})
    ('So', '[1]')
    >>> _text({"type": "image_url"})
    """
    if _is_thinking(part):
        thoughts = part.get("thinking")
        if isinstance(thoughts, list) and all(isinstance(_text(one), str) for one in thoughts):
            return "".join(map(_text, thoughts))
        return thoughts
    return part.get("text") if isinstance(part, dict) and part.get("type", "text") == "text" else None


def _kind(value: Any) -> str:
    return {"int": "a number", "float": "a number", "bool": "a truth value", "dict": "an object"}.get(
        type(value).__name__, "a list"
    )


def tells_overflow(words: str, http_status: int | None) -> bool:
    """Return whether an error says that the prompt is longer than the model's context."""
    if http_status is not None and http_status not in REJECTIONS:
        return False
    return http_status == 413 or (bool(OVERFLOW.search(words)) and not NOT_OVERFLOW.search(words))


def ending(output: ModelOutput) -> Ending:
    """Return how the reply of a logged output ended."""
    if output.choices and (output.message.tool_calls or output.stop_reason == "tool_calls"):
        return "called"
    match output.stop_reason if output.choices else "unknown":
        case "content_filter":
            return "filtered"
        case "max_tokens":
            return "truncated"
        case "model_length":
            # Some models write until their window is full: the prompt did fit.
            wrote = output.usage is not None and output.usage.output_tokens > 0
            return "truncated" if wrote else "overflow"
        case _:
            return "answered"


def average_logprobs(output: ModelOutput) -> ModelOutput:
    """Replace the log-probabilities of a prompt's tokens by their mean cost in nats.

    The numbers of a server are untrusted: if there are none, or one is not a log-probability, there is no mean.
    """
    found = [choice.prompt_logprobs for choice in output.choices if choice.prompt_logprobs]
    if not found:
        return output
    for choice in output.choices:
        choice.prompt_logprobs = None
    told = [one.logprob for one in found[0].content]
    if told and all(math.isfinite(one) and one <= 0 for one in told):
        output.metadata = {**(output.metadata or {}), NATS: -math.fsum(told) / len(told)}
    return output
