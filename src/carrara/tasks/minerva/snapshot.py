"""Snapshot: the whole context, word for word.

From Minerva (Table 1). One item of ten words:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/snapshot", params={"items": "10"}).text.splitlines():
...     print(fill(line, 110))
Context:
38, 968, 739, 796, 94, 348, 931, 571, 871, 487
<BLANKLINE>
Instruction:
Repeat the context exactly as it is: every item, in its order, with nothing left out and nothing added. Reply
with one line and nothing else: FINAL ANSWER: followed by the result in the same form, separated by commas.

Every word is an update, and the answer is all of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from carrara.answers.listing import Copy, Words
from carrara.core.keys import Key
from carrara.core.types import UNSIZED, Room, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import items_of
from carrara.tasks.minerva._items import ITEMS, Edit, Source, listed, numbers
from carrara.tasks.minerva._params import MOST_ITEMS, check_numbers
from carrara.text import vocabulary
from carrara.text.turns import in_turn


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    of: tuple[Literal["words", "numbers"], ...] = ("words", "numbers")
    """What the context is made of, taken in turn."""
    items: int = field(default=ITEMS, metadata=UNSIZED)
    """How many they are where no length is asked for."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("items", (self.items,), 2, MOST_ITEMS)
        check_phrasing(2, self.phrasing)


class Snapshot(Edit[Params]):
    version = 3
    title = "Snapshot"
    capability = "copying the whole context"
    category = "recall and edit"
    parameters = Params
    echoes = 0  # to say the context back is no trivial reply here: it is what is asked for
    inherent = {
        "the prompt said back": "To say the context again is what is asked.",
        "strings": "To say the context again is what is asked.",
        "learned": "To say the context again is what is asked.",
        "part": "A tenth of the context is a tenth of the answer.",
    }
    wording = wording(
        Copy(),
        "Repeat the context exactly as it is: every item, in its order, with nothing left out and nothing added.",
        "Write out the whole context once more, word for word.",
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Source]:
        of = in_turn(key, "of", params.of)
        if of == "numbers":
            items = numbers(room, key.dice("words"), params.items)
        else:
            items = listed(room, vocabulary.drawn(params.words, key), params.items)
        return self.shown(Source(items, items, {}, {"of": of}))

    def answer(self, context: str, asked: str) -> Words:
        return Words(tuple(items_of(context)))

    def published_name(self, labels: Mapping[str, str]) -> str:
        return "snapshot_random_numbers" if labels["of"] == "numbers" else "snapshot_unique_words"


task = Snapshot()
