"""Group membership: which list has a word?

From Minerva (Table 1). One item of four short lists:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/membership", params={"lists": "4", "items": "12"}).text.splitlines():
...     print(fill(line, 110))
Context:
List 1: schleichera, artar, unbury
List 2: timote, flare, provisional
List 3: psorospermic, agama, nexum
List 4: iridescency, aporose, sparkling
<BLANKLINE>
Instruction:
Which of the lists in the context contains the word "schleichera"? If none of them does, answer no. Reply with
one line and nothing else: FINAL ANSWER: followed by the name of that list, such as "List 1", or no.

The lists are the facts. In turn, the word is in each quarter of the lists, and in none of them.
"""

from collections.abc import Mapping
from dataclasses import field
from itertools import product

from carrara.answers import ListName, asks_for
from carrara.generators import vocabulary
from carrara.generators.round_robin import in_turn
from carrara.task import Instance, Rng
from carrara.tasks.minerva._lists import Needle, deal_words, list_name, read_lines, write_lists
from carrara.tasks.minerva._task import MOST_ITEMS, WORDS, Minerva, check_number
from carrara.types import ANSWER, UNSIZED, LengthBudget

QUARTERS = 4
ABSENT = QUARTERS


class Membership(Minerva):
    version, title, capability = 4, "Group membership", "finding the list of a word"
    category, paper_task = "compute on sets and lists", "group_membership"
    answer, separator = ListName(), "\n"
    ask = (
        'Which of the lists in the context contains the word "{word}"? If none of them does, answer no.',
        'Look for "{word}" in the lists in the context, and name the list that contains it; answer no if none does.',
    )
    known_shortcuts = {
        **dict.fromkeys(
            ("the lines with most words of the question", "the lines with most rare words of the question"),
            "The list that has the word is what is asked for.",
        ),
        "learned": "Where lists are short, a word stands near the name of its list.",
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    lists: tuple[int, ...] = (4, 8, 16, 32)
    """The number of lists, taken in turn."""
    items: int = field(default=96, metadata=UNSIZED)
    """Words of all lists where no length is asked for, or as many as it takes."""

    @classmethod
    def make_wording(cls) -> Mapping[str, str]:
        return {**super().make_wording(), "rule": asks_for('the name of that list, such as "List 1", or no')}

    def check(self) -> None:
        if not self.lists:
            raise ValueError("lists needs a value")
        for lists in self.lists:
            check_number("lists", lists, QUARTERS)
        check_number("items", self.items, 2, MOST_ITEMS)

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        lists, quarter = in_turn(rng.key, "cell", list(product(self.lists, range(QUARTERS + 1))))
        draw, stream = vocabulary.draw_words(self.words, rng.key), rng.stream("place")
        needle = Needle(draw(), int((quarter + stream.random()) * lists / QUARTERS), stream.random())
        present = [] if quarter == ABSENT else [needle]
        dealt = deal_words(budget, draw, self.items, lists, present, f"lists={lists}")
        return Instance(
            facts=write_lists(dealt),
            gold=list_name(needle.list) if present else "no",
            names={"word": needle.word},
            evidence=[needle.list for needle in present],
            options=(*map(list_name, range(lists)), "no"),
            guesses=["no"],  # right as often as any of four lists, and more often than one of many
            chance_level=1 / (QUARTERS + 1),
            labels={"lists": str(lists), ANSWER: "a list" if present else "no"},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        return next((name for name, words in read_lines(context) if names["word"] in words), "no")
