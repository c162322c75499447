"""Replies of OpenAI-compatible servers, looked at before they are read: what is missing is said in a sentence.

Their client takes any JSON for a reply, and Inspect trips over what is not there.
"""

import warnings
from typing import Any

from inspect_ai.model import ModelAPI

from carrara.servers.api_errors import GarbledReplyError

_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")


def watch(api: ModelAPI) -> None:
    """Have a provider look first, if it is one that reads such replies."""
    read: Any = getattr(api, "chat_choices_from_completion", None)
    if read is None:
        return
    # What it would warn of is dealt with here.
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)

    def look(completion: Any, tools: Any) -> Any:
        check(completion)
        return read(completion, tools)

    api.chat_choices_from_completion = look  # type: ignore[attr-defined]


def check(completion: Any) -> None:
    """Raise for a completion that is none; take out of it what is beside the reply and cannot be read."""
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
