"""Find duplicates: which word comes more than once?

From Minerva (Table 1). One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/duplicates", params={"times": "3"}).text.splitlines():
...     print(fill(line, 110))
Context:
hecatontome, feronia, feronia, feronia, unstippled
<BLANKLINE>
Instruction:
One word occurs more than once in the context, and every other word only once. Which word occurs more than
once? Reply with one line and nothing else, in this form: FINAL ANSWER: <that word>

The repeated word is a fact each time that it comes, and other words, each once, are the filler.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import field

from carrara.answers import Word
from carrara.generators import vocabulary
from carrara.task import Instance, Rng, Sweep
from carrara.tasks.minerva._task import WORDS, Minerva, check_number, split_items
from carrara.types import UndecidableError


class Duplicates(Minerva):
    version, title, capability = 5, "Find duplicates", "detecting a repeated word"
    category, paper_task = "match and compare", "find_duplicates"
    answer = Word()
    evidence_decides = False
    ask = (
        "One word occurs more than once in the context, and every other word only once. Which word occurs more than "
        "once?",
        "Exactly one of the words in the context is repeated. Find out which.",
    )
    known_shortcuts = {
        "strings": "Which word is said oftenest, and more than once, is what is asked.",
        "learned": "Which word is said oftenest is what is asked.",
        "part": "A word that comes often comes twice within a tenth.",
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    times: Sweep[int] = Sweep(2, 4, 8, 16, 32)
    """The number of times that the word occurs, taken in turn."""

    def check(self) -> None:
        check_number("times", self.times, 2)

    def generate(self, rng: Rng) -> Instance:
        word, first, last = drawn = vocabulary.some(vocabulary.draw_words(self.words, rng.key), 3)
        return Instance(
            opening=first,
            facts=[word] * self.times,
            ending=self.separator + last,
            filler=vocabulary.filler(self.words, drawn),
            gold=word,
            evidence=(0, 1) if self.times == 2 else (),  # of three or more, none is needed
        )

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        repeated = [item for item, times in Counter(split_items(context)).items() if times > 1]
        if len(repeated) != 1:
            raise UndecidableError(f"{len(repeated)} words come more than once")
        return repeated[0]
