"""Lengths that include the answer: the part of a length that is reserved for it, so that both fit the model's window.

32k within    a prompt of 32,576 tokens for a task whose answers take up to 192
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from carrara import tokenizers
from carrara.constants import FOLLOW_UPS
from carrara.items.item import context_of, count_existing, questions_of
from carrara.items.item_id import ItemId
from carrara.items.prompt_pack import Pack
from carrara.items.registry import load
from carrara.servers.reasoning_mode import Thinking
from carrara.util.errors import UsageError
from carrara.util.quantities import write_length

SEEN = 3
"""The number of instances that are measured for a task whose answers grow with its context."""
LEAST = 128
"""The least number of instances that are measured for other tasks. So a run with a few more has the same prompts."""
MARGIN = 1.03
"""The factor by which the measured answers are extended, for the instances that are not measured."""
STEPS = 64
"""The number of steps into which the length is divided to find the reserve of such a task."""


def tokens_needed(budget: int, thinking: Thinking, max_tokens: int | None) -> int:
    """Return the tokens of a reply, as far as they can be known. A model that reasons freely has no limit."""
    return max_tokens or thinking.length + budget


def room(first: ItemId, instances: int, pack: Pack | None, thinking: Thinking, max_tokens: int | None) -> int:
    """Return the tokens of a length that are reserved for the answers of a task."""
    if not first.length:
        return 0
    if max_tokens or not load(first.task).is_sized:
        at = replace(first, length=0, pack="")
        measured = count_existing(first, max(LEAST, 1 << (instances - 1).bit_length()))
        budget = 0 if max_tokens else max(_budget(replace(at, index=first.index + n), None) for n in range(measured))
        messages, tokens = context_of(at).prompts[0].follow_ups
        return (messages + 1) * tokens_needed(budget, thinking, max_tokens) + int(MARGIN * tokens)
    step = max(1, first.length // STEPS)
    low, high = 0, first.length // step  # a prompt of `low` leaves room for the answer, `high` does not
    while high - low > 1:
        middle = (low + high) // 2
        at = replace(first, length=middle * step)
        try:
            budget = max(_budget(replace(at, index=first.index + n), pack) for n in range(count_existing(first, SEEN)))
        except UsageError:  # too short for such an instance: the error is reported where the instance is made
            low = middle
            continue
        if middle * step + tokens_needed(int(MARGIN * budget), thinking, None) <= first.length:
            low = middle
        else:
            high = middle
    return first.length - low * step


def _budget(item_id: ItemId, pack: Pack | None) -> int:
    return max(question.budget for question in questions_of(item_id, pack).questions)


def total(prompt: Mapping[str, Any], thinking: Thinking, max_tokens: int | None) -> int:
    """Return the tokens that a prompt takes together with its answer, or with all turns of a conversation.

    Args:
        prompt: Its `tokens`, the `budget` of its answer, and its follow-up messages: the metadata of a sample.
    """
    messages, tokens = map(int, prompt.get(FOLLOW_UPS, (0, 0)))
    return int(prompt["tokens"]) + tokens + (messages + 1) * tokens_needed(int(prompt["budget"]), thinking, max_tokens)


def find_crowded(totals: Iterable[tuple[int, int]], window: int) -> dict[int, tuple[int, int, int]]:
    """Return for each length the number of prompts without room for an answer, that of all, and the largest excess.

    Args:
        totals: The length of each prompt, and its `total`.
    """
    counts_by_length: dict[int, tuple[int, int, int]] = {}
    for length, takes in totals:
        over = takes - window
        without, of, worst = counts_by_length.get(length, (0, 0, 0))
        counts_by_length[length] = without + (over > 0), of + 1, max(worst, over)
    return {length: counts for length, counts in counts_by_length.items() if counts[0]}


def describe_crowded(
    counts_by_length: Mapping[int, tuple[int, int, int]], model: str, window: int, published_by: str = ""
) -> str:
    """Return the warning for prompts that leave no room for their answers, with the remedy.

    Args:
        counts_by_length: What `find_crowded` returns.
        model: The model.
        window: The tokens that it takes.
        published_by: The tokenizer that counted, if the prompts are published ones, which cannot be made shorter.
    """
    where = ", ".join(
        f"{without} of {of} prompts at {write_length(length)} (by up to {over:,} tokens)"
        for length, (without, of, over) in sorted(counts_by_length.items())
    )
    remedy = "give shorter ones"
    if not published_by:
        remedy = f"`within=True` makes lengths hold the answer too, or {remedy}"
    takes = f"{model} takes {window:,} tokens, prompt and answer together"
    return f"{takes}, without room for the answers of {where}{_counted(model, published_by)}: {remedy}"


def _counted(model: str, tokenizer: str) -> str:
    """Return by which tokenizer was counted. Empty if it is known to be the model's own."""
    if not tokenizer or tokenizers.for_model(model) == tokenizer:
        return ""
    return f" as {tokenizer} counts, which is not known to be its tokenizer"
