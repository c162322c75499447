"""Items as plain data: the item id, which is small, the rendering, which is not, and a description for people."""

import json
from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import Any

from carrara.answers.transcript import split_replies
from carrara.items.item import Item, check_single, check_texts
from carrara.items.prompt import Span
from carrara.types import Message
from carrara.util.errors import UsageError


def line(item: Item, row: Callable[[Item], Mapping[str, Any]]) -> str:
    """Return an item as a line of a JSONL file."""
    return json.dumps(row(item), ensure_ascii=False) + "\n"


ITEM_ID_COLUMNS = {
    "id": "string",
    "task": "string",
    "version": "int32",
    "split": "string",
    "seed": "int64",
    "index": "int64",
    "length": "int64",
    "tokens": "int64",
    "tokenizer": "string",
    "context_id": "string",
    "sha256": "string",
}
"""The types of an item id's row in a table."""
RENDERED = {
    **ITEM_ID_COLUMNS,
    "messages": [{"role": "string", "content": "string"}],
    "question": "string",
    "gold": "string",
    "chance_level": "float64",
    "guesser": "string",
    "labels": "string",
    "spans": [
        {
            "fact": "int32",
            "message": "int32",
            "start": "int64",
            "end": "int64",
            "token_start": "int64",
            "token_end": "int64",
            "needed": "bool_",
        }
    ],
}
"""The types of a whole item's row. Its labels are JSON there."""


def item_id_row(item: Item) -> dict[str, Any]:
    """Return the item id, from which the item can be built again, with the hash that checks it."""
    item_id, survey = item.item_id, item.survey
    return {
        "id": item.id,
        "task": item_id.task,
        "version": item_id.version,
        "split": item_id.split,
        "seed": item_id.seed,
        "index": item_id.index,
        "length": item_id.length,
        "tokens": survey.tokens,
        "tokenizer": item_id.tokenizer,
        "context_id": item_id.context_id,
        "sha256": survey.sha256,
    }


def render(item: Item) -> dict[str, Any]:
    """Return the whole item, as evaluation and training programs need it."""
    template, messages = item.prompt.template, item.messages()
    follow_ups = list(template.follow_ups)
    place = {"start": len(template.before), "end": len(messages[0].content) - len(template.after)}
    return {
        **item_id_row(item),
        "messages": [message.as_chat() for message in messages],
        **({} if template.turns else {"context": place}),
        **({"follow_ups": follow_ups} if follow_ups else {}),
        "question": item.question.ask,
        "gold": item.gold,
        "chance_level": item.question.chance_level,
        "guesser": item.task.guesser,
        "labels": dict(item.question.labels),
        "spans": [_as_sent(span, messages[span.message]) for span in item.survey.spans],
    }


def _as_sent(span: Span, message: Message) -> dict[str, Any]:
    """Return the fields of a span. A call of a tool has no content, and therefore no characters."""
    return span._replace(end=0)._asdict() if message.role == "call" else span._asdict()


def tabular(item: Item) -> dict[str, Any]:
    """Return the whole item as a row of a table, which has the same columns for every task."""
    check_texts(check_single(item, "a table"), "a table")
    row = render(item)
    row.pop("context", None)
    return {**row, "labels": json.dumps(row["labels"], ensure_ascii=False)}


def finetuning(item: Item) -> dict[str, Any]:
    """Return a conversation that ends in the right reply: a line of a fine-tuning file, without other fields."""
    if item.item_id.split == "test":
        raise UsageError(
            f"{item.id} is of the test split, and a model that was trained on it can no longer be tested on it: "
            f"give `split=train`"
        )
    if item.item_id.style == "base":
        return {"prompt": item.text, "completion": f" {item.gold}"}
    messages, follow_ups = item.messages(), item.prompt.template.follow_ups
    for reply, text in zip_longest(split_replies(item.gold) if follow_ups else [item.gold], follow_ups):
        messages += [Message("assistant", reply), *([Message("user", text)] if text else [])]
    return {"messages": [message.as_chat() for message in messages]}
