"""Identify the odd group: which of many lists has other words than the rest?

From Minerva (Table 1). One item of three short lists:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/odd_group", params={"size": "5", "lists": "3"}).text.splitlines():
...     print(fill(line, 110))
Context:
List 1: deimos, woyaway, calix, autobiographically, intermittently
List 2: autobiographically, woyaway, calix, intermittently, deimos
List 3: deimos, unrural, calix, autobiographically, intermittently
<BLANKLINE>
Instruction:
All lists in the context have the same words, in different orders, except one list, which has some other
words. Which list is it? Reply with one line and nothing else: FINAL ANSWER: followed by the name of that
list, such as "List 1".

The lists are the updates: the same words in another order each, but for one list that has some others, with as many
letters together.
"""

from bisect import insort
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, product

from carrara.answers.naming import ListName
from carrara.core.errors import Unreachable
from carrara.core.keys import Key
from carrara.core.types import UNSIZED, Prices, Room, Undecidable, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.fitting import Stock
from carrara.parts.layout import Told, line, lines_of
from carrara.tasks.minerva._minerva import Minerva
from carrara.tasks.minerva._params import check_numbers, check_shares
from carrara.text import vocabulary
from carrara.text.turns import in_turn

LEAST = 3
"""Lists, or none of them is the odd one."""
STOCK = 1024
"""Words for which others may be exchanged."""
ROUNDS = 3
"""How often words are gone through for one whose exchange makes a list more as long as the others."""
NEAR = 24
"""Tokens that words which stand in one list only can make up."""


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    size: tuple[int, ...] = (25, 50, 75, 100)
    """Words of a list, taken in turn."""
    changed: tuple[float, ...] = (0.0, 0.25, 0.5)
    """Which share of the odd list's words are others, taken in turn: one word at least."""
    lists: int = field(default=4, metadata=UNSIZED)
    """How many there are where no length is asked for."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("size", self.size, 2)
        check_shares("changed", self.changed)
        check_numbers("lists", (self.lists,), LEAST)
        check_phrasing(2, self.phrasing)


@dataclass(frozen=True)
class Groups:
    lists: tuple[tuple[str, ...], ...]
    odd: int
    labels: Mapping[str, str]


class OddGroup(Minerva[Params, Groups, str]):
    version = 4
    title = "Identify the odd group"
    capability = "finding the list that differs"
    category = "spot the differences"
    parameters = Params
    sized = True
    guesser = "context candidates"
    answers = ListName(none=False)
    joint = "\n"
    published_as = "identify_odd_group"
    wording = wording(
        answers,
        "All lists in the context have the same words, in different orders, except one list, which has some other "
        "words. Which list is it?",
        "One of the lists in the context does not consist of the same words as the others. The order of the words does "
        "not matter. Name that list.",
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Groups]:
        size, share = in_turn(key, "cell", list(product(params.size, params.changed)))
        changed = max(1, int(size * share))
        draw = vocabulary.drawn(params.words, key)
        needed = size + changed
        drawn, lists = vocabulary.some(draw, needed * (1 + room.again if room else 1))[-needed:], params.lists
        if room is not None:
            drawn, lists = _fitting(room, drawn, size, Stock(draw, room.prices))
        prices = room.prices if room is not None else _free
        drawn = _as_long(drawn, changed, vocabulary.upto(draw, STOCK), prices)
        same, other = drawn[:size], [*drawn[size:], *drawn[changed:size]]  # others in place of the first ones
        dice = key.dice("order")
        odd = int(key.dice("odd").random() * lists)
        groups = tuple(tuple(dice.shuffled(other if n == odd else same)) for n in range(lists))
        hidden = Groups(groups, odd, {"size": str(size), "changed": f"{share:g}"})
        return World(hidden, Told([line(_name(n), words) for n, words in enumerate(groups)]))

    def fields(self, hidden: Groups) -> Mapping[str, str]:
        return {}

    def gold(self, hidden: Groups) -> str:
        return _name(hidden.odd)

    def needs(self, world: World[Groups]) -> Sequence[int]:
        return (world.structure.odd,)

    def options(self, hidden: Groups) -> tuple[str, ...]:
        return tuple(_name(n) for n in range(len(hidden.lists)))

    def answer(self, context: str, asked: str) -> str:
        groups: dict[frozenset[str], list[str]] = {}
        for name, words in lines_of(context):
            groups.setdefault(frozenset(words), []).append(name)
        if (
            len(groups) != 2
            or len(odd := min(groups.values(), key=len)) != 1
            or len(max(groups.values(), key=len)) == 1
        ):
            raise Undecidable("no list is the only one of its kind")
        return odd[0]


def _as_long(words: Sequence[str], changed: int, others: Sequence[str], prices: Prices) -> list[str]:
    """The words, where the first and the last ones, which stand for each other, have as many letters together.

    Some give way to others that cost the same. So the lengths of lists do not tell which one is odd.
    """
    stock = defaultdict[int, _Shelf](_Shelf)
    for word, cost in zip(others, prices(others), strict=True):
        stock[cost].put(word)
    found, costs, size = list(words), prices(list(words)), len(words) - changed
    slots = [*((n, 1) for n in range(size, len(words))), *((n, -1) for n in range(changed))]
    owed = sum(map(len, found[:changed])) - sum(map(len, found[size:]))
    for _ in range(ROUNDS):
        for n, sign in slots:
            shelf, have = stock[costs[n]], len(found[n])
            place = shelf.nearest(have + sign * owed)
            gained = sign * (len(shelf.words[place]) - have) if place is not None else 0
            if place is not None and abs(owed - gained) < abs(owed):
                found[n], owed = shelf.exchanged(place, found[n]), owed - gained
    return found


class _Shelf:
    """Words that cost the same, in their order, and where those of each length stand."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._places: dict[int, list[int]] = {}

    def put(self, word: str) -> None:
        self._places.setdefault(len(word), []).append(len(self.words))
        self.words.append(word)

    def nearest(self, letters: int) -> int | None:
        """Where the first word stands whose length comes nearest."""
        near = ((abs(size - letters), places[0]) for size, places in self._places.items() if places)
        return min(near, default=(0, None))[1]

    def exchanged(self, place: int, word: str) -> str:
        """The word of a place, where another one stands from now on."""
        before, self.words[place] = self.words[place], word
        self._places[len(before)].remove(place)
        insort(self._places.setdefault(len(word), []), place)
        return before


