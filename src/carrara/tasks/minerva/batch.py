"""Batch search: which words are paired with each of several words?

From Minerva (Table 1). One item without filler:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/batch").text.splitlines():
...     print(fill(line, 110))
Context:
unejected: atomy, trepanning: ebullient, greenhew: admensuration, unfeted: lawrence, ikona: numbing,
aeromotor: agha
<BLANKLINE>
Instruction:
The context is a list of pairs of words, written "word: partner". What are the partners of these words, in the
order given here: "trepanning, greenhew, unfeted, ikona"? Reply with one line and nothing else: FINAL ANSWER:
followed by the words that you find, in that order, separated by commas.

The updates are the pairs, evenly through the context, and the filler are other pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from carrara.answers.contract import asks_for
from carrara.answers.listing import Listing, Words
from carrara.core.keys import Key
from carrara.core.types import Piece, Room, Undecidable, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import items_of, pair, pairs_of, quoted
from carrara.tasks.minerva._minerva import Minerva
from carrara.tasks.minerva._pairs import other_pairs
from carrara.tasks.minerva._params import check_numbers
from carrara.text import vocabulary
from carrara.text.turns import in_turn


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    size: tuple[int, ...] = (4, 8, 16, 32)
    """Words that are looked up at once, taken in turn."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("size", self.size, 2)
        check_phrasing(2, self.phrasing)


@dataclass(frozen=True)
class Pairs:
    asked: tuple[tuple[str, str], ...]
    last: str
    labels: Mapping[str, str]


class Batch(Minerva[Params, Pairs, Words]):
    version = 3
    title = "Batch search"
    capability = "looking up many pairs at once"
    category = "search"
    parameters = Params
    answers = Listing()
    published_as = "batch_key_value_search"
    inherent = {
        "strings": "The partners stand beside words that are named: finding them is what is asked.",
        "learned": "The partners stand beside words that are named: finding them is what is asked.",
    }
    wording = {
        **wording(
            answers,
            'The context is a list of pairs of words, written "word: partner". What are the partners of these words, '
            'in the order given here: "{keys}"?',
            "Each entry of the context has a first word and, behind a colon, a second word. Look up the second words "
            'for the following first words, one after the other: "{keys}".',
        ),
        "rule": asks_for("the words that you find, in that order, separated by commas"),
    }

    def world(self, key: Key, params: Params, room: Room | None) -> World[Pairs]:
        size = in_turn(key, "size", params.size)
        drawn = vocabulary.some(vocabulary.drawn(params.words, key), 4 + 2 * size)
        ends, pairs = drawn[:4], tuple(zip(drawn[4 : 4 + size], drawn[4 + size :], strict=True))
        return World(
            structure=Pairs(pairs, pair(*ends[2:]), {"size": str(size)}),
            opening=(Piece(pair(*ends[:2])),),
            updates=tuple((Piece(pair(*both), update=n),) for n, both in enumerate(pairs)),
            filler=other_pairs(params.words, drawn),
            depths=tuple(n / (size - 1) for n in range(size)),
        )

    def fields(self, hidden: Pairs) -> Mapping[str, str]:
        return {"keys": ", ".join(key for key, _ in hidden.asked)}

    def gold(self, hidden: Pairs) -> Words:
        return Words(
            tuple(value for _, value in hidden.asked), {"the words asked for": tuple(key for key, _ in hidden.asked)}
        )

    def needs(self, world: World[Pairs]) -> Sequence[int]:
        return range(len(world.updates))

    def closing(self, hidden: Pairs) -> str:
        return f"{self.joint}{hidden.last}"

    def answer(self, context: str, asked: str) -> Words:
        pairs = pairs_of(context)
        try:
            return Words(tuple(pairs[key] for key in items_of(quoted(asked)[-1])))
        except KeyError as error:
            raise Undecidable(f"no pair has the word {error}") from None


task = Batch()
