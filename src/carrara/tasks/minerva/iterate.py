"""Iterate: the last word of each list.

From Minerva (Table 1; the first word of each is its ablation). One item of four short lists:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/iterate", params={"lists": "4", "items": "12"}).text.splitlines():
...     print(fill(line, 110))
Context:
List 1: savara, interstapedial, nunciative
List 2: tambour, trachybasalt, wobbegong
List 3: materialization, perishably, neoplatonist
List 4: theftbote, wiretail, tiara
<BLANKLINE>
Instruction:
What is the last word of each list in the context, from the first list on? Reply with one line and nothing
else: FINAL ANSWER: followed by those words in that order, separated by commas.

The lists are the updates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

from carrara.answers.listing import Listing, Words
from carrara.core.keys import Key
from carrara.core.types import UNSIZED, Room, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import lines_of
from carrara.tasks.minerva._lists import Lists, Needle, lists_of, world_of
from carrara.tasks.minerva._minerva import Minerva
from carrara.tasks.minerva._params import MOST_ITEMS, check_numbers
from carrara.text import vocabulary
from carrara.text.turns import in_turn

Which = Literal["last", "first"]


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    lists: tuple[int, ...] = (4, 8, 16, 32)
    """How many lists there are, taken in turn."""
    which: tuple[Which, ...] = ("last",)
    """Which word of each is asked for, taken in turn: last or first."""
    items: int = field(default=96, metadata=UNSIZED)
    """Words of all lists where no length is asked for, or as many as it takes."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("lists", self.lists, 2)
        check_numbers("items", (self.items,), 2, MOST_ITEMS)
        check_phrasing(2, self.phrasing)


class Iterate(Minerva[Params, Lists, Words]):
    version = 3
    title = "Iterate"
    capability = "going through the ends of lists"
    category = "compute on sets and lists"
    parameters = Params
    sized = True
    inherent = {
        "the last words": "The last list of few ends in them.",
        "the words said most rarely": "All words are said once, and the last ones are taken.",
        "learned": "Of few lists a word or two are easily met.",
        "part": "A tenth of the context tells a tenth of the answer, and of few lists more.",
    }
    answers = Listing()
    joint = "\n"
    wording = wording(
        answers,
        "What is the {which} word of each list in the context, from the first list on?",
        "Go through the lists in the context one after the other, and note down the {which} word of each.",
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Lists]:
        lists, which = in_turn(key, "cell", list(product(params.lists, params.which)))
        draw = vocabulary.drawn(params.words, key)
        share = 1.0 if which == "last" else 0.0
        needles = tuple(Needle(draw(), n, share) for n in range(lists))
        parts = lists_of(room, draw, params.items, lists, needles, f"lists={lists}")
        return world_of(Lists(tuple(map(tuple, parts)), needles, which, {"lists": str(lists), "which": which}))

    def fields(self, hidden: Lists) -> Mapping[str, str]:
        return {"which": hidden.answer}

    def gold(self, hidden: Lists) -> Words:
        other = 0 if hidden.answer == "last" else -1
        return Words(
            tuple(needle.word for needle in hidden.asked),
            {"the words at the other ends": tuple(words[other] for words in hidden.lists)},
        )

    def needs(self, world: World[Lists]) -> Sequence[int]:
        return range(len(world.updates))

    def answer(self, context: str, asked: str) -> Words:
        place = -1 if "the last word" in asked else 0
        return Words(tuple(words[place] for _, words in lines_of(context)))

    def published_name(self, labels: Mapping[str, str]) -> str:
        return f"iterate_{labels['which']}"


task = Iterate()
