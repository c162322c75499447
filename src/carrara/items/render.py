"""Items as plain data: the recipe, which is small, the rendering, which is not, and a description for people."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from carrara.items.item import Item
from carrara.util.errors import UsageError


def line(item: Item, row: Callable[[Item], Mapping[str, Any]]) -> str:
    """Return an item as a line of a JSONL file."""
    return json.dumps(row(item), ensure_ascii=False) + "\n"


RECIPE = {
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
"""The types of a recipe's row in a table."""
RENDERED = {
    **RECIPE,
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


def recipe_row(item: Item) -> dict[str, Any]:
    """Return the recipe, from which the item can be built again, with the hash that checks it."""
    recipe, survey = item.recipe, item.survey
    return {
        "id": item.id,
        "task": recipe.task,
        "version": recipe.version,
        "split": recipe.split,
        "seed": recipe.seed,
        "index": recipe.index,
        "length": recipe.length,
        "tokens": survey.tokens,
        "tokenizer": recipe.tokenizer,
        "context_id": recipe.context_id,
        "sha256": survey.sha256,
    }


def render(item: Item) -> dict[str, Any]:
    """Return the whole item, as evaluation and training programs need it."""
    return {
        **recipe_row(item),
        "messages": [message._asdict() for message in item.messages()],
        "question": item.question.ask,
        "gold": item.gold,
        "chance_level": item.question.chance_level,
        "guesser": item.task.guesser,
        "labels": dict(item.question.labels),
        "spans": [span._asdict() for span in item.survey.spans],
    }


def tabular(item: Item) -> dict[str, Any]:
    """Return the whole item as a row of a table, which has the same columns for every task."""
    row = render(item)
    return {**row, "labels": json.dumps(row["labels"], ensure_ascii=False)}


def finetuning(item: Item) -> dict[str, Any]:
    """Return a conversation that ends in the right reply: a line of a fine-tuning file, without other fields."""
    if item.recipe.split == "test":
        raise UsageError(
            f"{item.id} is of the test split, and a model that was trained on it can no longer be tested on it: "
            f"give `split=train`"
        )
    messages = [message._asdict() for message in item.messages()]
    if item.recipe.style == "base":
        return {"prompt": item.text, "completion": f" {item.gold}"}
    return {"messages": [*messages, {"role": "assistant", "content": item.gold}]}


def describe(item: Item) -> dict[str, str]:
    """Return a description of an item for people, by name."""
    question, recipe = item.question, item.recipe
    chat = recipe.style == "chat"
    knows = item.prompt.measure.tokenizer.chat is not None
    template = ("with its chat template" if knows else "contents only") if chat else "as plain text"
    labels = ", ".join(f"{name} {value}" for name, value in question.labels.items())
    found = {
        "question": question.ask,
        "gold": item.gold,
        "chance": f"{question.chance_level:.3f} (guesser: {item.task.guesser})",
        "labels": labels,
        "tokens": f"{item.survey.tokens:,} by {recipe.tokenizer}, {template}",
        "id": item.id,
    }
    return {name: value for name, value in found.items() if value}
