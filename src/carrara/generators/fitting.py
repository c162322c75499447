"""Exact lengths for contexts without filler: as many words as fit, with the last ones chosen by their cost in tokens.

Nothing is cut or padded. Some of the last candidates are left out, or a few words are replaced by others with another
cost, so that the total is exact: a subset sum over the bits of an integer.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence

from carrara.generators.vocabulary import take_with_costs, upto
from carrara.types import LengthBudget, TokenCosts
from carrara.util.errors import LengthError

CHUNK = 256
"""The number of words whose costs are computed at once."""
TAIL = 48
"""The tokens for which the last words are chosen."""
POOLS = (48, 256, 4096, 32768)
"""The numbers of candidates for the last words: few at first, then more, because some costs are rare."""
SLOTS = 48
"""The number of words that may be replaced."""


def pick(options: Sequence[Sequence[int]], total: int) -> list[int] | None:
    """Return the number of an option for each slot, so that the options add up to a total. None if none do.

    >>> pick([(0, 3), (0, 5), (0, 4)], 7), pick([(1, 2), (1, 2)], 5)
    ([1, 0, 1], None)
    """
    if total < 0:
        return None
    mask = (2 << total) - 1
    reach = [1]  # bit n of reach[i]: the first i slots can take n together
    for sizes in options:
        now = 0
        for size in set(sizes):
            now |= reach[-1] << size
        reach.append(now & mask)
    if not reach[-1] >> total & 1:
        return None
    chosen = []
    for i in range(len(options) - 1, -1, -1):
        place = next(n for n, size in enumerate(options[i]) if size <= total and reach[i] >> (total - size) & 1)
        chosen.append(place)
        total -= options[i][place]
    return chosen[::-1]


def fill(room: LengthBudget, draw: Callable[[], str], separator: str = ", ") -> list[str]:
    """Return words, in the order in which they are drawn, that fill a budget exactly. Some of the last are left out.

    With another `room.again` the choice is another one.

    Raises:
        LengthError: No choice of words takes the budget exactly.
    """
    rest, words = room.budget, list[str]()
    while True:
        chunk, costs = take_with_costs(draw, CHUNK if rest > 8 * TAIL else POOLS[0], room.costs, separator)
        if not chunk:
            draw()  # raises: there are no more
        if rest - (chunk_cost := sum(costs)) >= TAIL:
            rest -= chunk_cost
            words += chunk
            continue
        n = 0
        while n < len(chunk) and rest - costs[n] >= TAIL:
            rest -= costs[n]
            words.append(chunk[n])
            n += 1
        break
    pool, costs = chunk[n:], costs[n:]
    for most in POOLS:
        more, more_costs = take_with_costs(draw, most + room.again - len(pool), room.costs, separator)
        pool += more
        costs += more_costs
        if (taken := pick([(0, cost) for cost in costs], rest)) is not None:
            return words + [word for word, is_taken in zip(pool, taken, strict=True) if is_taken]
    raise LengthError(f"nothing makes up its last {rest} tokens", part=f"nothing makes up the last {rest} tokens")


def first_word_surplus(costs: TokenCosts, word: str, separator: str = ", ") -> int:
    """Return how many more tokens a word has as the first of a context, after a new line, than after a separator."""
    return costs([word], "\n")[0] - costs([word], separator)[0]


class Stock:
    """Spare words by their cost, which can replace others."""

    def __init__(self, draw: Callable[[], str], costs: TokenCosts, separator: str = ", ") -> None:
        self._costs, self._joint = costs, separator
        self._by_cost: defaultdict[int, list[str]] = defaultdict(list)
        fresh = upto(draw, CHUNK)
        for word, cost in zip(fresh, costs(fresh, separator), strict=True):
            self._by_cost[cost].append(word)

    def exchange(
        self, words: Sequence[str], times: Sequence[int], rest: int, free: Sequence[int] | None = None
    ) -> list[str] | None:
        """Return the words, some of them replaced, so that they have `rest` tokens more. None if that is impossible.

        `times` says how often each word stands in the context. With `free` only these places may change.
        """
        if not rest:
            return list(words)
        slots = sorted(range(len(words)) if free is None else free, key=lambda slot: times[slot])
        if len(slots) > SLOTS:  # rare words make up single tokens, frequent ones many
            slots = [*slots[: SLOTS // 2], *slots[-SLOTS // 2 :]]
        slot_costs = self._costs([words[slot] for slot in slots], self._joint)
        sizes = [
            [
                cost,
                *(
                    spare_cost
                    for spare_cost in sorted(self._by_cost)
                    if spare_cost != cost and len(self._by_cost[spare_cost]) > nth
                ),
            ]
            for nth, cost in enumerate(slot_costs)
        ]
        least = [min(options) for options in sizes]
        counts = [times[slot] for slot in slots]
        options = [
            [(size - low) * count for size in slot_sizes]
            for slot_sizes, low, count in zip(sizes, least, counts, strict=True)
        ]
        already = sum((cost - low) * count for cost, low, count in zip(slot_costs, least, counts, strict=True))
        taken = pick(options, rest + already)
        if taken is None:
            return None
        changed = list(words)
        for nth, (slot, place) in enumerate(zip(slots, taken, strict=True)):
            if place:
                changed[slot] = self._by_cost[sizes[nth][place]][nth]
        return changed
