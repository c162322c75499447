"""Whether a server can go on with a message of the model's own, and which way of not reasoning a run takes.

Whether it can is told by the tokens that it counts, and by nothing that it says: a message that is closed, with the
next one opened behind it, takes more than its text.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from inspect_ai._util.http import status_code_of
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, GenerateConfig, ModelAPI, ModelCall

from carrara.core.errors import RunError, UsageError
from carrara.core.metadata import COT
from carrara.core.result import Subject
from carrara.proof.reference import REFERENCES
from carrara.servers import preflight
from carrara.servers.api_errors import said
from carrara.servers.providers import made, prepare_client, secrets_of
from carrara.servers.reasoning_mode import ASKED, NONE, PREFILLED, Thinking
from carrara.servers.redact import clip

_SAID = "Name three letters."
_BEGUN = "one two three"
"""Words that are a token each, at the start of a message and behind another."""
_TOLD: tuple[Mapping[str, Any], ...] = ({}, {"continue_final_message": True, "add_generation_prompt": False})
"""vLLM and SGLang want to be told; llama.cpp and some providers take it from the last message."""

Told = Mapping[str, Any]


def way(cot: str, style: str, subject: Subject, before: Sequence[Subject]) -> str | None:
    """The way of reasoning that settings will say, as far as it is known without asking the server.

    A run goes on as it began: `before` are the subjects of the replies that its folder has.
    """
    if cot != NONE:
        return str(Thinking.parse(cot))
    if style == "base":
        return PREFILLED
    model, settings = subject
    if _only_replies(model):
        return ASKED
    same = {way for way in (PREFILLED, ASKED) if (model, tuple(sorted({*settings, (COT, way)}))) in before}
    return same.pop() if len(same) == 1 else None


def _only_replies(model: str) -> bool:
    """Whether a model is asked for a reply, and nothing else can be said to it."""
    return model.removeprefix("carrara/") in REFERENCES or model.startswith("function/")


def told(model: str, base_url: str | None, args: Mapping[str, Any]) -> Told | None:
    """What a server has to be told to go on with a message; None if it cannot."""
    if _only_replies(model):
        return None
    for option in _TOLD:
        if anyio.run(_goes_on, made(model, base_url, args).api, model, option):
            return option
    return None


def must(model: str, cot: str, found: Told | None) -> Told:
    if found is None:
        raise UsageError(
            f"the server of {model} cannot go on with a message, which `cot={cot}` needs, or keeps its reasoning "
            f"apart: use a server that can, such as vLLM or llama.cpp without a reasoning parser, or another `cot`"
        )
    return found


async def _goes_on(api: ModelAPI, model: str, option: Told) -> bool:
    """Whether a begun reply adds to a request as much as the same words add to a begun reply, and no more."""
    counts: list[int] = []
    prepare_client(api)
    try:
        for words in ("", _BEGUN, f"{_BEGUN} {_BEGUN}"):
            begun: list[ChatMessage] = [ChatMessageAssistant(content=words)] if words else []
            config = GenerateConfig(max_tokens=16, extra_body=dict(option) if option and begun else None)
            with anyio.fail_after(preflight.SECONDS):
                answer = await api.generate([ChatMessageUser(content=_SAID), *begun], [], "none", config)
            output, call = answer if isinstance(answer, tuple) else (answer, None)
            if isinstance(output, Exception):
                raise output
            if output.usage is None or (call is not None and _kept_apart(call)):
                return False
            usage = output.usage
            cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
            counts.append(usage.input_tokens + cached)
    except Exception as error:
        if status_code_of(error) in (400, 422):  # it does not take such a message
            return False
        known = preflight.unusable(error, api, model)
        if isinstance(known, UsageError | RunError):
            raise known from None
        words = clip(said(error), secrets_of(api))
        raise RunError(f"{model} did not answer a short question: {words}") from None
    finally:
        await api.aclose()
    none, one, two = counts
    return 0 < one - none <= two - one


def _kept_apart(call: ModelCall) -> bool:
    """Whether a reply has its thinking in a field of its own, behind which nobody can go on."""
    response: Any = call.response or {}
    try:
        message = response["choices"][0]["message"]
        return any(message.get(name) for name in ("reasoning_content", "reasoning"))
    except (KeyError, IndexError, TypeError, AttributeError):  # not of OpenAI's shape
        return False
