"""Check association: do two words have the same attribute?

From Minerva (Table 1). One item without filler:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/association").text.splitlines():
...     print(fill(line, 110))
Context:
serozyme: ATT_1, nondiscovery: ATT_1, boundedness: ATT_2, supratonsillar: ATT_1
<BLANKLINE>
Instruction:
Every word in the context is followed by its attribute. Do the words "boundedness" and "nondiscovery" have the
same attribute? Reply with one line and nothing else: FINAL ANSWER: followed by yes or no.

The updates are the two words with their attributes, the filler are other words with theirs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from carrara.answers.naming import SAME, YesNo
from carrara.core.keys import Key
from carrara.core.types import Piece, Room, Undecidable, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import pair, pairs_of, quoted
from carrara.tasks.minerva._minerva import YesOrNo
from carrara.tasks.minerva._params import Label, check_numbers
from carrara.text import vocabulary
from carrara.text.turns import in_turn


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    attributes: tuple[int, ...] = (2, 4, 8, 16, 32)
    """How many attributes there are, taken in turn."""
    answer: tuple[Label, ...] = ("yes", "no")
    """Whether the two have the same one, taken in turn."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("attributes", self.attributes, 2)
        check_phrasing(2, self.phrasing)


@dataclass(frozen=True)
class Tagged:
    first: str
    second: str
    same: bool
    last: str
    labels: Mapping[str, str]


class Association(YesOrNo[Params, Tagged]):
    version = 3
    title = "Check association"
    capability = "comparing what two words are tagged with"
    category = "match and compare"
    parameters = Params
    answers = YesNo(SAME)
    published_as = "check_association"
    wording = wording(
        answers,
        'Every word in the context is followed by its attribute. Do the words "{first}" and "{second}" have the same '
        "attribute?",
        'The context assigns an attribute to each word, as in "word: ATT_N". Is the attribute of "{first}" also '
        'that of "{second}"?',
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Tagged]:
        attributes, answer = in_turn(key, "cell", list(product(params.attributes, params.answer)))
        dice = key.dice("attributes")
        mine, other = dice.sample(range(1, attributes + 1), 2)
        first, second, start, last = drawn = vocabulary.some(vocabulary.drawn(params.words, key), 4)
        tags = {first: mine, second: mine if answer == "yes" else other}
        around = [pair(word, _tag(dice.between(1, attributes))) for word in (start, last)]
        return World(
            structure=Tagged(first, second, answer == "yes", around[1], {"attributes": str(attributes)}),
            opening=(Piece(around[0]),),
            updates=tuple(
                (Piece(pair(word, _tag(tags[word])), update=n),)
                for n, word in enumerate(dice.shuffled([first, second]))
            ),
            filler=vocabulary.filler(
                params.words, drawn, lambda word, dice: pair(word, _tag(dice.between(1, attributes)))
            ),
        )

    def fields(self, hidden: Tagged) -> Mapping[str, str]:
        return {"first": hidden.first, "second": hidden.second}

    def gold(self, hidden: Tagged) -> str:
        return "yes" if hidden.same else "no"

    def needs(self, world: World[Tagged]) -> Sequence[int]:
        return (0, 1)

    def closing(self, hidden: Tagged) -> str:
        return f"{self.joint}{hidden.last}"

    def answer(self, context: str, asked: str) -> str:
        first, second = quoted(asked, 2)[:2]
        tags = pairs_of(context)
        if first not in tags or second not in tags:
            raise Undecidable("one of the words is not there")
        return "yes" if tags[first] == tags[second] else "no"


def _tag(number: int) -> str:
    return f"ATT_{number}"


task = Association()
