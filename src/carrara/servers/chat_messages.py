"""Messages of prompts as Inspect's, and back, with calls of tools and their results."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParam, ToolParams

from carrara.types import Message

_CLASSES: Mapping[str, Callable[..., ChatMessage]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


def to_inspect(messages: Iterable[Message], fields: Callable[[int], Mapping[str, Any]]) -> list[ChatMessage]:
    """Return messages as Inspect's.

    Args:
        messages: The messages of a prompt.
        fields: A function that returns further fields of a message, given its number.
    """
    result, functions = list[ChatMessage](), dict[str, str]()
    for number, message in enumerate(messages):
        more = fields(number)
        if message.role == "call":
            id, function, arguments = message.tool_use
            functions[id] = function
            call = ToolCall(id=id, function=function, arguments=json.loads(arguments))
            result.append(ChatMessageAssistant(content="", tool_calls=[call], **more))
        elif message.role == "tool":
            id = message.tool_use_id
            tool = ChatMessageTool(content=message.content, tool_call_id=id, function=functions.get(id), **more)
            result.append(tool)
        else:
            result.append(_CLASSES[message.role](content=message.content, **more))
    return result


def from_inspect(message: ChatMessage) -> Message:
    """Return a message of a prompt from Inspect's. Several calls are lines of one message."""
    if isinstance(message, ChatMessageAssistant) and message.tool_calls:
        calls = (
            (call.id, call.function, json.dumps(call.arguments, ensure_ascii=False)) for call in message.tool_calls
        )
        return Message("call", "\n".join(map(" ".join, calls)))
    return Message(message.role, message.text)


def declare_tools(messages: Iterable[ChatMessage]) -> Sequence[ToolInfo]:
    """Return the tools that messages call, for APIs that refuse calls of tools that are not declared."""
    parameters = dict[str, dict[str, ToolParam]]()
    for message in messages:
        for call in getattr(message, "tool_calls", None) or ():
            names = dict.fromkeys(call.arguments, ToolParam(type="string"))
            parameters.setdefault(call.function, {}).update(names)
    return [
        ToolInfo(name=name, description="A tool of the log.", parameters=ToolParams(properties=properties))
        for name, properties in sorted(parameters.items())
    ]
