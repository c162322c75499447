"""Retrieval in front of a model: an item's prompt with a context that is shortened to what its question finds.

A context is cut and embedded once for all its questions; what was found is kept until the reply is scored, because
recall is a result too.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from threading import Lock

from carrara.engine.items import item_of, messages_of
from carrara.errors import UsageError
from carrara.items import Item
from carrara.retrieval import Index, Recall, Retrieval, Retrieved
from carrara.types import Message

_KEPT = 4096
"""Shortened contexts: a few kilobytes each."""
_FINDING = Lock()


def prompt_of(id: str, retrieve: str = "") -> Sequence[Message]:
    """The messages of an item as a model is to get them."""
    if not retrieve:
        return messages_of(id)
    frame = item_of(id).prompt.frame
    return [Message("user", frame.before + found(id, retrieve).text + frame.after)]


def recall_of(id: str, retrieve: str) -> Recall | None:
    """How much of what an item needs its question found. None where it needs nothing in particular."""
    return found(id, retrieve).recall


def found(id: str, retrieve: str) -> Retrieved:
    with _FINDING:  # one at a time: it is bound by the processor, and the next question may share the context
        return _found(id, retrieve)


@lru_cache(maxsize=_KEPT)
def _found(id: str, retrieve: str) -> Retrieved:
    item = item_of(id)
    if item.prompt.frame.turns:
        raise UsageError(f"{item.recipe.task} is a conversation, and retrieval takes a context that is one text")
    return _index(str(replace(item.recipe, question=0)), retrieve).find(item.question.ask, _needs(item))


@lru_cache(maxsize=2)
def _index(id: str, retrieve: str) -> Index:
    """Of the context of an item, which all its questions share."""
    frame = item_of(id).prompt.frame
    text = messages_of(id)[-1].content
    return Index(text[len(frame.before) : len(text) - len(frame.after)], Retrieval.parse(retrieve))


def _needs(item: Item) -> list[tuple[int, int]] | None:
    """Where the context says what the answer is read from."""
    wanted = item.question.support or item.question.needs
    start = len(item.prompt.frame.before)
    return [(s.start - start, s.end - start) for s in item.survey.spans if s.update in wanted] or None
