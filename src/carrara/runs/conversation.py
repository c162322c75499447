"""Conversations: the outputs of a model in the turns of an item as one output, whose text is their transcript."""

from collections.abc import Sequence
from typing import Any

from inspect_ai.model import ModelOutput

from carrara.answers.transcript import join_replies
from carrara.constants import COT, REQUESTS
from carrara.items.item import Item
from carrara.runs.reasoning import Spent, spent
from carrara.servers.response import ending


def join_outputs(outputs: Sequence[ModelOutput], item: Item) -> ModelOutput:
    """Return the outputs of a conversation as one.

    A reply that the model did not complete, such as one that was cut, ends a conversation. In the transcript stands the
    reason in its place, and the replies before it count. If it is the first one, the whole output is that one.

    Args:
        outputs: The outputs, in order. All but the last are complete.
        item: The item.
    """
    first = outputs[0]
    if ending(first) != "answered":
        return first
    replies = [output.completion if (how := ending(output)) == "answered" else f"({how})" for output in outputs]
    joined = ModelOutput.from_content(first.model, join_replies(replies))
    joined.time = sum(output.time or 0.0 for output in outputs)
    costs = [spent(output, item, None) for output in outputs]
    joined.metadata = {
        **(first.metadata or {}),
        COT: Spent(sum(cost.reasoning for cost in costs), sum(cost.answer for cost in costs))._asdict(),
        REQUESTS: sum(_requests(output.metadata) for output in outputs),
    }
    return joined


def _requests(metadata: dict[str, Any] | None) -> int:
    return int((metadata or {}).get(REQUESTS, 0))
