"""Snapshot: the whole context, word for word.

From Minerva (Table 1). One item of ten words:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/snapshot", params={"items": "10"}).text.splitlines():
...     print(fill(line, 110))
Context:
920, 48, 353, 501, 88, 168, 558, 584, 926, 620
<BLANKLINE>
Instruction:
Repeat the context exactly as it is: every item, in order, with nothing left out and nothing added. Reply with
one line and nothing else, in this form: FINAL ANSWER: <the result in the same form, separated by commas>

Every word is a fact, and the answer is all of them.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from carrara.answers import Copy, Words
from carrara.generators import vocabulary
from carrara.task import Instance, Rng, Sweep
from carrara.tasks.minerva._edit import ITEMS, draw_items, draw_numbers
from carrara.tasks.minerva._task import MOST_ITEMS, WORDS, Minerva, check_number, split_items
from carrara.types import UNSIZED, LengthBudget


class Snapshot(Minerva):
    version, title, capability = 5, "Snapshot", "copying the whole context"
    category, answer = "recall and edit", Copy()
    ask = (
        "Repeat the context exactly as it is: every item, in order, with nothing left out and nothing added.",
        "Write out the whole context again, word for word.",
    )
    echo_limit = 0  # a reply that repeats the prompt is no trivial baseline here: it does what is asked
    known_shortcuts = {
        "the prompt said back": "To say the context again is what is asked.",
        "strings": "To say the context again is what is asked.",
        "learned": "To say the context again is what is asked.",
        "part": "A tenth of the context is a tenth of the answer.",
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    of: Sweep[Literal["words", "numbers"]] = Sweep("words", "numbers")
    """The kind of the context, taken in turn."""
    items: int = field(default=ITEMS, metadata=UNSIZED)
    """The number of words or numbers at length 0."""

    def check(self) -> None:
        check_number("items", self.items, 2, MOST_ITEMS)

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        if self.of == "numbers":
            items = draw_numbers(budget, rng.stream("words"), self.items)
        else:
            items = draw_items(budget, vocabulary.draw_words(self.words, rng.key), self.items)
        return Instance(facts=items, gold=Words(tuple(items)), labels={"of": self.of})

    def solve(self, context: str, names: Mapping[str, str]) -> Words:
        return Words(tuple(split_items(context)))

    def paper_task_of(self, labels: Mapping[str, str]) -> str:
        return "snapshot_random_numbers" if labels["of"] == "numbers" else "snapshot_unique_words"
