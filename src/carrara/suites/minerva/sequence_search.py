"""Sequence search: is a sequence of words in the context?

From Minerva (Table 1, string search). One item without filler:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/sequence_search", params={"size": "4"}).text.splitlines():
...     print(fill(line, 110))
Context:
essence, bushranger, medicamentally, heartstring, councilorship, obeahism
<BLANKLINE>
Instruction:
Do the words "auntlike, medicamentally, heartstring, councilorship" stand in the context, in this order and
with no other word between them? Reply with one line and nothing else: FINAL ANSWER: followed by yes or no.

The update is the sequence. What is asked for is that very sequence, or one in which a word is another one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from carrara.answers.naming import PRESENT, YesNo
from carrara.core.keys import Key
from carrara.core.types import Piece, Room, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import items_of, quoted
from carrara.suites.minerva._minerva import YesOrNo
from carrara.suites.minerva._params import Label, check_numbers
from carrara.text import vocabulary
from carrara.text.turns import in_turn


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    size: tuple[int, ...] = (8, 16, 32, 64)
    """Words of the sequence, taken in turn."""
    answer: tuple[Label, ...] = ("yes", "no")
    """Whether it is there, taken in turn."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("size", self.size, 2)
        check_phrasing(2, self.phrasing)


@dataclass(frozen=True)
class Sought:
    sequence: tuple[str, ...]
    """As it stands in the context."""
    asked: tuple[str, ...]
    last: str
    labels: Mapping[str, str]


class SequenceSearch(YesOrNo[Params, Sought]):
    version = 3
    title = "Sequence search"
    capability = "finding a sequence of words"
    category = "search"
    parameters = Params
    answers = YesNo(PRESENT)
    published_as = "string_search_sequence"
    wording = wording(
        answers,
        'Do the words "{sequence}" stand in the context, in this order and with no other word between them?',
        'Look through the words in the context and say whether the sequence "{sequence}" appears there, unbroken.',
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Sought]:
        size, answer = in_turn(key, "cell", list(product(params.size, params.answer)))
        first, last, other, *sequence = ends = vocabulary.some(
            vocabulary.supply(params.words, key.dice("words")), 3 + size
        )
        asked = list(sequence)
        if answer == "no":
            asked[key.dice("changed").below(size)] = other
        return World(
            structure=Sought(tuple(sequence), tuple(asked), last, {"size": str(size)}),
            opening=(Piece(first),),
            updates=(tuple(Piece(word, update=0) for word in sequence),),
            filler=vocabulary.filler(params.words, ends),
        )

    def fields(self, hidden: Sought) -> Mapping[str, str]:
        return {"sequence": ", ".join(hidden.asked)}

    def gold(self, hidden: Sought) -> str:
        return "yes" if hidden.asked == hidden.sequence else "no"

    def needs(self, world: World[Sought]) -> Sequence[int]:
        return (0,) if self.gold(world.structure) == "yes" else ()

    def closing(self, hidden: Sought) -> str:
        return f"{self.joint}{hidden.last}"

    def answer(self, context: str, asked: str) -> str:
        sequence = quoted(asked)[0]
        sought, items = items_of(sequence), items_of(context)
        places = (place for place, item in enumerate(items) if item == sought[0])
        return "yes" if any(items[place : place + len(sought)] == sought for place in places) else "no"


task = SequenceSearch()
