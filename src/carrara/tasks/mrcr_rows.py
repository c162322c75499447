"""The files of published MRCR data sets (`sized_rows.py`).

| task | a row has | and may have |
|--|--|--|
| `published/mrcr-openai` | prompt (a JSON list of messages), answer, random_string_to_prepend | n_needles |
| `published/mrcr-gdm` | queries (the whole prompt), answer | num_relevant, context_len |

OpenAI's bins count the tokens of a row's messages and answer in o200k, and MRCR v2's are by its context_len.
"""

import json
import re
from collections.abc import Mapping

from carrara import tokenizers
from carrara.tasks.sized_rows import Columns, Row, RowSet
from carrara.types import Message, Role
from carrara.util.errors import UsageError

TOKENIZER = "o200k"
"""The tokenizer of OpenAI's bins."""
OPENAI, GDM = "published/mrcr-openai", "published/mrcr-gdm"
_SIZE = re.compile("[0-9]{1,8}")
_ROLES: Mapping[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}


def messages(row: Row) -> list[Message]:
    """Return the conversation of a row of OpenAI's."""
    try:
        entries = json.loads(row.cells["prompt"])
        conversation = [Message(_ROLES[message["role"]], message["content"]) for message in entries]
        "".join(message.content for message in conversation).encode()  # texts, and no halves of characters
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UsageError(f"the prompt of {row.where} is no JSON list of messages with role and content") from None
    if not conversation or conversation[-1].role != "user":
        raise UsageError(f"the prompt of {row.where} does not end with a message of the user, who asks for the draft")
    return conversation


def _size(row: Row, task: str) -> int:
    if task == OPENAI:
        count = tokenizers.get(TOKENIZER).count_many
        return sum(count([*(message.content for message in messages(row)), row.cells["answer"]]))
    return stated_size(row, task)


def stated_size(row: Row, task: str) -> int:
    """Return the size that a row states in its column context_len."""
    context_length = row.cells.get("context_len", "")
    if not _SIZE.fullmatch(context_length):
        raise UsageError(
            f"{row.where} has no tokens as context_len, and its path names no length: put it in a folder such as 8k"
        )
    return int(context_length)


MRCR = RowSet(
    "MRCR",
    {
        OPENAI: Columns(("prompt", "answer", "random_string_to_prepend"), ("n_needles",), ("prompt", "answer")),
        GDM: Columns(("queries", "answer"), ("num_relevant", "context_len"), ("context_len",)),
    },
    _size,
)
sources = MRCR.sources
