"""Patch the difference: how would a repeated sequence of words go on?

From Minerva (Table 1). One item:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/patch", params={"size": "3", "repeats": "4", "cut": "0.5"}).text.splitlines():
...     print(fill(line, 110))
Context:
rosicrucian, littlish, marsiliaceae, rosicrucian, littlish, marsiliaceae, rosicrucian, littlish, marsiliaceae,
rosicrucian, littlish, marsiliaceae, rosicrucian, littlish
<BLANKLINE>
Instruction:
The words in the context follow a repeating pattern. If it continues, what is the third word after the last
one in the context? Reply with one line and nothing else, in this form: FINAL ANSWER: <that word>

Every word is a fact. The sequence begins anywhere in the pattern. So the number of times that a word comes does not say
where the sequence breaks off.
"""

from collections.abc import Mapping
from dataclasses import field
from itertools import product

from carrara.answers import Word
from carrara.generators import vocabulary
from carrara.generators.fitting import Stock, first_word_surplus
from carrara.generators.round_robin import in_turn
from carrara.task import Instance, Rng
from carrara.tasks.minerva._edit import read_ordinal, write_ordinal
from carrara.tasks.minerva._task import WORDS, Minerva, check_number, check_share, split_items
from carrara.types import UNSIZED, LengthBudget, UndecidableError
from carrara.util.errors import LengthError

LEAST = 4
"""The fewest repetitions: with fewer, a hole in the sequence could be taken for part of a pattern."""
HEADS = 3
"""The number of places in the pattern that are tried as the beginning of the sequence, from the drawn one on."""
MOST_TRIED = 400
"""The number of repetitions that are tried at most."""


class Patch(Minerva):
    version, title, capability = 6, "Patch the difference", "continuing a pattern"
    category, paper_task = "spot the differences", "patch_the_difference"
    answer = Word()
    ask = (
        "The words in the context follow a repeating pattern. If it continues, what is the {nth} word after the last "
        "one in the context?",
        "A sequence of words is repeated in the context and then breaks off. Continue it: what is the {nth} word after "
        "that point?",
    )
    known_shortcuts = {
        "part": "A pattern repeats within a tenth of a long context: going on with it is what is asked.",
        "strings": "One question in four is about a pattern of two words, where either is right half of the time.",
        "learned": "A pattern of two words, which one question in four has, goes on with the last but one.",
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    size: tuple[int, ...] = (2, 15, 30)
    """Words of the pattern, taken in turn."""
    cut: tuple[float, ...] = (0.0, 0.5, 1.0)
    """The point at which the pattern breaks off, taken in turn: after its first word, in the middle or at the end."""
    nth: tuple[int, ...] = (1, 3, 6)
    """The number of the following word that is asked for, taken in turn."""
    repeats: int = field(default=LEAST, metadata=UNSIZED)
    """The repetitions of the pattern at length 0."""

    def check(self) -> None:
        for size in self.size:
            check_number("size", size, 2)
        for cut in self.cut:
            check_share("cut", cut)
        for nth in self.nth:
            check_number("nth", nth, 1)
        check_number("repeats", self.repeats, LEAST)

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        cells = [
            (size, cut, nth)
            for size, cut, nth in product(self.size, self.cut, self.nth)
            # the middle of a pattern of two words is behind the first, so that it is no cell of its own
            if not (size == 2 and cut == 0.5 and 0.0 in self.cut)
        ]
        size, cut, nth = in_turn(rng.key, "cell", cells)
        draw = vocabulary.draw_words(self.words, rng.key)
        pattern = vocabulary.some(draw, size * (1 + budget.again if budget else 1))[-size:]
        tail = 1 if cut == 0 else int(size * cut) % size
        head, repeats = rng.stream("head").below(size), self.repeats
        if budget is not None:
            pattern, head, repeats = _fit(budget, pattern, head, tail, Stock(draw, budget.costs))
        facts = [*pattern[size - head :], *pattern * repeats, *pattern[:tail]]
        return Instance(
            facts=facts,
            gold=pattern[(tail - 1 + nth) % size],
            evidence=range(1, len(facts)),  # without the first one, the pattern is the same
            names={"nth": write_ordinal(nth)},
            labels={"size": str(size), "cut": f"{cut:g}", "nth": str(nth)},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        items, nth = split_items(context), read_ordinal(names["nth"])
        size = len(items)
        for period in range(2, size // (LEAST - 1) + 1):
            if items[-1] == items[-1 - period] and items[period:] == items[:-period]:
                return items[size - period + (nth - 1) % period]
        raise UndecidableError("no pattern repeats")


def _fit(budget: LengthBudget, pattern: list[str], start: int, tail: int, stock: Stock) -> tuple[list[str], int, int]:
    """Return a pattern that fills a length, the size of the head of the context, and the number of repetitions.

    The head is the end of the pattern, with which the context begins. Some words of the pattern are replaced. The first
    word of the context stays, because it costs something else there than elsewhere.
    """
    costs, size = budget.costs(pattern), len(pattern)
    for repeats in _repeats(budget.budget, sum(costs)):
        for head in ((start + n) % size for n in range(min(size, HEADS))):
            times = [repeats + (n < tail) + (n >= size - head) for n in range(size)]
            first = (size - head) % size
            taken = sum(cost * count for cost, count in zip(costs, times, strict=True))
            rest = budget.budget - taken - first_word_surplus(budget.costs, pattern[first])
            if new_pattern := stock.exchange(pattern, times, rest, [n for n in range(size) if n != first]):
                return new_pattern, head, repeats
    part = f"{LEAST} repetitions or more of size={size}"
    raise LengthError(f"{part} do not make up its length", part)


def _repeats(tokens: int, cost: int) -> list[int]:
    """Return numbers of repetitions for patterns of half to twice the cost; the nearest to the cost come first."""
    natural = tokens // cost
    counts = {tokens // size - less for size in range(max(1, cost // 2), 2 * cost) for less in (0, 1)}
    return sorted((n for n in counts if n >= LEAST), key=lambda n: abs(n - natural))[:MOST_TRIED]