def _free(texts: Sequence[str], joint: str = ", ", /) -> list[int]:
    """Prices where words may cost anything."""
    return [0] * len(texts)


def _name(n: int) -> str:
    return f"List {n + 1}"


def _fitting(room: Room, drawn: Sequence[str], size: int, stock: Stock) -> tuple[list[str], int]:
    """Words, some of which are others than drawn, and how many lists of them make up the room."""
    costs = room.prices(list(drawn))
    same, changed = sum(costs[:size]), len(drawn) - size
    most = max(0, room.budget // max(1, same // 2))
    labels = [0, *accumulate(room.prices([f"{_name(n)}:" for n in range(most)], "\n"))]
    natural = room.budget / (same + (labels[-1] / most if most else 0))
    counts = range(max(LEAST, int(natural * 0.7)), min(most, int(natural * 1.3) + 2) + 1)
    for lists in sorted(counts, key=lambda lists: abs(lists - natural)):
        others = sum(costs[size:]) - sum(costs[:changed])
        rest = room.budget - labels[lists] - lists * same - others
        if abs(rest - lists * round(rest / lists)) > NEAR:
            continue
        times = [*(lists - (n < changed) for n in range(size)), *[1] * changed]
        if found := stock.exchanged(drawn, times, rest):
            return found, lists
    part = f"{LEAST} lists or more of size={size}"
    raise Unreachable(f"{part} do not make up its length", part)


task = OddGroup()
