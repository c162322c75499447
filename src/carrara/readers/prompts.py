"""The messages that references stand for.

    {"id": …}                                          the item's whole prompt
    {"id": …, "context": ["Notes: …", [120, 480]]}     the item's prompt with these parts in place of its context
    {"id": …, "parts": ["Read this: ", [0, 4096]]}     one message of these parts

A part is a text, or the positions of a passage in the item's context. So no reference has a text of the context.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from carrara.constants import CONTEXT, PARTS, REQUEST
from carrara.items.item import is_quick, item_of, messages_of
from carrara.items.prompt import PromptPart
from carrara.readers.context import context_of
from carrara.types import Message

Reference = Mapping[str, Any]
"""A reference in place of a prompt or a message."""


def prompt_of(reference: Reference) -> Sequence[Message]:
    """Return the messages that a reference stands for."""
    id = reference["id"]
    if PARTS in reference:
        return [Message("user", context_of(id).render(reference[PARTS]))]
    messages = context_of(id).prompt(reference[CONTEXT]) if CONTEXT in reference else list(messages_of(id))
    if request := reference.get(REQUEST, ""):
        messages[-1] = Message(messages[-1].role, messages[-1].content + request)
    return messages


def is_quick_to_render(reference: Reference) -> bool:
    """Return whether rendering these messages takes less time than calling a thread."""
    return is_quick(reference["id"])


def parts_of(reference: Reference) -> Iterator[PromptPart]:
    """Yield these messages in parts. Only the last part is held in memory; a shortened context is short."""
    if PARTS in reference or CONTEXT in reference:
        for number, message in enumerate(prompt_of(reference)):
            yield PromptPart(number, message.role, message.content)
        return
    for part in item_of(reference["id"]).prompt.parts(counted=False):  # the last part is needed below
        yield part
    if request := reference.get(REQUEST, ""):
        yield PromptPart(part.message, part.role, request)
