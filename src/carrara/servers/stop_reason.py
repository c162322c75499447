"""What became of a request, read from a stop reason or from a provider's words.

Providers agree on nothing here: a prompt that is too long is a stop reason of one, a 400 of the next and a 413 of a
third, so the words decide. Whether an answered reply is 'ok', 'unparsed' or 'refused' is for grading to say.
"""

import re
from typing import Literal

from inspect_ai.model import ModelOutput

Ending = Literal["answered", "called", "filtered", "truncated", "overflow"]

OVERFLOW = re.compile(
    r"context_length_exceeded"  # OpenAI, and whoever copies its codes
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
"""'Too many tokens per minute' is about the account, not about the prompt."""

REJECTIONS = frozenset({400, 413, 422, 500})
"""500 is here for llama.cpp: some of its versions answer so when a prompt does not fit. A rate limit (429) never is."""


def tells_overflow(words: str, http_status: int | None) -> bool:
    """Does an error say that the prompt is longer than the model's context?"""
    if http_status is not None and http_status not in REJECTIONS:
        return False
    return http_status == 413 or (bool(OVERFLOW.search(words)) and not NOT_OVERFLOW.search(words))


def ending(output: ModelOutput) -> Ending:
    """What a logged output says about its end."""
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
