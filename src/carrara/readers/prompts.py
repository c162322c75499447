"""The messages of an item as a model receives them: with the whole context, or with the parts that retrieval finds.

A reference names the item, the setting of retrieval, and text that is added to the prompt. Retrieval is imported only
if a reference uses it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from carrara.constants import REQUEST, RETRIEVE
from carrara.items.item import is_quick, item_of, messages_of
from carrara.packing.prompt import PromptPart
from carrara.types import Message

if TYPE_CHECKING:
    from carrara.readers.retrieval import FoundParts, Recall


def prompt_of(wanted: Mapping[str, str]) -> Sequence[Message]:
    """Return the messages that a reference names."""
    id = wanted["id"]
    if retrieve := wanted.get(RETRIEVE, ""):
        template = item_of(id).prompt.template
        messages = [Message("user", template.before + _retrieve_for(id, retrieve).text + template.after)]
    else:
        messages = list(messages_of(id))
    if request := wanted.get(REQUEST, ""):
        messages[-1] = Message(messages[-1].role, messages[-1].content + request)
    return messages


def quickly(wanted: Mapping[str, str]) -> bool:
    """Return whether rendering these messages takes less time than calling a thread."""
    return not wanted.get(RETRIEVE) and is_quick(wanted["id"])


def parts_of(wanted: Mapping[str, str]) -> Iterator[PromptPart]:
    """Yield these messages in parts. Only the last part is held in memory; a shortened context is short."""
    if wanted.get(RETRIEVE):
        for number, message in enumerate(prompt_of(wanted)):
            yield PromptPart(number, message.role, message.content)
        return
    for part in item_of(wanted["id"]).prompt.parts(counted=False):  # the last part is needed below
        yield part
    if request := wanted.get(REQUEST, ""):
        yield PromptPart(part.message, part.role, request)


def recall_of(id: str, retrieve: str) -> "Recall | None":
    """Return the share of an item's evidence that its question found. None: the question has no evidence."""
    return _retrieve_for(id, retrieve).recall


def _retrieve_for(id: str, retrieve: str) -> "FoundParts":
    from carrara.readers.retrieval.contexts import retrieve_parts

    return retrieve_parts(id, retrieve)
