"""Sequence search: is a sequence of words in the context?

From Minerva (Table 1, string search). One item without filler:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/sequence_search", params={"size": "4"}).text.splitlines():
...     print(fill(line, 110))
Context:
curative, abasement, devolutionist, repetitive, succor, bellwind, zayin, harb, nonvesting
<BLANKLINE>
Instruction:
Do the words "zayin, harb, nonvesting, curative" stand in the context, in this order and with no other word
between them? Reply with one line and nothing else: FINAL ANSWER: followed by yes or no.

The updates are a sequence, and a single word elsewhere. What is asked for is that very sequence; or, where the answer
is no, in turn: one with two neighbours exchanged (`order`), one that leaves out a word inside (`gap`), one in which a
word is the single one from elsewhere (`moved`), or one that the context does not have (`absent`); or else the last
words of the context and then its first ones (`wrap`). So all words that are asked for may be there without their
sequence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal, get_args

from carrara.answers.naming import PRESENT, YesNo
from carrara.core.keys import Key
from carrara.core.types import ANSWER, Piece, Room, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import items_of, quoted
from carrara.tasks.minerva._minerva import YesOrNo
from carrara.tasks.minerva._params import Label, check_numbers
from carrara.text import vocabulary
from carrara.text.turns import in_turn

Wrong = Literal["order", "gap", "moved", "absent", "wrap"]
WRONG: tuple[Wrong, ...] = get_args(Wrong)


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    size: tuple[int, ...] = (8, 16, 32, 64)
    """Words of the sequence, taken in turn."""
    answer: tuple[Label, ...] = ("yes", "no")
    """Whether it is there, taken in turn."""
    wrong: tuple[Wrong, ...] = WRONG
    """What is wrong with one that is not there, taken in turn."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("size", self.size, 2)
        if not self.wrong or len(set(self.wrong)) < len(self.wrong):
            raise ValueError(f"wrong is one or several of {', '.join(WRONG)}")
        check_phrasing(2, self.phrasing)


@dataclass(frozen=True)
class Sought:
    sequence: tuple[str, ...]
    """As it stands in the context."""
    asked: tuple[str, ...]
    last: str
    labels: Mapping[str, str]
    wrong: Wrong | Literal[""]


class SequenceSearch(YesOrNo[Params, Sought]):
    version = 4
    title = "Sequence search"
    capability = "finding a sequence of words"
    category = "search"
    parameters = Params
    answers = YesNo(PRESENT)
    published_as = "string_search_sequence"
    inherent = {
        "what is named stands side by side": "Whether a string stands in the text is what is asked.",
        "what is named stands close by": "A gap is only one of five things that may be wrong.",
        "what is named comes in that order": "A gap is only one of five things that may be wrong.",
        "what is named comes last in that order": "A gap is only one of five things that may be wrong.",
    }
    wording = wording(
        answers,
        'Do the words "{sequence}" stand in the context, in this order and with no other word between them?',
        'Look through the words in the context and say whether the sequence "{sequence}" appears there, unbroken.',
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Sought]:
        cells = list(product(params.size, params.answer))
        cell = size, answer = in_turn(key, "cell", cells)
        draw = vocabulary.drawn(params.words, key)
        first, last, moved, other, *sequence = every = vocabulary.some(draw, 4 + size)
        wrong = in_turn(key, "wrong", params.wrong, every=len(cells)) if answer == "no" else ""
        asked, opening, closing = list(sequence), [first], [last]
        dice = key.dice("changed", cells.index(cell))
        place = dice.below(size - 1)
        match wrong:
            case "order":
                asked[place : place + 2] = asked[place + 1], asked[place]
            case "gap":
                sequence.insert(1 + place, other)
            case "moved":
                asked[dice.below(size)] = moved
            case "absent":
                asked[dice.below(size)] = other
            case "wrap":
                asked = vocabulary.some(draw, size)
                every += asked
                closing, opening = asked[: place + 1], asked[place + 1 :]
        updates = [tuple(Piece(word, update=0) for word in sequence), (Piece(moved, update=1),)]
        return World(
            structure=Sought(tuple(sequence), tuple(asked), ", ".join(closing), {"size": str(size)}, wrong),
            opening=tuple(map(Piece, opening)),
            updates=tuple(updates),
            filler=vocabulary.filler(params.words, every),
            timeless=True,
        )

    def fields(self, hidden: Sought) -> Mapping[str, str]:
        return {"sequence": ", ".join(hidden.asked)}

    def gold(self, hidden: Sought) -> str:
        return "no" if hidden.wrong else "yes"

    def shown_answer(self, hidden: Sought, gold: str) -> Mapping[str, str]:
        return {ANSWER: f"no, {hidden.wrong}" if hidden.wrong else "yes"}

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
