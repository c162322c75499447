"""Compare positions: does a word come before another?

From Minerva (Table 1). One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/positions").text.splitlines():
...     print(fill(line, 110))
Context:
hairdressing, metabiology, tanjong, dearworthiness
<BLANKLINE>
Instruction:
Does the word "metabiology" come before the word "tanjong" in the context? Reply with one line and nothing
else, in this form: FINAL ANSWER: <yes or no>

The two words are the facts, and other words are the filler. Two words at one depth stand side by side, in either order.
"""

from collections.abc import Mapping
from dataclasses import field
from itertools import product

from carrara.answers import YesNo
from carrara.generators import vocabulary
from carrara.generators.round_robin import in_turn
from carrara.task import Instance, Rng
from carrara.tasks.minerva._task import WORDS, Minerva, check_share, split_items
from carrara.types import ANSWER, UndecidableError


class Positions(Minerva):
    version, title, capability = 5, "Compare positions", "comparing the positions of two words"
    category, paper_task = "match and compare", "compare_positions"
    answer = YesNo()
    ask = (
        'Does the word "{first}" come before the word "{second}" in the context?',
        'Compare the positions of two words in the context: does "{first}" occur earlier than "{second}"?',
    )
    known_shortcuts = {
        "what is named comes in that order": "Which word comes first is what is asked.",
        "what is named comes last in that order": "Which word comes first is what is asked.",
        "what is named stands close by": "Without filler the two words stand side by side, in their order.",
        "what is named stands side by side": "Without filler the two words stand side by side, in their order.",
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    first: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    """The depth of the word that is named first, from 0 to 1, taken in turn."""
    second: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    """The depth of the other word, taken in turn."""

    def check(self) -> None:
        for name, shares in {"first": self.first, "second": self.second}.items():
            if not shares:
                raise ValueError(f"{name} needs a value")
            for share in shares:
                check_share(name, share)

    def generate(self, rng: Rng) -> Instance:
        cells = list(product(self.first, self.second))
        cell = first_depth, second_depth = in_turn(rng.key, "depths", cells)
        # Words at one depth come in one order in a round of all cells, and in the other order in the next round.
        turn = cells.index(cell) + rng.key.index // len(cells)
        is_before = first_depth < second_depth or (first_depth == second_depth and turn % 2 == 0)
        first, second, start, last = drawn = vocabulary.some(vocabulary.draw_words(self.words, rng.key), 4)
        gold = "yes" if is_before else "no"
        return Instance(
            opening=start,
            facts=[first, second] if is_before else [second, first],
            ending=self.separator + last,
            filler=vocabulary.filler(self.words, drawn),
            depths=(min(cell), max(cell)),
            gold=gold,
            names={"first": first, "second": second},
            labels={"apart": f"{abs(first_depth - second_depth):g}", ANSWER: gold},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        items = split_items(context)
        try:
            return "yes" if items.index(names["first"]) < items.index(names["second"]) else "no"
        except ValueError:
            raise UndecidableError("one of the words is not there") from None
