"""Patch the difference: how would a repeated sequence of words go on?

From Minerva (Table 1). One item:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/patch", params={"size": "3", "repeats": "4", "cut": "0.5"}).text.splitlines():
...     print(fill(line, 110))
Context:
purselike, inviolate, anezeh, purselike, inviolate, anezeh, purselike, inviolate, anezeh, purselike,
inviolate, anezeh, purselike
<BLANKLINE>
Instruction:
The words in the context follow a pattern that repeats. If it goes on, which word is the third word after the
last one in the context? Reply with one line and nothing else: FINAL ANSWER: followed by that word.

Every word is an update. The sequence begins anywhere in the pattern, so that how often a word comes does not tell where
it breaks off.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from carrara.answers.kinds import Word
from carrara.core.errors import Unreachable
from carrara.core.keys import Key
from carrara.core.types import UNSIZED, Room, Undecidable, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.fitting import Stock, opening
from carrara.parts.layout import Told, items_of, ordinal
from carrara.tasks.minerva._minerva import Minerva
from carrara.tasks.minerva._params import MOST, check_numbers, check_shares
from carrara.text import vocabulary
from carrara.text.turns import in_turn

_NTH = re.compile(r"\b(\w+) word\b")
LEAST = 4
"""Repetitions, or a hole in the sequence could be taken for part of a pattern."""
HEADS = 3
"""Places in the pattern that are tried for the sequence to begin at, from the drawn one on."""
MOST_TRIED = 400


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    size: tuple[int, ...] = (2, 15, 30)
    """Words of the pattern, taken in turn."""
    cut: tuple[float, ...] = (0.0, 0.5, 1.0)
    """Where in the pattern the sequence breaks off, taken in turn: behind its first word, in the middle, at its end."""
    nth: tuple[int, ...] = (1, 3, 6)
    """Which word is asked for that would follow, taken in turn."""
    repeats: int = field(default=LEAST, metadata=UNSIZED)
    """How often the pattern comes where no length is asked for."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("size", self.size, 2)
        check_shares("cut", self.cut)
        check_numbers("nth", self.nth, 1)
        check_numbers("repeats", (self.repeats,), LEAST)
        check_phrasing(2, self.phrasing)

    @property
    def cells(self) -> list[tuple[int, float, int]]:
        """Of a pattern of two words the middle is behind the first, so that it is no cell of its own."""
        return [
            cell
            for cell in product(self.size, self.cut, self.nth)
            if not (cell[0] == 2 and cell[1] == 0.5 and 0.0 in self.cut)
        ]


@dataclass(frozen=True)
class Sequel:
    items: tuple[str, ...]
    next: str
    nth: int
    labels: Mapping[str, str]


class Patch(Minerva[Params, Sequel, str]):
    version = 4
    title = "Patch the difference"
    capability = "going on with a pattern"
    category = "spot the differences"
    parameters = Params
    sized = True
    answers = Word()
    published_as = "patch_the_difference"
    inherent = {
        "part": "A pattern repeats within a tenth of a long context: going on with it is what is asked.",
        "strings": "One question in four is about a pattern of two words, where either is right half of the time.",
        "learned": "A pattern of two words, which one question in four has, goes on with the last but one.",
    }
    wording = wording(
        answers,
        "The words in the context follow a pattern that repeats. If it goes on, which word is the {nth} word after the "
        "last one in the context?",
        "A sequence of words is repeated in the context, and then breaks off. Continue it: what is the {nth} word to "
        "come?",
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Sequel]:
        size, cut, nth = in_turn(key, "cell", params.cells)
        draw = vocabulary.drawn(params.words, key)
        pattern = vocabulary.some(draw, size * (1 + room.again if room else 1))[-size:]
        tail = 1 if cut == 0 else int(size * cut) % size
        head, repeats = key.dice("head").below(size), params.repeats
        if room is not None:
            pattern, head, repeats = _fitting(room, pattern, head, tail, Stock(draw, room.prices))
        items = (*pattern[size - head :], *pattern * repeats, *pattern[:tail])
        labels = {"size": str(size), "cut": f"{cut:g}", "nth": str(nth)}
        return World(Sequel(items, pattern[(tail - 1 + nth) % size], nth, labels), Told(items))

    def fields(self, hidden: Sequel) -> Mapping[str, str]:
        return {"nth": ordinal(hidden.nth)}

    def gold(self, hidden: Sequel) -> str:
        return hidden.next

    def needs(self, world: World[Sequel]) -> Sequence[int]:
        return range(1, len(world.updates))  # without the first one, the pattern is the same

    def answer(self, context: str, asked: str) -> str:
        items = items_of(context)
        said = set(_NTH.findall(asked))
        nth = next((n for n in range(1, MOST + 1) if ordinal(n) in said), None)
        if nth is None:
            raise Undecidable("the question does not say which word is meant")
        size = len(items)
        for period in range(2, size // (LEAST - 1) + 1):
            if items[-1] == items[-1 - period] and items[period:] == items[:-period]:
                return items[size - period + (nth - 1) % period]
        raise Undecidable("no pattern repeats")


def _fitting(room: Room, pattern: list[str], start: int, tail: int, stock: Stock) -> tuple[list[str], int, int]:
    """A pattern with some words that were not drawn first, how much of it begins, and how often it comes whole.

    The first word of the context stays: what it takes there is another matter than what it takes elsewhere.
    """
    costs, size = room.prices(pattern), len(pattern)
    for repeats in _repeats(room.budget, sum(costs)):
        for head in ((start + n) % size for n in range(min(size, HEADS))):
            times = [repeats + (n < tail) + (n >= size - head) for n in range(size)]
            first = (size - head) % size
            taken = sum(cost * often for cost, often in zip(costs, times, strict=True))
            rest = room.budget - taken - opening(room.prices, pattern[first])
            if found := stock.exchanged(pattern, times, rest, [n for n in range(size) if n != first]):
                return found, head, repeats
    part = f"{LEAST} repetitions or more of size={size}"
    raise Unreachable(f"{part} do not make up its length", part)


def _repeats(budget: int, cost: int) -> list[int]:
    """How often a pattern may come, for patterns that take from half as much to twice as much; the usual ones first."""
    natural = budget // cost
    found = {budget // size - less for size in range(max(1, cost // 2), 2 * cost) for less in (0, 1)}
    return sorted((n for n in found if n >= LEAST), key=lambda n: abs(n - natural))[:MOST_TRIED]


task = Patch()
