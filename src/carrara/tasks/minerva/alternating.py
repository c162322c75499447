"""Alternating group association: are two words of the same role, where roles take turns?

From Minerva (Table 10). One item of two roles in two turns:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/alternating", params={"roles": "2", "turns": "2", "items": "10"}).text.splitlines():
...     print(fill(line, 110))
Context:
Role 1: clinometric, interknow
Role 2: ophthalmoscopy, fleer, tillering
Role 1: enterocoelous, stalemate
Role 2: inedibility, cumbrous, geodynamic
<BLANKLINE>
Instruction:
In the context, roles take turns, each with some words. Do the words "inedibility" and "ophthalmoscopy" belong
to the same role? Reply with one line and nothing else: FINAL ANSWER: followed by yes or no.

The lines are the updates. The two words are always in different lines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from carrara.answers.naming import SAME, YesNo
from carrara.core.keys import Key
from carrara.core.types import UNSIZED, Room, Undecidable, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import lines_of, quoted
from carrara.tasks.minerva._lists import Needle
from carrara.tasks.minerva._minerva import YesOrNo
from carrara.tasks.minerva._params import MOST_ITEMS, Label, check_numbers
from carrara.tasks.minerva._roles import Roles, lines, world_of
from carrara.text import vocabulary
from carrara.text.turns import in_turn


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    roles: tuple[int, ...] = (2, 4, 8, 16, 32)
    """How many roles there are, taken in turn."""
    turns: int = 10
    """Lines of each role."""
    answer: tuple[Label, ...] = ("yes", "no")
    """Whether the two are of the same one, taken in turn."""
    items: int = field(default=400, metadata=UNSIZED)
    """Words of all lines where no length is asked for, or as many as it takes."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("roles", self.roles, 2)
        check_numbers("turns", (self.turns,), 2)
        check_numbers("items", (self.items,), 2, MOST_ITEMS)
        check_phrasing(2, self.phrasing)


class Alternating(YesOrNo[Params, Roles]):
    version = 3
    title = "Alternating group association"
    capability = "telling whose words two words are"
    category = "compute on sets and lists"
    parameters = Params
    sized = True
    answers = YesNo(SAME)
    joint = "\n"
    published_as = "alternating_group_association"
    wording = wording(
        answers,
        'In the context, roles take turns, each with some words. Do the words "{first}" and "{second}" belong to the '
        "same role?",
        "The context gives words to roles that alternate. Check whether "
        '"{first}" and "{second}" are words of one role.',
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Roles]:
        roles, answer = in_turn(key, "cell", list(product(params.roles, params.answer)))
        draw = vocabulary.drawn(params.words, key)
        dice = key.dice("place")
        one, two = dice.sample(range(roles), 2)
        turns = dice.sample(range(params.turns), 2)
        places = [turns[0] * roles + one, turns[1] * roles + (one if answer == "yes" else two)]
        needles = tuple(Needle(draw(), place, dice.random()) for place in places)
        found = lines(room, draw, params.items, roles, params.turns, needles)
        return world_of(Roles(found, roles, needles, answer, {"roles": str(roles)}))

    def fields(self, hidden: Roles) -> Mapping[str, str]:
        return {"first": hidden.asked[0].word, "second": hidden.asked[1].word}

    def gold(self, hidden: Roles) -> str:
        return hidden.answer

    def needs(self, world: World[Roles]) -> Sequence[int]:
        return sorted(needle.list for needle in world.structure.asked)

    def answer(self, context: str, asked: str) -> str:
        first, second, *_ = quoted(asked, 2)
        found = {word: role for role, words in lines_of(context) for word in words}
        if first not in found or second not in found:
            raise Undecidable("one of the words is of no role")
        return "yes" if found[first] == found[second] else "no"


task = Alternating()
