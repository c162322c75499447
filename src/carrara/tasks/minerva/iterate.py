"""Iterate: the last word of each list.

From Minerva (Table 1; the first word of each is its ablation). One item of four short lists:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/iterate", params={"lists": "4", "items": "12"}).text.splitlines():
...     print(fill(line, 110))
Context:
List 1: microsporic, unhatchability, intestiniform
List 2: neglectproof, therologic, prepyloric
List 3: actual, expugnable, achromatope
List 4: anhidrosis, unaccountably, versicule
<BLANKLINE>
Instruction:
What is the last word of each list in the context, starting with the first list? Reply with one line and
nothing else, in this form: FINAL ANSWER: <those words in that order, separated by commas>

The lists are the facts.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from carrara.answers import Listing, Words
from carrara.generators import vocabulary
from carrara.task import Instance, Rng, Sweep
from carrara.tasks.minerva._lists import Needle, deal_words, read_lines, write_lists
from carrara.tasks.minerva._task import MOST_ITEMS, WORDS, Minerva, check_number
from carrara.types import UNSIZED, LengthBudget


class Iterate(Minerva):
    version, title, capability = 5, "Iterate", "iterating over the ends of lists"
    category = "compute on sets and lists"
    answer, separator = Listing(), "\n"
    ask = (
        "What is the {which} word of each list in the context, starting with the first list?",
        "Go through the lists in the context one by one, and note down the {which} word of each.",
    )
    known_shortcuts = {
        "a word of each line, at the same place": "The last word of each list is what is asked for.",
        "the last words": "The last list of few ends in them.",
        "the words said most rarely": "All words are said once, and the last ones are taken.",
        "learned": "Of few lists a word or two are easily met.",
        "part": "A tenth of the context tells a tenth of the answer, and of few lists more.",
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    lists: Sweep[int] = Sweep(4, 8, 16, 32)
    """The number of lists, taken in turn."""
    which: Sweep[Literal["last", "first"]] = Sweep("last")
    """Which word of each is asked for, taken in turn: last or first."""
    items: int = field(default=96, metadata=UNSIZED)
    """Words of all lists where no length is asked for, or as many as it takes."""

    def check(self) -> None:
        check_number("lists", self.lists, 2)
        check_number("items", self.items, 2, MOST_ITEMS)

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        draw = vocabulary.draw_words(self.words, rng.key)
        share, other_end = (1.0, 0) if self.which == "last" else (0.0, -1)
        needles = [Needle(draw(), n, share) for n in range(self.lists)]
        dealt = deal_words(budget, draw, self.items, self.lists, needles, f"lists={self.lists}")
        return Instance(
            facts=write_lists(dealt),
            gold=Words(
                tuple(needle.word for needle in needles),
                {"the words at the other ends": tuple(words[other_end] for words in dealt)},
            ),
            names={"which": self.which},
            labels={"lists": str(self.lists), "which": self.which},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> Words:
        place = -1 if names["which"] == "last" else 0
        return Words(tuple(words[place] for _, words in read_lines(context)))

    def paper_task_of(self, labels: Mapping[str, str]) -> str:
        return f"iterate_{labels['which']}"
