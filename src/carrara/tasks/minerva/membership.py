"""Group membership: which list has a word?

From Minerva (Table 1). One item of four short lists:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/membership", params={"lists": "4", "items": "12"}).text.splitlines():
...     print(fill(line, 110))
Context:
List 1: wrang, meloidae, sateless
List 2: oversolemn, demipesade, overcomplex
List 3: foxy, skepticism, realist
List 4: sensomotor, undisappointable, disgracer
<BLANKLINE>
Instruction:
Which of the lists in the context has the word "meloidae"? If none of them has it, answer no. Reply with one
line and nothing else: FINAL ANSWER: followed by the name of that list, such as "List 1", or no.

The lists are the updates. A word in each quarter of the lists is asked for as often as one that is in none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from carrara.answers.contract import asks_for
from carrara.answers.naming import ListName
from carrara.core.keys import Dice, Key
from carrara.core.types import ANSWER, UNSIZED, Question, Room, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import lines_of, quoted
from carrara.tasks.minerva._lists import Lists, Needle, lists_of, name, world_of
from carrara.tasks.minerva._minerva import Minerva
from carrara.tasks.minerva._params import MOST_ITEMS, check_numbers
from carrara.text import vocabulary
from carrara.text.turns import in_turn

QUARTERS = 4
ABSENT = QUARTERS


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    lists: tuple[int, ...] = (4, 8, 16, 32)
    """How many lists there are, taken in turn."""
    items: int = field(default=96, metadata=UNSIZED)
    """Words of all lists where no length is asked for, or as many as it takes."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("lists", self.lists, QUARTERS)
        check_numbers("items", (self.items,), 2, MOST_ITEMS)
        check_phrasing(2, self.phrasing)


class Membership(Minerva[Params, Lists, str]):
    version = 3
    title = "Group membership"
    capability = "finding the list of a word"
    category = "compute on sets and lists"
    parameters = Params
    sized = True
    answers = ListName(none=True)
    joint = "\n"
    published_as = "group_membership"
    inherent = {
        "learned": "Where lists are short, a word stands near the name of its list.",
    }
    wording = {
        **wording(
            answers,
            'Which of the lists in the context has the word "{word}"? If none of them has it, answer no.',
            'Look for "{word}" in the lists of the context, and name the list that it is in; say no if it is in none.',
        ),
        "rule": asks_for('the name of that list, such as "List 1", or no'),
    }

    def world(self, key: Key, params: Params, room: Room | None) -> World[Lists]:
        lists, place = in_turn(key, "cell", list(product(params.lists, range(QUARTERS + 1))))
        draw = vocabulary.drawn(params.words, key)
        dice = key.dice("place")
        needle = Needle(draw(), int((place + dice.random()) * lists / QUARTERS), dice.random())
        there = (needle,) if place != ABSENT else ()
        parts = lists_of(room, draw, params.items, lists, there, f"lists={lists}")
        answer = name(needle.list) if there else "no"
        return world_of(Lists(tuple(map(tuple, parts)), (needle,), answer, {"lists": str(lists)}))

    def fields(self, hidden: Lists) -> Mapping[str, str]:
        return {"word": hidden.asked[0].word}

    def gold(self, hidden: Lists) -> str:
        return hidden.answer

    def needs(self, world: World[Lists]) -> Sequence[int]:
        return (world.structure.asked[0].list,) if world.structure.answer != "no" else ()

    def shown_answer(self, hidden: Lists, gold: str) -> Mapping[str, str]:
        return {ANSWER: "no" if gold == "no" else "a list"}

    def guess(self, dice: Dice, world: World[Lists], question: Question[str]) -> str:
        return "no"  # right as often as any list of the first four, and more often than one of many

    def chance_level(self, hidden: Lists, gold: str) -> float:
        return 1 / (QUARTERS + 1)

    def options(self, hidden: Lists) -> tuple[str, ...]:
        return (*(name(n) for n in range(len(hidden.lists))), "no")

    def answer(self, context: str, asked: str) -> str:
        word = quoted(asked)[0]
        return next((name for name, words in lines_of(context) if word in words), "no")


task = Membership()
