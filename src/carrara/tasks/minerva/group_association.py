"""Group association: are two words in the same list?

From Minerva (Table 1). One item of four short lists:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/group_association", params={"lists": "4", "items": "12"}).text.splitlines():
...     print(fill(line, 110))
Context:
List 1: somnambule, holometer, grushie
List 2: undisposed, deficiency, larboard
List 3: rundi, otopyorrhea, stre
List 4: arsenophenol, unbridgeable, paleola
<BLANKLINE>
Instruction:
Are the words "paleola" and "deficiency" in the same list of the context? Reply with one line and nothing
else: FINAL ANSWER: followed by yes or no.

The lists are the updates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from carrara.answers.naming import SAME, YesNo
from carrara.core.keys import Key
from carrara.core.types import UNSIZED, Room, Undecidable, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import lines_of, quoted
from carrara.tasks.minerva._lists import Lists, Needle, lists_of, world_of
from carrara.tasks.minerva._minerva import YesOrNo
from carrara.tasks.minerva._params import MOST_ITEMS, Label, check_numbers
from carrara.text import vocabulary
from carrara.text.turns import in_turn


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    lists: tuple[int, ...] = (4, 8, 16, 32)
    """How many lists there are, taken in turn."""
    answer: tuple[Label, ...] = ("yes", "no")
    """Whether the two are in the same one, taken in turn."""
    items: int = field(default=96, metadata=UNSIZED)
    """Words of all lists where no length is asked for, or as many as it takes."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("lists", self.lists, 2)
        check_numbers("items", (self.items,), 2, MOST_ITEMS)
        check_phrasing(2, self.phrasing)


class GroupAssociation(YesOrNo[Params, Lists]):
    version = 3
    title = "Group association"
    capability = "telling whether two words share a list"
    category = "compute on sets and lists"
    parameters = Params
    sized = True
    answers = YesNo(SAME)
    joint = "\n"
    published_as = "group_association"
    inherent = {
        "what is named stands in one piece": "Each list is a line, and whether two words share one is what is asked.",
        "what is named stands close by": "Where lists are short, words that share one stand close by.",
    }
    wording = wording(
        answers,
        'Are the words "{first}" and "{second}" in the same list of the context?',
        'Check the lists in the context: do "{first}" and "{second}" belong to one and the same list?',
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Lists]:
        lists, answer = in_turn(key, "cell", list(product(params.lists, params.answer)))
        draw = vocabulary.drawn(params.words, key)
        dice = key.dice("place")
        one, two = dice.sample(range(lists), 2)
        needles = (Needle(draw(), one, dice.random()), Needle(draw(), one if answer == "yes" else two, dice.random()))
        parts = lists_of(room, draw, params.items, lists, needles, f"lists={lists}")
        return world_of(Lists(tuple(map(tuple, parts)), needles, answer, {"lists": str(lists)}))

    def fields(self, hidden: Lists) -> Mapping[str, str]:
        return {"first": hidden.asked[0].word, "second": hidden.asked[1].word}

    def gold(self, hidden: Lists) -> str:
        return hidden.answer

    def needs(self, world: World[Lists]) -> Sequence[int]:
        return sorted({needle.list for needle in world.structure.asked})

    def answer(self, context: str, asked: str) -> str:
        first, second, *_ = quoted(asked, 2)
        found = {word: name for name, words in lines_of(context) for word in words}
        if first not in found or second not in found:
            raise Undecidable("one of the words is in no list")
        return "yes" if found[first] == found[second] else "no"


task = GroupAssociation()
