"""Items as a data set of kvpress' evaluation: Parquet files in one folder for each length, which `data_dir` names.

    README.md
    4k/test/niah-00000-of-00001.parquet

kvpress compresses the cache of `context` before it reads `question`, and asks all questions of rows with one context on
one compressed cache. It tokenizes both apart. So a context ends at a place where its tokens and those of the question
are together the tokens of the prompt.
"""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from carrara.export.config import ExportConfig
from carrara.export.shards import ShardTable, write_tables
from carrara.items.item import Item
from carrara.items.item_id import ItemId
from carrara.results.result import task_of
from carrara.tokenizers.base import Tokenizer
from carrara.util.errors import UsageError

COLUMNS: Mapping[str, Any] = {
    "id": "string",
    "context": "string",
    "question": "string",
    "answer_prefix": "string",
    "answer": "string",
    "max_new_tokens": "int64",
    "task": "string",
}
TAIL = 64
"""The characters before the end of a context with which tokens are counted."""
_LEADING = re.compile(r"(?s:.*?)\n\n|\s*")
"""A pattern of the text that may belong to the context: up to the first blank line, or white space."""


def write(config: ExportConfig, max_tokens: int | None = None) -> list[str]:
    """Write rows for kvpress, and return what to print.

    Args:
        max_tokens: Most tokens of a reply. By default as many as the answer needs.
    """
    names = [(_file_name(job), job.size()) for job in config.jobs]
    if len(set(names)) < len(names):
        raise UsageError("two of these tasks have one name, and a file has only one: export them into two folders")

    def path(first: ItemId, number: int, of: int) -> Path:
        return config.out / data_dir(first) / "test" / f"{_file_name(first)}-{number:05}-of-{of:05}.parquet"

    written = write_tables(
        config, config.jobs, ShardTable("kvpress", partial(row, max_tokens=max_tokens), COLUMNS), path
    )
    config.write_card("Rows for the evaluation of kvpress: `--data_dir` names the folder of a length.")
    folders = dict.fromkeys(map(data_dir, config.jobs))
    rows = sum(file.rows for file in written)
    return [f"{config.out}: {rows} questions; python evaluate.py --dataset carrara --data_dir {next(iter(folders))} …"]


def data_dir(first: ItemId) -> str:
    """Return the folder of a length, which is never the number 0: evaluate.py reads that as no folder.

    >>> data_dir(ItemId.parse("classic/niah@1/test-0-0.0/4096/chat/gpt2"))
    '4k'
    >>> data_dir(ItemId.parse("classic/niah@1/test-0-0.0/0/chat/gpt2"))
    '0k'
    """
    size = first.size("-")
    return size if first.length else f"0k{size[1:]}"


def _file_name(first: ItemId) -> str:
    return first.task.rpartition("/")[2].replace("-", "_")


def row(item: Item, max_tokens: int | None = None) -> Mapping[str, Any]:
    """Return the row of a question. Its prompt is `context + question`, for a base model and the line `answer_prefix`.

    Raises:
        UsageError: The prompt is a conversation, or questions on one context begin their answers differently.
    """
    template, context = item.prompt.template, item.context
    if template.is_conversation:
        raise UsageError(
            f"{item.item_id.task} is a conversation, and kvpress reads one context in one message: leave it out, "
            "or give form=text, if the task has it"
        )
    afters = [prompt.template.after[template.closing :] for prompt in context.prompts]
    text = item.text
    end = len(text) - len(template.after) + template.closing
    base = item.item_id.style == "base"
    if base:
        _check_answer_lines(item, afters)
    limit = _shared(afters, base)
    end += _boundary(item.prompt.measure.tokenizer, text[max(0, end - TAIL) : end], afters[0], limit)
    question, _, prefix = text[end:].rpartition("\n") if base else (text[end:], "", "")
    return {
        "id": item.id,
        "context": text[:end],
        "question": question,
        "answer_prefix": prefix,
        "answer": item.gold,
        "max_new_tokens": max_tokens or max(question.budget for question in context.questions),
        "task": task_of(item.item_id.task, item.question.part),
    }


def _check_answer_lines(item: Item, afters: list[str]) -> None:
    """Raise unless all questions on a context begin the answer with one line, as kvpress requires."""
    lines = {after.rpartition("\n")[2] for after in afters}
    if len(lines) > 1:
        raise UsageError(
            f"{item.item_id.task} has questions on one context whose answers begin with different lines, which kvpress "
            "refuses: give `style=chat`"
        )
    if any("\n" not in after for after in afters):
        raise UsageError(
            f"the prompt of {item.item_id.task} has no line of its own for the answer, before which kvpress breaks the "
            "line: give `style=chat`"
        )


def _shared(afters: list[str], base: bool) -> int:
    """Return the most characters after the context's own that may stand in the context of all its questions."""
    match = _LEADING.match(afters[0].rpartition("\n")[0] if base else afters[0])
    limit = match.end() if match else 0
    while not all(after.startswith(afters[0][:limit]) for after in afters):
        limit -= 1
    return limit


def _boundary(tokenizer: Tokenizer, tail: str, after: str, limit: int) -> int:
    """Return after how many characters the context ends: the most at which the tokens add up, else the most.

    Vocabularies differ in where they break: GPT-2's puts a break before the last of several newlines, Llama's and
    Qwen's after them.
    """
    total = tokenizer.count(tail + after)
    for length in range(limit, -1, -1):
        if tokenizer.count(tail + after[:length]) + tokenizer.count(after[length:]) == total:
            return length
    return limit
