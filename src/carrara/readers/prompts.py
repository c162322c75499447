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


def prompt_of(wanted: Reference) -> Sequence[Message]:
    """Return the messages that a reference stands for."""
    id = wanted["id"]
    if PARTS in wanted:
        return [Message("user", context_of(id).render(wanted[PARTS]))]
    messages = context_of(id).prompt(wanted[CONTEXT]) if CONTEXT in wanted else list(messages_of(id))
    if request := wanted.get(REQUEST, ""):
        messages[-1] = Message(messages[-1].role, messages[-1].content + request)
    return messages


def is_quick_to_render(wanted: Reference) -> bool:
    """Return whether rendering these messages takes less time than calling a thread."""
    return is_quick(wanted["id"])


def parts_of(wanted: Reference) -> Iterator[PromptPart]:
    """Yield these messages in parts. Only the last part is held in memory; a shortened context is short."""
    if PARTS in wanted or CONTEXT in wanted:
        for number, message in enumerate(prompt_of(wanted)):
            yield PromptPart(number, message.role, message.content)
        return
    for part in item_of(wanted["id"]).prompt.parts(counted=False):  # the last part is needed below
        yield part
    if request := wanted.get(REQUEST, ""):
        yield PromptPart(part.message, part.role, request)
