"""Responses of servers: their validity, how a reply ended, and the cost of the prompt's tokens.

The client of OpenAI-compatible servers accepts any JSON as a reply, and Inspect fails on missing fields. So each
response is checked first, and an error names what is missing.

Providers signal an end in different ways. A prompt that is too long is a stop reason of one provider, a 400 of another
and a 413 of a third, so the message decides. Grading decides whether a reply is 'ok', 'unparsed', 'empty' or 'refused'.
"""

import json
import math
import re
import warnings
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from typing import Any, Literal

from inspect_ai.model import ModelAPI, ModelOutput

from carrara.constants import MOST_ALTERNATIVES, NATS, REPLY_TOKENS
from carrara.servers.retry import GarbledReplyError, ServerError, message_in
from carrara.util.transport import LIMIT, ReplyTooLargeError, ValueCounter

Ending = Literal["answered", "called", "filtered", "truncated", "overflow"]

OVERFLOW = re.compile(
    r"context_length_exceeded"  # OpenAI, and servers that copy its codes
    r"|maximum context length"  # OpenAI's and vLLM's sentence, DeepSeek, Together, Fireworks
    r"|max_?model_?len"  # vLLM: "longer than the maximum model length of", "max_model_len"
    r"|maximum (model|input|sequence|prompt) length"
    r"|exceed(s|ed|_)?.{0,40}context.?(size|length|window|limit)"  # llama.cpp, SGLang, Groq
    r"|context.{0,12}(size|length|window|limit).{0,30}(exceed|overflow|too)"
    r"|longer than the.{0,20}context length"  # SGLang
    r"|(greater than the|with) context length"  # LM Studio: "the model is loaded with context length of only"
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
_ERRORS = ("error", "detail", "message")
"""Where the reply of a server that answers with status 200 may have an error."""
_DETAILS = ("prompt_tokens_details", "completion_tokens_details")
MOST_PLAIN = 1 << 16
"""The most characters of arguments of tools that are no JSON object, such as code."""
MOST_TAGS = 16
"""The most tags of reasoning in a reply that Inspect reads."""
MOST_STREAMED_CALLS = 128
"""The most calls of tools in a streamed reply."""
MOST_CHOICES = 16
"""The most choices of a reply. A run asks for one."""


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
    read_stream: Any = getattr(api, "stream_completion", None)
    if read_stream is not None:
        api.stream_completion = lambda stream: read_stream(_checked(stream))  # type: ignore[attr-defined]


async def _checked(stream: AsyncIterable[Any]) -> AsyncIterator[Any]:
    """Yield the parts of a streamed reply. Raise `GarbledReplyError` for more choices or calls than a client can join.

    The client searches all of them for each part.
    """
    async for part in stream:
        for choice in getattr(part, "choices", None) or ():
            calls = getattr(getattr(choice, "delta", None), "tool_calls", None) or ()
            _check_number(choice, MOST_CHOICES, "choices")
            for call in calls:
                _check_number(call, MOST_STREAMED_CALLS, "calls of tools")
        yield part


def _check_number(part: Any, most: int, name: str) -> None:
    number = getattr(part, "index", 0)
    if not isinstance(number, int) or not 0 <= number < most:
        raise GarbledReplyError(f"has {name} without a number below {most:,}")


def check_completion(completion: Any) -> None:
    """Raise `GarbledReplyError` for a completion without a reply. Remove unreadable fields from others."""
    choices = completion.choices
    if not isinstance(choices, list) or not choices:
        raise _missing_choices(next(filter(None, (getattr(completion, name, None) for name in _ERRORS)), None))
    if len(choices) > MOST_CHOICES:
        raise GarbledReplyError(f"has {len(choices):,} choices")
    for choice in choices:
        _check_choice(choice)
    for name in ("model", "id"):
        if not isinstance(getattr(completion, name, ""), str):
            setattr(completion, name, "")
    usage = getattr(completion, "usage", None)
    if usage is not None and not all(type(getattr(usage, name, None)) is int for name in _COUNTS):
        completion.usage = None
    elif usage is not None:
        for name in _DETAILS:
            details = getattr(usage, name, None)
            if details is not None and not all(type(count) is int for count in _values_of(details)):
                setattr(usage, name, None)


def _missing_choices(error: Any) -> ServerError | GarbledReplyError:
    """Return the error of a reply without choices, which may hold an error in their place."""
    message = message_in(error)
    if not message:
        return GarbledReplyError("has no choices")
    code = str(error.get("code")) if isinstance(error, dict) else ""
    if re.fullmatch("[45][0-9]{2}", code):
        return ServerError(error, int(code))
    return GarbledReplyError(f"is an error ({message})")  # it is cut when no secret is in it any more


def _values_of(details: Any) -> list[Any]:
    """Return the values of an object of the client. Anything else counts as an object with one wrong value."""
    return [value for value in vars(details).values() if value is not None] if hasattr(details, "__dict__") else [None]


def _check_choice(choice: Any) -> None:
    """Raise `GarbledReplyError` for a choice without a message. Remove or mend its unreadable fields."""
    message = getattr(choice, "message", None)
    if message is None or isinstance(message, str | list | int | float):
        raise GarbledReplyError("has a choice without a message")
    content = getattr(message, "content", None)
    if isinstance(content, list):
        texts = [(part, _text(part)) for part in content]
        message.content = "".join(text for part, text in texts if isinstance(text, str) and not _is_thinking(part))
        thoughts = "".join(text for part, text in texts if isinstance(text, str) and _is_thinking(part))
        if thoughts and not getattr(message, "reasoning_content", None):
            message.reasoning_content = thoughts
        if content and not any(isinstance(text, str) for _, text in texts):
            raise GarbledReplyError("has no text in its content")
    elif content is not None and not isinstance(content, str):
        raise GarbledReplyError(f"has {_kind(content)} for its content")
    _separate_thoughts(message)
    if not isinstance(getattr(choice, "index", 0), int):
        choice.index = 0
    if not _has_logprobs(choice):
        choice.logprobs = None
    if getattr(message, "tool_calls", None):
        message.tool_calls = _readable_calls(message.tool_calls)
        _check_arguments([call.function for call in message.tool_calls])
    if not isinstance(getattr(choice, "finish_reason", None), str | None):
        choice.finish_reason = None


def _separate_thoughts(message: Any) -> None:
    """Separate the reasoning of a reply that repeats its tags. Inspect's time for this is the square of their number.

    The reasoning goes from the first tag to the end of the last thought, or to the end of the reply if that thought
    does not end.
    """
    content = getattr(message, "content", None)
    if not isinstance(content, str) or max(map(content.count, ("<think", "<summary>"))) <= MOST_TAGS:
        return
    start, end = content.find("<think"), content.rfind("</think>")
    if start < 0:
        return
    before, thoughts, after = content[:start], content[start:], ""
    if end > start:
        thoughts, after = content[start:end], content[end + len("</think>") :]
    message.content = before + after
    if not getattr(message, "reasoning_content", None):
        message.reasoning_content = thoughts


def _has_logprobs(choice: Any) -> bool:
    """Return whether the log-probabilities of a choice have the types that OpenAI's API gives them."""
    from openai.types.chat.chat_completion import ChoiceLogprobs

    try:
        ChoiceLogprobs.model_validate(choice.logprobs.model_dump(warnings=False))
    except (ValueError, AttributeError, ArithmeticError):
        return False
    return True


def _readable_calls(calls: Any) -> list[Any]:
    """Return the calls of tools that name a tool. Calls without an id get one."""
    calls = calls if isinstance(calls, list) else []
    readable = [call for call in calls if isinstance(getattr(getattr(call, "function", None), "name", None), str)]
    for number, call in enumerate(readable):
        if not isinstance(getattr(call, "id", None), str):
            call.id = f"call_{number}"
    return readable


def _check_arguments(functions: Sequence[Any]) -> None:
    """Mend the arguments of calls of tools. Raise an error for those that would cost more than their reply.

    They are JSON within the JSON of the reply. Inspect reads what is no JSON object as YAML, in which a few lines may
    stand for millions of values.
    """
    values = plain = 0
    for function in functions:
        arguments = getattr(function, "arguments", None)
        if not arguments:
            function.arguments = ""
            continue
        if not isinstance(arguments, str):  # OpenAI's API has them as a text
            function.arguments = json.dumps(arguments)
        elif arguments.lstrip().startswith("{"):
            values += ValueCounter().add(arguments.encode("utf-8", "replace"))
        else:
            plain += len(arguments)
            if plain <= MOST_PLAIN and not _is_json(arguments):
                function.arguments = json.dumps(arguments)
    if values > LIMIT.values:
        raise ReplyTooLargeError(f"{LIMIT.values:,} JSON values")
    if plain > MOST_PLAIN:
        raise GarbledReplyError(f"has {plain:,} characters of arguments of tools that are no JSON object")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_thinking(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "thinking"


def _text(part: Any) -> Any:
    """Return the text of a part of a reply's content. Another value means that the part has no text, such as an image.

    >>> _text({"type": "thinking", "thinking": [{"type": "text", "text": "So"}]}), _text({"text": "[1]"})
    ('So', '[1]')
    >>> _text({"type": "image_url"})
    """
    if _is_thinking(part):
        thoughts = part.get("thinking")
        if isinstance(thoughts, list) and all(isinstance(_text(thought), str) for thought in thoughts):
            return "".join(map(_text, thoughts))
        return thoughts
    if not isinstance(part, dict):
        return part
    return part.get("text") if part.get("type", "text") == "text" else part.get("refusal")


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
    prompt_logprobs = [choice.prompt_logprobs for choice in output.choices if choice.prompt_logprobs]
    if not prompt_logprobs:
        return output
    for choice in output.choices:
        choice.prompt_logprobs = None
    logprobs = [token.logprob for token in prompt_logprobs[0].content]
    if logprobs and all(math.isfinite(logprob) and logprob <= 0 for logprob in logprobs):
        output.metadata = {**(output.metadata or {}), NATS: -math.fsum(logprobs) / len(logprobs)}
    return output


MOST_REPLY_TOKENS = 256
"""The number of tokens of a reply whose log-probabilities are kept."""
ROUNDING, LOGPROB_DIGITS = 1e-4, 5
"""How far above 0 a log-probability may be by rounding, and the decimal digits that are kept."""


def keep_reply_tokens(output: ModelOutput) -> ModelOutput:
    """Replace the log-probabilities of a reply's tokens by a short list of the first ones.

    The numbers of a server are untrusted: if one is not a log-probability, none is kept.

    Returns:
        The output. Its metadata has `[text, log-probability, {text: log-probability}]` for each token.
    """
    if not output.choices or output.choices[0].logprobs is None:
        return output
    content = output.choices[0].logprobs.content[:MOST_REPLY_TOKENS]
    for choice in output.choices:
        choice.logprobs = None
    tokens = [
        (token.token, token.logprob, {top.token: top.logprob for top in (token.top_logprobs or ())[:MOST_ALTERNATIVES]})
        for token in content
    ]
    logprobs = [logprob for _, logprob, top in tokens for logprob in (logprob, *top.values())]
    if tokens and all(math.isfinite(logprob) and logprob <= ROUNDING for logprob in logprobs):
        output.metadata = {
            **(output.metadata or {}),
            REPLY_TOKENS: [
                [text, _rounded(logprob), {other: _rounded(of_other) for other, of_other in top.items()}]
                for text, logprob, top in tokens
            ],
        }
    return output


def _rounded(logprob: float) -> float:
    return min(0.0, round(logprob, LOGPROB_DIGITS))
