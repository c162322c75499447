"""Overwrite positions: the whole context, with every n-th word overwritten, or left out.

From Minerva (Table 1). One item of ten words:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/overwrite", params={"items": "10"}).text.splitlines():
...     print(fill(line, 110))
Context:
downthrown, genesial, equilibrity, shyness, supraposition, complexionless, unthatched, exadversum,
microtomical, cassareep
<BLANKLINE>
Instruction:
Repeat the context, but leave out every fourth word. Reply with one line and nothing else: FINAL ANSWER:
followed by the result in the same form, separated by commas.

Every word is an update.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from carrara.answers.listing import Copy, Words
from carrara.core.keys import Key
from carrara.core.types import UNSIZED, Room, Undecidable, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import items_of, ordinal, quoted
from carrara.tasks.minerva._items import ITEMS, Edit, Source, listed
from carrara.tasks.minerva._params import MOST_ITEMS, To, check_numbers
from carrara.text import vocabulary
from carrara.text.turns import in_turn

MOST_NTH = 100
_EVERY = re.compile(r"\bevery (\w+) word\b")


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    nth: tuple[int, ...] = (2, 3, 4)
    """Every how manyth word, taken in turn."""
    to: tuple[To, ...] = ("word", "nothing")
    """What it is replaced by, taken in turn."""
    items: int = field(default=ITEMS, metadata=UNSIZED)
    """How many words there are where no length is asked for, or as many as it takes."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("nth", self.nth, 2, MOST_NTH)
        check_numbers("items", (self.items,), 2, MOST_ITEMS)
        check_phrasing(2, self.phrasing)


class Overwrite(Edit[Params]):
    version = 3
    title = "Overwrite positions"
    capability = "copying while counting places"
    category = "recall and edit"
    parameters = Params
    wording = wording(
        Copy(),
        word=(
            'Repeat the context, but write "{y}" in place of every {nth} word.',
            'Copy the words of the context and overwrite every {nth} word with "{y}".',
        ),
        nothing=(
            "Repeat the context, but leave out every {nth} word.",
            "Copy the words of the context and skip every {nth} word.",
        ),
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Source]:
        nth, to = in_turn(key, "cell", list(product(params.nth, params.to)))
        draw = vocabulary.drawn(params.words, key)
        y = draw() if to == "word" else ""
        items = listed(room, draw, params.items, least=nth)
        result = tuple(item for item in (y if n % nth == 0 else item for n, item in enumerate(items, 1)) if item)
        return self.shown(Source(items, result, {"nth": ordinal(nth), "y": y}, {"nth": str(nth), "to": to}, to, y))

    def needs(self, world: World[Source]) -> Sequence[int]:
        hidden = world.structure
        unseen = not hidden.y and hidden.result[-1] != hidden.items[-1]  # the last one is left out anyway
        return range(len(hidden.items) - unseen)

    def answer(self, context: str, asked: str) -> Words:
        every = set(_EVERY.findall(asked))
        nth = next((n for n in range(2, MOST_NTH + 1) if ordinal(n) in every), None)
        if nth is None:
            raise Undecidable("the question does not say which words are meant")
        y = quoted(asked, 0)
        changed = [(y[0] if y else "") if n % nth == 0 else item for n, item in enumerate(items_of(context), 1)]
        return Words(tuple(filter(None, changed)))

    def published_name(self, labels: Mapping[str, str]) -> str:
        return "overwrite_positions" if labels["to"] == "word" else "overwrite_positions_nth_to_null"


task = Overwrite()
