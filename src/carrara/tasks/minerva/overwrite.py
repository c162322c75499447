"""Overwrite positions: the whole context, with every n-th word overwritten, or left out.

From Minerva (Table 1). One item of ten words:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/overwrite", params={"items": "10"}).text.splitlines():
...     print(fill(line, 110))
Context:
micrognathous, underwriting, natant, unqueenly, homesteader, coinfer, abolition, paedometrical, quondamly,
pylangial
<BLANKLINE>
Instruction:
Repeat the context, but leave out every fourth word. Reply with one line and nothing else, in this form: FINAL
ANSWER: <the result in the same form, separated by commas>

Every word is a fact.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from carrara.answers import Copy, Words
from carrara.generators import vocabulary
from carrara.task import Instance, Rng, Sweep
from carrara.tasks.minerva._edit import ITEMS, draw_items, edit_answer, read_ordinal, write_ordinal
from carrara.tasks.minerva._task import MOST_ITEMS, WORDS, Minerva, check_number, split_items
from carrara.types import UNSIZED, LengthBudget


class Overwrite(Minerva):
    version, title, capability = 4, "Overwrite positions", "copying while counting positions"
    category, answer = "recall and edit", Copy()
    ask = {
        "word": (
            'Repeat the context, but write "{y}" in place of every {nth} word.',
            'Copy the words of the context and overwrite every {nth} word with "{y}".',
        ),
        "nothing": (
            "Repeat the context, but leave out every {nth} word.",
            "Copy the words of the context and skip every {nth} word.",
        ),
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    nth: Sweep[int] = Sweep(2, 3, 4)
    """Every how manyth word, taken in turn."""
    to: Sweep[Literal["word", "nothing"]] = Sweep("word", "nothing")
    """The replacement, taken in turn."""
    items: int = field(default=ITEMS, metadata=UNSIZED)
    """The number of words at length 0, or more if they are needed."""

    def check(self) -> None:
        check_number("nth", self.nth, 2, 100)
        check_number("items", self.items, 2, MOST_ITEMS)

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        draw = vocabulary.draw_words(self.words, rng.key)
        y = draw() if self.to == "word" else ""
        items = draw_items(budget, draw, self.items, least=self.nth)
        unread = self.to == "nothing" and len(items) % self.nth == 0
        return Instance(
            facts=items,
            gold=edit_answer(items, _overwrite(items, self.nth, y), y),
            evidence=range(len(items) - unread),
            ask=self.to,
            names={"nth": write_ordinal(self.nth), "y": y},
            labels={"nth": str(self.nth), "to": self.to},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> Words:
        nth = read_ordinal(names["nth"])
        return Words(tuple(_overwrite(split_items(context), nth, names.get("y", ""))))

    def paper_task_of(self, labels: Mapping[str, str]) -> str:
        return "overwrite_positions" if labels["to"] == "word" else "overwrite_positions_nth_to_null"


def _overwrite(items: list[str], nth: int, y: str) -> list[str]:
    return [y if n % nth == 0 else item for n, item in enumerate(items, 1) if y or n % nth]
