"""Compare two lists: which words of one list are not in the other?

From Minerva (Table 1). One item of two short lists:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/two_lists", params={"size": "1", "items": "8"}).text.splitlines():
...     print(fill(line, 110))
Context:
List 1: lam, saxondom, motor, tailsman, cerebrosensorial, stipitiform, hemoplasmodium, bounty
List 2: lam, saxondom, motor, tailsman, cerebrosensorial, regrant, hemoplasmodium, bounty
<BLANKLINE>
Instruction:
The two lists in the context are the same but for some words. Which words of the second list are not in the
other one? Reply with one line and nothing else: FINAL ANSWER: followed by those words, separated by commas.

The lists are the updates: the same words in the same order, but for some that are others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

from carrara.answers.listing import Set, Words
from carrara.core.errors import Unreachable
from carrara.core.keys import Key
from carrara.core.types import UNSIZED, Prices, Room, Undecidable, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.fitting import CHUNK, filled
from carrara.parts.layout import Told, line, lines_of
from carrara.tasks.minerva._minerva import Minerva
from carrara.tasks.minerva._params import MOST_ITEMS, check_numbers
from carrara.text import vocabulary
from carrara.text.turns import in_turn

Chosen = Literal["first", "second"]


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    size: tuple[int, ...] = (1, 5, 10, 20)
    """How many words differ, taken in turn."""
    chosen: tuple[Chosen, ...] = ("first", "second")
    """Whose words are asked for, taken in turn."""
    items: int = field(default=40, metadata=UNSIZED)
    """Words of each list where no length is asked for, or as many as it takes."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("size", self.size, 1)
        check_numbers("items", (self.items,), 2, MOST_ITEMS)
        check_phrasing(2, self.phrasing)


@dataclass(frozen=True)
class Lists:
    first: tuple[str, ...]
    second: tuple[str, ...]
    chosen: Chosen
    labels: Mapping[str, str]

    @property
    def own(self) -> tuple[str, ...]:
        return self.first if self.chosen == "first" else self.second


class TwoLists(Minerva[Params, Lists, Words]):
    version = 3
    title = "Compare two lists"
    capability = "telling two long lists apart"
    category = "spot the differences"
    parameters = Params
    sized = True
    answers = Set()
    joint = "\n"
    published_as = "compare_two_lists"
    inherent = {
        "the words said most rarely": "A word that differs is said once: whose it is, its place tells.",
        "words said once": "A word that differs is said once: whose it is, its place tells.",
        "learned": "A word that differs is said once: whose it is, its place tells.",
    }
    wording = wording(
        answers,
        "The two lists in the context are the same but for some words. Which words of the {chosen} list are not in the "
        "other one?",
        "Some words of the first list have been exchanged for others in the second. Find the words that stand in the "
        "{chosen} list alone.",
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Lists]:
        size, chosen = in_turn(key, "cell", list(product(params.size, params.chosen)))
        draw = vocabulary.drawn(params.words, key)
        drawn = vocabulary.some(draw, 2 * size)
        old, new = drawn[:size], drawn[size:]
        others = max(params.items, 2 * size) - size
        common = vocabulary.some(draw, others) if room is None else _common(room, draw, old, new)
        if len(common) < size:
            raise Unreachable(f"it has room for {len(common)} common words", part=f"size={size}")
        places = sorted(key.dice("places").sample(range(len(common) + size), size))
        first, second = _spread(common, old, places), _spread(common, new, places)
        hidden = Lists(first, second, chosen, {"size": str(size), "chosen": chosen})
        return World(hidden, Told([line("List 1", first), line("List 2", second)]))

    def fields(self, hidden: Lists) -> Mapping[str, str]:
        return {"chosen": hidden.chosen}

    def gold(self, hidden: Lists) -> Words:
        other = set(hidden.second if hidden.chosen == "first" else hidden.first)
        return Words(
            tuple(word for word in hidden.own if word not in other), {"the whole list": hidden.own}, ordered=False
        )

    def needs(self, world: World[Lists]) -> Sequence[int]:
        return (0, 1)

    def answer(self, context: str, asked: str) -> Words:
        lists = dict(lines_of(context))
        if len(lists) != 2:
            raise Undecidable(f"there are {len(lists)} lists")
        own, other = (lists["List 1"], lists["List 2"])
        if "the second list" in asked:
            own, other = other, own
        others = set(other)
        return Words(tuple(word for word in own if word not in others))


def _common(room: Room, draw: Callable[[], str], old: Sequence[str], new: list[str]) -> list[str]:
    """What both lists have: each word costs twice, so that what is left for it has to be even."""
    left = room.budget - _sum(room.prices, old) - _sum(room.prices, new)
    if left % 2:
        own = _sum(room.prices, new[-1:])
        others = vocabulary.upto(draw, CHUNK)
        other = next((word for word in others if (_sum(room.prices, [word]) - own) % 2), None)
        if other is None:
            raise Unreachable("no other word makes up one token", part="no other word makes up one token")
        left -= _sum(room.prices, [other]) - own
        new[-1] = other
    return filled(room._replace(budget=left // 2), draw) if left > 0 else []


def _sum(prices: Prices, words: Sequence[str]) -> int:
    return sum(prices(list(words)))


def _spread(common: Sequence[str], others: Sequence[str], places: Sequence[int]) -> tuple[str, ...]:
    """The common words with others at some places."""
    found = list(common)
    for place, word in zip(places, others, strict=True):
        found.insert(place, word)
    return tuple(found)


task = TwoLists()
