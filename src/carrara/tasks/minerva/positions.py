"""Compare positions: does a word come before another?

From Minerva (Table 1). One item without filler:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/positions").text.splitlines():
...     print(fill(line, 110))
Context:
squawker, woodwax, ayah, triradial
<BLANKLINE>
Instruction:
Does the word "woodwax" come before the word "ayah" in the context? Reply with one line and nothing else:
FINAL ANSWER: followed by yes or no.

The updates are the two words, the filler are other words. Two words at one depth stand side by side, in either order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from carrara.answers.naming import BEFORE, YesNo
from carrara.core.keys import Key
from carrara.core.types import Piece, Room, Undecidable, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import items_of, quoted
from carrara.tasks.minerva._minerva import YesOrNo
from carrara.tasks.minerva._params import check_shares
from carrara.text import vocabulary
from carrara.text.turns import in_turn


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    first: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    """How far into the context the word stands that is named first, taken in turn."""
    second: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    """How far in the other word stands, taken in turn."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_shares("first", self.first)
        check_shares("second", self.second)
        check_phrasing(2, self.phrasing)


@dataclass(frozen=True)
class Two:
    first: str
    second: str
    before: bool
    last: str
    labels: Mapping[str, str]


class Positions(YesOrNo[Params, Two]):
    version = 3
    title = "Compare positions"
    capability = "comparing where two words stand"
    category = "match and compare"
    parameters = Params
    answers = YesNo(BEFORE)
    published_as = "compare_positions"
    inherent = {
        "what is named comes in that order": "Which word comes first is what is asked.",
        "what is named comes last in that order": "Which word comes first is what is asked.",
        "what is named stands close by": "Without filler the two words stand side by side, in their order.",
        "what is named stands side by side": "Without filler the two words stand side by side, in their order.",
    }
    wording = wording(
        answers,
        'Does the word "{first}" come before the word "{second}" in the context?',
        'Compare where two words stand in the context: is "{first}" found earlier than "{second}"?',
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Two]:
        cells = list(product(params.first, params.second))
        cell = one, two = in_turn(key, "depths", cells)
        turn = cells.index(cell) + key.index // len(cells)
        before = one < two or (one == two and turn % 2 == 0)  # the next time, side by side, the other way round
        first, second, start, last = drawn = vocabulary.some(vocabulary.drawn(params.words, key), 4)
        order = (first, second) if before else (second, first)
        return World(
            structure=Two(first, second, before, last, {"apart": f"{abs(one - two):g}"}),
            opening=(Piece(start),),
            updates=tuple((Piece(word, update=n),) for n, word in enumerate(order)),
            filler=vocabulary.filler(params.words, drawn),
            depths=tuple(sorted((one, two))),
        )

    def fields(self, hidden: Two) -> Mapping[str, str]:
        return {"first": hidden.first, "second": hidden.second}

    def gold(self, hidden: Two) -> str:
        return "yes" if hidden.before else "no"

    def needs(self, world: World[Two]) -> Sequence[int]:
        return (0, 1)

    def closing(self, hidden: Two) -> str:
        return f"{self.joint}{hidden.last}"

    def answer(self, context: str, asked: str) -> str:
        first, second, *_ = quoted(asked, 2)
        items = items_of(context)
        try:
            return "yes" if items.index(first) < items.index(second) else "no"
        except ValueError:
            raise Undecidable("one of the words is not there") from None


task = Positions()
