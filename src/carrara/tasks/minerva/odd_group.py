"""Identify the odd group: which of many lists has other words than the rest?

From Minerva (Table 1). One item of three short lists:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/odd_group", params={"size": "5", "lists": "3"}).text.splitlines():
...     print(fill(line, 110))
Context:
List 1: reconnoiter, flutidae, uninfringed, inadaptability, salutatorily
List 2: reconnoiter, flutidae, distillation, uninfringed, inadaptability
List 3: flutidae, salutatorily, uninfringed, inadaptability, reconnoiter
<BLANKLINE>
Instruction:
All the lists in the context contain the same words in different orders, except for one list, which contains
some other words. Which list is it? Reply with one line and nothing else, in this form: FINAL ANSWER: <the
name of that list, such as "List 1">

The lists are the facts. Each has the same words in another order, except one list, in which some words are replaced.
The new words have as many letters together as the words that they replace.
"""

from bisect import insort
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import accumulate

from carrara.answers import ListName
from carrara.generators import vocabulary
from carrara.generators.fitting import Stock
from carrara.task import Instance, Rng, Sweep
from carrara.tasks.minerva._lists import list_name, read_lines, write_lists
from carrara.tasks.minerva._task import WORDS, Minerva, check_number, check_share
from carrara.types import UNSIZED, LengthBudget, TokenCosts, UndecidableError
from carrara.util.errors import LengthError

LEAST = 3
"""The fewest lists: of two lists, either may be the odd one."""
STOCK = 1024
"""The number of words that may replace others."""
ROUNDS = 3
"""The number of attempts with all words to make the odd list as long as the others."""
NEAR = 24
"""The most tokens that words of a single list are to make up."""


class OddGroup(Minerva):
    version, title, capability = 6, "Identify the odd group", "finding the list that differs"
    category, paper_task = "spot the differences", "identify_odd_group"
    answer, separator = ListName(), "\n"
    evidence_decides = False
    guesser = "context candidates"
    ask = (
        "All the lists in the context contain the same words in different orders, except for one list, which contains "
        "some other words. Which list is it?",
        "One of the lists in the context does not consist of the same words as the others. The order of the words does "
        "not matter. Name that list.",
    )
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    size: Sweep[int] = Sweep(25, 50, 75, 100)
    """Words of a list, taken in turn."""
    changed: Sweep[float] = Sweep(0.0, 0.25, 0.5)
    """Which share of the odd list's words are others, taken in turn: one word at least."""
    lists: int = field(default=4, metadata=UNSIZED)
    """The number of lists at length 0."""

    def check(self) -> None:
        check_number("size", self.size, 2)
        check_share("changed", self.changed)
        check_number("lists", self.lists, LEAST)

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        changed = max(1, int(self.size * self.changed))
        draw = vocabulary.draw_words(self.words, rng.key)
        needed = self.size + changed
        drawn, lists = vocabulary.some(draw, needed * (1 + budget.again if budget else 1))[-needed:], self.lists
        if budget is not None:
            drawn, lists = _fit(budget, drawn, self.size, Stock(draw, budget.costs))
        prices = _free if budget is None else budget.costs
        drawn = _balance(drawn, changed, vocabulary.upto(draw, STOCK), prices)
        same_words, odd_words = drawn[: self.size], drawn[self.size :] + drawn[changed : self.size]
        stream = rng.stream("order")
        odd = int(rng.stream("odd").random() * lists)
        return Instance(
            facts=write_lists([stream.shuffled(odd_words if n == odd else same_words) for n in range(lists)]),
            gold=list_name(odd),
            evidence=(odd,),
            options=tuple(map(list_name, range(lists))),
        )

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        groups: dict[frozenset[str], list[str]] = {}
        for name, words in read_lines(context):
            groups.setdefault(frozenset(words), []).append(name)
        if (
            len(groups) != 2
            or len(odd := min(groups.values(), key=len)) != 1
            or len(max(groups.values(), key=len)) == 1
        ):
            raise UndecidableError("no list is the only one of its kind")
        return odd[0]


def _fit(budget: LengthBudget, drawn: Sequence[str], size: int, stock: Stock) -> tuple[list[str], int]:
    """Return the drawn words, some of them replaced, and the number of lists of them that fill the budget."""
    costs = budget.costs(list(drawn))
    list_cost, changed = sum(costs[:size]), len(drawn) - size
    most_lists = max(0, budget.budget // max(1, list_cost // 2))
    labels = [0, *accumulate(budget.costs([f"{list_name(n)}:" for n in range(most_lists)], "\n"))]
    natural = budget.budget / (list_cost + (labels[-1] / most_lists if most_lists else 0))
    counts = range(max(LEAST, int(natural * 0.7)), min(most_lists, int(natural * 1.3) + 2) + 1)
    for lists in sorted(counts, key=lambda lists: abs(lists - natural)):
        extra_cost = sum(costs[size:]) - sum(costs[:changed])
        rest = budget.budget - labels[lists] - lists * list_cost - extra_cost
        if abs(rest - lists * round(rest / lists)) > NEAR:
            continue
        times = [*(lists - (n < changed) for n in range(size)), *[1] * changed]
        if words := stock.exchange(drawn, times, rest):
            return words, lists
    part = f"{LEAST} lists or more of size={size}"
    raise LengthError(f"{part} do not make up its length", part)


def _balance(words: Sequence[str], changed: int, others: Sequence[str], prices: TokenCosts) -> list[str]:
    """Return words of which the first `changed` and the last `changed` have the same number of letters together.

    The last ones replace the first ones in the odd list. Some of both are replaced by other words of the same cost. So
    the length of a list does not tell whether it is the odd one.
    """
    stock = defaultdict[int, _EqualCostWords](_EqualCostWords)
    for word, cost in zip(others, prices(others), strict=True):
        stock[cost].append(word)
    balanced, costs, size = list(words), prices(list(words)), len(words) - changed
    slots = [*((n, 1) for n in range(size, len(words))), *((n, -1) for n in range(changed))]
    missing = sum(map(len, balanced[:changed])) - sum(map(len, balanced[size:]))
    for _ in range(ROUNDS):
        for n, sign in slots:
            candidates, letters = stock[costs[n]], len(balanced[n])
            place = candidates.find_nearest(letters + sign * missing)
            gained = sign * (len(candidates.words[place]) - letters) if place is not None else 0
            if place is not None and abs(missing - gained) < abs(missing):
                balanced[n], missing = candidates.exchange(place, balanced[n]), missing - gained
    return balanced


class _EqualCostWords:
    """Words of one cost, in order, with the places of those of each length."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._places: dict[int, list[int]] = {}

    def append(self, word: str) -> None:
        """Add a word at the end."""
        self._places.setdefault(len(word), []).append(len(self.words))
        self.words.append(word)

    def find_nearest(self, letters: int) -> int | None:
        """Return the place of the first word whose length is nearest to a number of letters."""
        distances = ((abs(size - letters), places[0]) for size, places in self._places.items() if places)
        return min(distances, default=(0, None))[1]

    def exchange(self, place: int, word: str) -> str:
        """Put a word at a place, and return the one that was there."""
        before, self.words[place] = self.words[place], word
        self._places[len(before)].remove(place)
        insort(self._places.setdefault(len(word), []), place)
        return before


def _free(texts: Sequence[str], separator: str = ", ", /) -> list[int]:
    """Return the cost of words where there is no budget."""
    return [0] * len(texts)
