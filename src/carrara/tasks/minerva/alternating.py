"""Alternating group association: are two words of the same role, where roles take turns?

From Minerva (Table 10). One item of two roles in two turns:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/alternating", params={"roles": "2", "turns": "2", "items": "10"}).text.splitlines():
...     print(fill(line, 110))
Context:
Role 1: intercollege, israeli
Role 2: radiotechnology, elevener, amphibologically
Role 1: offcut, rompu
Role 2: anthropoid, overprove, forbearantly
<BLANKLINE>
Instruction:
In the context, roles take turns, each with some words of its own. Do the words "radiotechnology" and
"overprove" belong to the same role? Reply with one line and nothing else, in this form: FINAL ANSWER: <yes or
no>

The lines are the facts. The two words are always in different lines.
"""

from collections.abc import Mapping
from dataclasses import field

from carrara.answers import YesNo
from carrara.generators import vocabulary
from carrara.task import Instance, Rng, Sweep
from carrara.tasks.minerva._lists import Needle, deal_words, share_line_name, write_roles
from carrara.tasks.minerva._task import MOST_ITEMS, WORDS, Label, Minerva, check_number
from carrara.types import ANSWER, UNSIZED, LengthBudget


class Alternating(Minerva):
    version, title, capability = 5, "Alternating group association", "attributing two words to their speakers"
    category, paper_task = "compute on sets and lists", "alternating_group_association"
    answer, separator = YesNo(), "\n"
    ask = (
        'In the context, roles take turns, each with some words of its own. Do the words "{first}" and "{second}" '
        "belong to the same role?",
        'The context assigns words to alternating roles. Check whether "{first}" and "{second}" belong to the same '
        "role.",
    )
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    roles: Sweep[int] = Sweep(2, 4, 8, 16, 32)
    """The number of roles, taken in turn."""
    turns: int = 10
    """Lines of each role."""
    gold: Sweep[Label] = Sweep("yes", "no")
    """The right answer, taken in turn: yes if the two are of the same role."""
    items: int = field(default=400, metadata=UNSIZED)
    """Words of all lines where no length is asked for, or as many as it takes."""

    def check(self) -> None:
        check_number("roles", self.roles, 2)
        check_number("turns", self.turns, 2)
        check_number("items", self.items, 2, MOST_ITEMS)

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        roles, draw, stream = self.roles, vocabulary.draw_words(self.words, rng.key), rng.stream("place")
        role, other_role = stream.sample(range(roles), 2)
        turns = stream.sample(range(self.turns), 2)
        places = [turns[0] * roles + role, turns[1] * roles + (role if self.gold == "yes" else other_role)]
        first, second = (Needle(draw(), place, stream.random()) for place in places)
        description = f"roles={roles} with turns={self.turns}"
        lines = deal_words(budget, draw, self.items, roles * self.turns, (first, second), description, least=1)
        return Instance(
            facts=write_roles(lines, roles),
            gold=self.gold,
            names={"first": first.word, "second": second.word},
            evidence=sorted(places),
            labels={"roles": str(roles), ANSWER: self.gold},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        return "yes" if share_line_name(context, names["first"], names["second"]) else "no"
