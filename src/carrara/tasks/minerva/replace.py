"""Replace all: the whole context, with one word replaced, or left out, wherever it comes.

From Minerva (Table 1). One item of ten words:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/replace", params={"items": "10"}).text.splitlines():
...     print(fill(line, 110))
Context:
forested, irrelevancy, nondespotic, piecemeal, nondespotic, subconference, anerly, nondespotic, camarasaurus,
nondespotic
<BLANKLINE>
Instruction:
Repeat the context, but wherever it has the word "nondespotic", write "electroosmosis" instead. Reply with one
line and nothing else: FINAL ANSWER: followed by the result in the same form, separated by commas.

Every word is an update. A copy of the context is right about all the other words, and the new word said over and over
about the rest: what counts is how far a reply goes beyond both.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from carrara.answers.listing import Copy, Words
from carrara.core.keys import Dice, Key
from carrara.core.types import UNSIZED, Room, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import items_of, quoted
from carrara.tasks.minerva._items import ITEMS, Edit, Source, listed
from carrara.tasks.minerva._params import MOST_ITEMS, To, check_numbers
from carrara.text import vocabulary
from carrara.text.turns import in_turn

BLOCK = 10
"""Items among which each density is kept exactly."""


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    density: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8)
    """The share of the context that is the word to be replaced, taken in turn: tenths."""
    to: tuple[To, ...] = ("word", "nothing")
    """What it is replaced by, taken in turn."""
    items: int = field(default=ITEMS, metadata=UNSIZED)
    """How many words there are where no length is asked for."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        if not all(density * BLOCK in range(1, BLOCK) for density in self.density):
            raise ValueError("density goes from 0.1 to 0.9 in tenths")
        check_numbers("items", (self.items,), BLOCK, MOST_ITEMS)
        check_phrasing(2, self.phrasing)


class Replace(Edit[Params]):
    version = 3
    title = "Replace all"
    capability = "copying while replacing a word"
    category = "recall and edit"
    parameters = Params
    inherent = {
        "strings": "Half of the questions leave out a word, and all other words are the answer.",
    }
    wording = wording(
        Copy(),
        word=(
            'Repeat the context, but wherever it has the word "{x}", write "{y}" instead.',
            'Copy the words of the context and change every "{x}" into "{y}".',
        ),
        nothing=(
            'Repeat the context, but leave out the word "{x}" wherever it comes.',
            'Copy the words of the context without any "{x}".',
        ),
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Source]:
        density, to = in_turn(key, "cell", list(product(params.density, params.to)))
        dice = key.dice("words")
        draw = vocabulary.supply(params.words, dice)
        x, y = vocabulary.some(draw, 2)
        items = listed(room, _mixed(x, round(density * BLOCK), draw, dice), params.items)
        y = y if to == "word" else ""
        result = tuple(item for item in (y if item == x else item for item in items) if item)
        return self.shown(Source(items, result, {"x": x, "y": y}, {"density": f"{density:g}", "to": to}, to, y))

    def needs(self, world: World[Source]) -> Sequence[int]:
        hidden = world.structure
        return [n for n, item in enumerate(hidden.items) if hidden.y or item != hidden.fields["x"]]

    def answer(self, context: str, asked: str) -> Words:
        x, *y = quoted(asked)
        items = items_of(context)
        return Words(tuple((y[0] if item == x else item) for item in items if y or item != x))

    def published_name(self, labels: Mapping[str, str]) -> str:
        return "replace_all" if labels["to"] == "word" else "replace_all_x_to_null"


def _mixed(x: str, times: int, draw: Callable[[], str], dice: Dice) -> Callable[[], str]:
    """Words among which `x` comes so many times in every ten."""
    waiting: list[str] = []

    def next_item() -> str:
        if not waiting:
            waiting.extend(dice.shuffled([x] * times + vocabulary.some(draw, BLOCK - times)))
        return waiting.pop()

    return next_item


task = Replace()
