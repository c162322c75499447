"""Compare two lists: which words of one list are not in the other?

From Minerva (Table 1). One item of two short lists:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/two_lists", params={"size": "1", "items": "8"}).text.splitlines():
...     print(fill(line, 110))
Context:
List 1: ichnographical, sugent, tonguelike, vallota, beehouse, nukuhivan, orthogenetic, quinquegrade
List 2: ichnographical, sugent, sinproof, vallota, beehouse, nukuhivan, orthogenetic, quinquegrade
<BLANKLINE>
Instruction:
The two lists in the context are the same except for some words. Which words in the second list are not in the
other one? Reply with one line and nothing else, in this form: FINAL ANSWER: <those words, separated by
commas>

The lists are the facts. They have the same words in the same order, except for some that differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal

from carrara.answers import Set, Words
from carrara.generators import vocabulary
from carrara.generators.fitting import CHUNK, fill
from carrara.task import Instance, Rng, Sweep
from carrara.tasks.minerva._lists import read_lines, write_lists
from carrara.tasks.minerva._task import MOST_ITEMS, WORDS, Minerva, check_number
from carrara.types import UNSIZED, LengthBudget, TokenCosts, UndecidableError
from carrara.util.errors import LengthError


class TwoLists(Minerva):
    version, title, capability = 5, "Compare two lists", "finding the differences of two long lists"
    category, paper_task = "spot the differences", "compare_two_lists"
    answer, separator = Set(), "\n"
    ask = (
        "The two lists in the context are the same except for some words. Which words in the {chosen} list are not in "
        "the other one?",
        "Some words in the first list have been replaced with others in the second. Find the words that appear only in "
        "the {chosen} list.",
    )
    known_shortcuts = {
        **dict.fromkeys(
            ("words that are never removed", "words added more often than removed"),
            "The words of one list without those of the other are what is asked for, of either list in turn.",
        ),
        "the words said most rarely": "A word that differs is said once: whose it is, its place tells.",
        "words said once": "A word that differs is said once: whose it is, its place tells.",
        "learned": "A word that differs is said once: whose it is, its place tells.",
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    size: Sweep[int] = Sweep(1, 5, 10, 20)
    """The number of words that differ, taken in turn."""
    chosen: Sweep[Literal["first", "second"]] = Sweep("first", "second")
    """The list whose words the question asks for, taken in turn."""
    items: int = field(default=40, metadata=UNSIZED)
    """Words of each list where no length is asked for, or as many as it takes."""

    def check(self) -> None:
        check_number("size", self.size, 1)
        check_number("items", self.items, 2, MOST_ITEMS)

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        size, draw = self.size, vocabulary.draw_words(self.words, rng.key)
        drawn = vocabulary.some(draw, 2 * size)
        old, new = drawn[:size], drawn[size:]
        if budget is None:
            common = vocabulary.some(draw, max(self.items, 2 * size) - size)
        else:
            common = _draw_common(budget, draw, old, new)
        if len(common) < size:
            raise LengthError(f"it has room for {len(common)} common words", part=f"size={size}")
        places = sorted(rng.stream("places").sample(range(len(common) + size), size))
        lists = [_insert(common, words, places) for words in (old, new)]
        number = 0 if self.chosen == "first" else 1
        return Instance(
            facts=write_lists(lists),
            gold=Words(tuple((old, new)[number]), {"the whole list": tuple(lists[number])}, ordered=False),
            names={"chosen": self.chosen},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> Words:
        lists = dict(read_lines(context))
        if len(lists) != 2:
            raise UndecidableError(f"there are {len(lists)} lists")
        chosen, unchosen = lists["List 1"], lists["List 2"]
        if names["chosen"] == "second":
            chosen, unchosen = unchosen, chosen
        excluded = set(unchosen)
        return Words(tuple(word for word in chosen if word not in excluded))


def _draw_common(budget: LengthBudget, draw: vocabulary.Draw, old: Sequence[str], new: list[str]) -> list[str]:
    """Return the words that both lists have.

    Each of them costs twice. If the budget leaves an odd number of tokens for them, another word replaces the last word
    of `new` and makes the number even.
    """
    remaining = budget.budget - _cost(budget.costs, old) - _cost(budget.costs, new)
    if remaining % 2:
        last_cost = _cost(budget.costs, new[-1:])
        candidates = vocabulary.upto(draw, CHUNK)
        replacement = next((word for word in candidates if (_cost(budget.costs, [word]) - last_cost) % 2), None)
        if replacement is None:
            raise LengthError("no other word makes up one token", part="no other word makes up one token")
        remaining -= _cost(budget.costs, [replacement]) - last_cost
        new[-1] = replacement
    return fill(budget._replace(budget=remaining // 2), draw) if remaining > 0 else []


def _cost(prices: TokenCosts, words: Sequence[str]) -> int:
    return sum(prices(list(words)))


def _insert(common: Sequence[str], words: Sequence[str], places: Sequence[int]) -> list[str]:
    """Return the common words with others at some places, which ascend."""
    merged = list(common)
    for place, word in zip(places, words, strict=True):
        merged.insert(place, word)
    return merged
