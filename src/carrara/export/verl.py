"""Items as training rows of verl: Parquet files, with the reward function `carrara.export.verl_reward.compute_score`.

    4k/babilong-qa1-00000-of-00001.parquet

A row is a question. Its id in `extra_info` is all that the reward needs; the other fields are for choosing rows by
difficulty. With `context`, the prompt leaves out the context, which is a column: agents that read a text in parts
divide it themselves.
"""

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from carrara.export.config import ExportConfig
from carrara.export.shards import ShardTable, write_tables
from carrara.items.item import Item, check_single, check_texts
from carrara.items.item_id import ItemId
from carrara.items.prompt import assemble
from carrara.results.result import task_of
from carrara.types import Message
from carrara.util.errors import UsageError
from carrara.util.quoting import shell_word

EXTRA_INFO: Mapping[str, Any] = {
    "id": "string",
    "index": "int64",
    "split": "string",
    "task": "string",
    "part": "string",
    "params": "string",
    "labels": "string",
    "length": "int64",
    "tokens": "int64",
    "needed_facts": "int64",
    "distractors": "int64",
    "chain": "int64",
    "chance_level": "float64",
    "context_id": "string",
}
COLUMNS: Mapping[str, Any] = {
    "data_source": "string",
    "prompt": [{"role": "string", "content": "string"}],
    "ability": "string",
    "reward_model": {"style": "string", "ground_truth": "string"},
    "extra_info": EXTRA_INFO,
}
CONTEXT_COLUMNS: Mapping[str, Any] = {
    **COLUMNS,
    "context": "string",
    "extra_info": {**EXTRA_INFO, "context_start": "int64"},
}


def write(config: ExportConfig, context: bool = False) -> list[str]:
    """Write training rows of verl, and return what to print.

    Args:
        context: Whether the context is a column of its own, and the prompt leaves it out.
    """
    if config.style == "base":
        raise UsageError("verl sends prompts in a model's chat format: leave out `style`")
    places = [(job.task, job.size()) for job in config.jobs]
    if len(set(places)) < len(places):
        raise UsageError("a task is named twice, and its files would have one name: export it into two folders")
    table = ShardTable("verl", row, COLUMNS)
    if context:
        table = ShardTable("verl, context apart", context_row, CONTEXT_COLUMNS)

    def path(first: ItemId, number: int, of: int) -> Path:
        return config.out / first.size("-") / f"{first.task.replace('/', '-')}-{number:05}-of-{of:05}.parquet"

    written = write_tables(config, config.jobs, table, path)
    rows, files = sum(file.rows for file in written), sum(file.rows > 0 for file in written)
    longest = max(config.lengths)
    config.write_card(
        "# Training rows for verl",
        "\n".join(
            [
                "```",
                f"data.train_files={shell_word(config.out.resolve().name)}/*/*.parquet",
                *([f"data.max_prompt_length={longest}"] if longest and not context else []),
                "reward.custom_reward_function.path=pkg://carrara.export.verl_reward",
                "reward.custom_reward_function.name=compute_score",
                "```",
            ]
        ),
    )
    return [f"{config.out}: {rows} rows in {files} files; data.train_files={shell_word(config.out)}/*/*.parquet"]


def row(item: Item) -> Mapping[str, Any]:
    """Return an item as a row."""
    check_texts(check_single(item, "a row of verl"), "a row of verl")
    return _row(item, item.messages())


def context_row(item: Item) -> Mapping[str, Any]:
    """Return an item as a row with its context beside the prompt."""
    template = item.prompt.template
    if template.is_conversation:
        raise UsageError(
            f"{item.item_id.task} is a conversation, which has no context beside its messages: leave it out, or export "
            "it without `context`"
        )
    [message], [bare] = item.messages(), assemble(template, [])
    text = message.content.removeprefix(template.before).removesuffix(template.after[template.closing :])
    if template.closing:
        bare = Message(bare.role, template.before + template.after[template.closing :])
    columns = _row(item, [bare])
    start = {"context_start": len(template.before)}  # labels of evidence are positions in the whole prompt
    return {**columns, "context": text, "extra_info": {**columns["extra_info"], **start}}


def _row(item: Item, messages: list[Message]) -> dict[str, Any]:
    item_id, question = item.item_id, item.question
    needed, params = len(set(question.evidence)), _params(item)
    return {
        "data_source": task_of(item_id.task, question.part),
        "prompt": [message._asdict() for message in messages],
        "ability": item.task.capability,
        "reward_model": {"style": "rule", "ground_truth": item.gold},
        "extra_info": {
            "id": item.id,
            "index": item_id.index,
            "split": item_id.split,
            "task": item_id.task,
            "part": question.part,
            "params": json.dumps(params, ensure_ascii=False),
            "labels": json.dumps(dict(question.labels), ensure_ascii=False),
            "length": item_id.length,
            "tokens": item.prompt.tokens,
            "needed_facts": needed,
            "distractors": len(item.context.instance.facts) - needed,
            "chain": params.get("chain") or None,
            "chance_level": question.chance_level,
            "context_id": item_id.context_id,
        },
    }


def _params(item: Item) -> dict[str, Any]:
    """Return the parameters of an item's task, with the value that this item has of each sweep."""
    labels, values = item.question.labels, dict[str, Any]()
    for field in fields(item.task):
        value = getattr(item.task, field.name)
        if isinstance(value, tuple) and field.name in labels:  # tasks that draw one of several values label it
            value = next((choice for choice in value if str(choice) == labels[field.name]), value)
        values[field.name] = value[0] if isinstance(value, tuple) and len(value) == 1 else value
    return values
