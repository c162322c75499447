"""Detect whether a server continues a reply that the request begins (prefill), and choose how to suppress reasoning.

The server's token counts decide, and nothing that it writes: if it closes the message that the request begins, and
opens the next one behind it, the request takes more tokens than its text.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from carrara.core.errors import UsageError
from carrara.core.metadata import COT
from carrara.core.result import Subject
from carrara.proof.reference import REFERENCES
from carrara.servers.reasoning_mode import ASKED, NONE, PREFILLED, Thinking
from carrara.servers.short_question import Answer, ShortQuestion, TroubledError

Prefill = Mapping[str, Any]
"""What a request says so that the server continues its last message; for many servers nothing."""

_BEGUN = "one two three"
"""Words that are a token each, at the start of a message and behind another."""
_OPTIONS: tuple[Prefill, ...] = ({}, {"continue_final_message": True, "add_generation_prompt": False})
"""vLLM and SGLang want the second; llama.cpp and some providers take it from the last message."""


def way(cot: str, style: str, subject: Subject, before: Sequence[Subject]) -> str | None:
    """The way of reasoning that settings will say, as far as it is known without asking the server.

    A run goes on as it began: `before` are the subjects of the replies that its folder has.
    """
    if cot != NONE:
        return str(Thinking.parse(cot))
    if style == "base":
        return PREFILLED
    model, settings = subject
    if takes_prompts_only(model):
        return ASKED
    same = {way for way in (PREFILLED, ASKED) if (model, tuple(sorted({*settings, (COT, way)}))) in before}
    return same.pop() if len(same) == 1 else None


def takes_prompts_only(model: str) -> bool:
    """Whether a model can be given a prompt and nothing else, such as the beginning of its reply."""
    return model.removeprefix("carrara/") in REFERENCES or model.startswith("function/")


def must(model: str, cot: str, found: Prefill | None) -> Prefill:
    """Return what was found of a server, or refuse a run that needs prefill."""
    if found is None:
        raise UsageError(
            f"the server of {model} cannot go on with a message, which `cot={cot}` needs, or keeps its reasoning "
            f"apart: use a server that can, such as vLLM or llama.cpp without a reasoning parser, or another `cot`"
        )
    return found


async def find_prefill(question: ShortQuestion, answer: Answer) -> Prefill | None:
    """Find out what a request must say so that the server continues a reply, or None if the server cannot.

    Args:
        question: The short question to the server.
        answer: The server's answer to the question alone.

    Raises:
        TroubledError: The server failed and may answer later.
    """
    alone = answer.input_tokens
    if alone is None or separates_reasoning(answer):
        return None
    for option in _OPTIONS:
        try:
            if await _continues(question, option, alone):
                return option
        except TroubledError as error:
            if error.trouble.kind != "final":
                raise
            # The server refuses such a message.
    return None


async def _continues(question: ShortQuestion, option: Prefill, alone: int) -> bool:
    """Whether the beginning of a reply adds as many tokens to a request as the same words add to that, and no more."""
    counts = [alone]
    for begun in (_BEGUN, f"{_BEGUN} {_BEGUN}"):
        answer = await question.ask(begun, option)
        if answer.input_tokens is None or separates_reasoning(answer):
            return False
        counts.append(answer.input_tokens)
    none, one, two = counts
    return 0 < one - none <= two - one


def separates_reasoning(answer: Answer) -> bool:
    """Whether a reply has its reasoning in a field or part of its own, which no request can continue."""
    response: Any = (answer.call.response if answer.call else None) or {}
    try:
        message = response["choices"][0]["message"]
        content = message.get("content")
        parts = content if isinstance(content, list) else []
        return any(message.get(name) for name in ("reasoning_content", "reasoning")) or any(
            part.get("type") == "thinking" for part in parts
        )
    except (KeyError, IndexError, TypeError, AttributeError):  # not of OpenAI's shape
        return False
