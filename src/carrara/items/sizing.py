"""Exact lengths of prompts that are counted whole, and corrected by their error.

There are two kinds. The context of some instances is their structure, and fills a length by itself: the task estimates
its size from costs. If costs add up, as with nearly all tokenizers, one correction is enough. The others are prompts
with filler by a tokenizer whose counts do not add up.
"""

from collections.abc import Mapping
from dataclasses import replace

from carrara import tokenizers
from carrara.items.item_id import ItemId
from carrara.items.packing import Packing
from carrara.items.prompt import Measure, Prompt, assemble_bare, count
from carrara.rng import Key
from carrara.task.suite import SuiteTask
from carrara.tokenizers.costs import costs
from carrara.types import Instance, LengthBudget, PromptTemplate
from carrara.util.errors import LengthError
from carrara.util.quantities import write_length

CORRECTIONS = 8
"""The number of corrections of one budget before the instance is drawn differently, and the number of such draws before
the length is given up."""
REPAIRS = 8
"""The number of corrections before other filler is tried, and the number of fillers before an exact length is given up.
"""
OTHER_FILLER = 1000
"""An offset that is far from the variants that the audit uses."""


def fit_instance(task: SuiteTask, key: Key, item_id: ItemId, wording: Mapping[str, str], bare: Instance) -> Instance:
    """Return the instance of a key whose longest prompt has exactly the tokens that an item id asks for.

    Args:
        bare: The instance of length 0, by which the first budget is estimated.
    """
    tokenizer = tokenizers.get(item_id.tokenizer)
    priced = costs(item_id.tokenizer)

    def measure(instance: Instance) -> tuple[int, PromptTemplate]:
        """Return the tokens of an instance's longest prompt, and its template."""
        templates = [task.prompt(instance, q, wording, item_id.style) for q in task.questions(instance)]
        return max(
            count(tokenizer, item_id.style, assemble_bare(template, instance)) for template in templates
        ), templates[0]

    tokens, template = measure(bare)
    budget = item_id.length - (tokens - sum(priced(bare.texts, template.separator)))
    unfit: LengthError | None = None
    for attempt in range(CORRECTIONS):
        tried: set[int] = set()
        while budget not in tried and len(tried) < CORRECTIONS:
            tried.add(budget)
            try:
                instance = task.draw(key, LengthBudget(item_id.length, budget, priced, attempt))
            except LengthError as reason:
                unfit = reason
                break
            difference = measure(instance)[0] - item_id.length
            if not difference:
                return instance
            budget -= difference
    if unfit is None:
        unfit = LengthError(
            "its prompt comes out at other lengths", f"none comes out exactly so by {item_id.tokenizer}"
        )
    raise LengthError(
        f"{item_id.instance_id} cannot be made {write_length(item_id.length)} tokens long: {unfit}: ask for a "
        f"greater length, or for other parameters",
        unfit.part,
    )


def repair(item_id: ItemId, measure: Measure, packing: Packing) -> Packing:
    """Return the packing whose whole prompt, counted, has the length asked for."""
    for attempt in range(REPAIRS):  # if no target gives the length, other filler does
        target = packing.room
        corrected = replace(packing, variant=packing.variant + attempt * OTHER_FILLER)
        for _ in range(REPAIRS):
            corrected = replace(corrected, room=max(0, target))
            prompt = Prompt(measure.template, corrected, measure, (), item_id.length)
            difference = count(measure.tokenizer, item_id.style, prompt.messages()) - item_id.length
            if difference == 0:
                return corrected
            target -= difference
    raise LengthError(
        f"{item_id} cannot be made exactly {item_id.length} tokens long by {item_id.tokenizer}, "
        "whose counts do not add up"
    )
