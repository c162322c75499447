"""Group association: are two words in the same list?

From Minerva (Table 1). One item of four short lists:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/group_association", params={"lists": "4", "items": "12"}).text.splitlines():
...     print(fill(line, 110))
Context:
List 1: fissive, nickelize, protestantize
List 2: chauceriana, adipyl, redisseise
List 3: inflammably, heraldship, ultralenient
List 4: myal, lippiness, uncity
<BLANKLINE>
Instruction:
Are the words "heraldship" and "inflammably" in the same list? Reply with one line and nothing else, in this
form: FINAL ANSWER: <yes or no>

The lists are the facts.
"""

from collections.abc import Mapping
from dataclasses import field

from carrara.answers import YesNo
from carrara.generators import vocabulary
from carrara.task import Instance, Rng, Sweep
from carrara.tasks.minerva._lists import Needle, deal_words, share_line_name, write_lists
from carrara.tasks.minerva._task import MOST_ITEMS, WORDS, Label, Minerva, check_number
from carrara.types import ANSWER, UNSIZED, LengthBudget


class GroupAssociation(Minerva):
    version, title, capability = 5, "Group association", "checking whether two words share a list"
    category, paper_task = "compute on sets and lists", "group_association"
    answer, separator = YesNo(), "\n"
    ask = (
        'Are the words "{first}" and "{second}" in the same list?',
        'Check the lists in the context: do "{first}" and "{second}" belong to the same list?',
    )
    known_shortcuts = {
        "what is named stands in one piece": "Each list is a line, and whether two words share one is what is asked.",
        "what is named stands close by": "Where lists are short, words that share one stand close by.",
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    lists: Sweep[int] = Sweep(4, 8, 16, 32)
    """The number of lists, taken in turn."""
    gold: Sweep[Label] = Sweep("yes", "no")
    """The right answer, taken in turn: yes if the two are in the same list."""
    items: int = field(default=96, metadata=UNSIZED)
    """Words of all lists where no length is asked for, or as many as it takes."""

    def check(self) -> None:
        check_number("lists", self.lists, 2)
        check_number("items", self.items, 2, MOST_ITEMS)

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        draw, stream = vocabulary.draw_words(self.words, rng.key), rng.stream("place")
        first_place, other_place = stream.sample(range(self.lists), 2)
        places = (first_place, first_place if self.gold == "yes" else other_place)
        first, second = (Needle(draw(), place, stream.random()) for place in places)
        dealt = deal_words(budget, draw, self.items, self.lists, (first, second), f"lists={self.lists}")
        return Instance(
            facts=write_lists(dealt),
            gold=self.gold,
            names={"first": first.word, "second": second.word},
            evidence=sorted({*places}),
            labels={"lists": str(self.lists), ANSWER: self.gold},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        return "yes" if share_line_name(context, names["first"], names["second"]) else "no"
