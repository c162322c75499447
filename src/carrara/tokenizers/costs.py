"""The tokens that each of many short texts adds to a context, counted once for each text."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from typing import cast

from carrara import tokenizers
from carrara.types import TokenCosts

_CACHED = 1 << 18
"""The number of words of one separator whose counts are cached, more than the dictionary has. Longer texts hardly
recur."""


@cache
def costs(tokenizer: str) -> TokenCosts:
    """Return a function that gives the tokens that each text adds between two others."""
    count_many = tokenizers.get(tokenizer).count_many
    by_joint = defaultdict[str, dict[str, int]](dict)

    def price(texts: Sequence[str], separator: str = ", ", /) -> list[int]:
        known_costs = by_joint[separator]
        costs = list(map(known_costs.get, texts))
        if None not in costs:
            return cast(list[int], costs)
        new = list(dict.fromkeys(text for text, cost in zip(texts, costs, strict=True) if cost is None))
        bare, *counts = count_many([f"a{separator}a", *(f"a{separator}{text}{separator}a" for text in new)])
        counted = {text: count - bare for text, count in zip(new, counts, strict=True)}
        words = {text: cost for text, cost in counted.items() if " " not in text}
        for _ in range(min(len(known_costs), len(known_costs) + len(words) - _CACHED)):
            known_costs.popitem()  # the latest ones: words of the dictionary came first, and will recur
        known_costs.update(words)
        return [counted[text] if cost is None else cost for text, cost in zip(texts, costs, strict=True)]

    return price
