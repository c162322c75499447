"""Lengths that hold the answer too: how much of one is left to it, so that prompt and answer fit a model's window.

32k within    a prompt of 32,576 tokens for a task whose answers take up to 192
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from inspect_ai.dataset import Sample

from carrara.item_id import Recipe
from carrara.items.item import questions_of
from carrara.items.registry import load
from carrara.packing.prompt_pack import Pack
from carrara.servers.reasoning_mode import Thinking
from carrara.util.errors import UsageError
from carrara.util.quantities import write_length

SEEN = 3
"""Instances that tell how long the answers of a task are whose answers grow with its context."""
MARGIN = 1.03
"""For the other instances of such a task."""
STEPS = 64
"""Into how many a length is divided to find out how much of it such a task leaves to the answer."""


def needed(budget: int, thinking: Thinking, max_tokens: int | None) -> int:
    """Tokens that a reply may take, as far as that can be known: a model that reasons freely takes what it likes."""
    return max_tokens or thinking.length + budget


def room(first: Recipe, instances: int, pack: Pack | None, thinking: Thinking, max_tokens: int | None) -> int:
    """Of a task's length what is left to its answers."""
    if not first.length:
        return 0
    if max_tokens or not load(first.task).is_sized:
        at = replace(first, length=0, pack="")
        budget = 0 if max_tokens else max(_budget(replace(at, index=first.index + n), None) for n in range(instances))
        return needed(budget, thinking, max_tokens)
    step = max(1, first.length // STEPS)
    low, high = 0, first.length // step  # in steps: a prompt of `low` leaves its answer room, one of `high` does not
    while high - low > 1:
        middle = (low + high) // 2
        at = replace(first, length=middle * step)
        try:
            budget = max(_budget(replace(at, index=first.index + n), pack) for n in range(min(instances, SEEN)))
        except UsageError:  # too short for such an instance: that is said where it is made
            low = middle
            continue
        if middle * step + needed(int(MARGIN * budget), thinking, None) <= first.length:
            low = middle
        else:
            high = middle
    return first.length - low * step


def _budget(recipe: Recipe, pack: Pack | None) -> int:
    return max(question.budget for question in questions_of(recipe, pack).questions)


def total(sample: Sample, thinking: Thinking, max_tokens: int | None) -> int:
    """Return the tokens that a prompt takes together with its answer."""
    meta = sample.metadata or {}
    return int(meta["tokens"]) + needed(int(meta["budget"]), thinking, max_tokens)


def crowded(
    samples: Sequence[Sample], window: int, thinking: Thinking, max_tokens: int | None
) -> dict[int, tuple[int, int, int]]:
    """Of each length how many prompts leave no room for their answers, of how many, and how much the worst is over."""
    found: dict[int, tuple[int, int, int]] = {}
    for sample in samples:
        over = total(sample, thinking, max_tokens) - window
        length = int((sample.metadata or {})["length"])
        without, of, worst = found.get(length, (0, 0, 0))
        found[length] = without + (over > 0), of + 1, max(worst, over)
    return {length: count for length, count in found.items() if count[0]}


def complaint(found: Mapping[int, tuple[int, int, int]], model: str, window: int) -> str:
    """What to say of prompts that leave no room for their answers, and what to do."""
    where = ", ".join(
        f"{without} of {of} prompts at {write_length(length)} (by up to {over:,} tokens)"
        for length, (without, of, over) in sorted(found.items())
    )
    return (
        f"{model} takes {window:,} tokens, prompt and answer together, without room for the answers of {where}: "
        "`within=True` makes lengths hold the answer too, or give shorter ones"
    )
