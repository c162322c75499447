"""Count: how often does a word come?

From Minerva (Table 1). One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/count", params={"times": "3"}).text.splitlines():
...     print(fill(line, 110))
Context:
suprasensitive, liguliform, liguliform, liguliform, rowlandite
<BLANKLINE>
Instruction:
How many times does the word "liguliform" occur in the context? Reply with one line and nothing else, in this
form: FINAL ANSWER: <that number>
"""

from collections.abc import Mapping
from dataclasses import field

from carrara.answers import Number
from carrara.generators import vocabulary
from carrara.task import Instance, Rng, Sweep
from carrara.task.sweeps import sweep_values
from carrara.tasks.minerva._task import WORDS, Minerva, check_number, split_items
from carrara.types import ANSWER


class Count(Minerva):
    version, title, capability = 5, "Count", "counting a word"
    category, paper_task = "match and compare", "count"
    answer = Number()
    ask = (
        'How many times does the word "{word}" occur in the context?',
        'Go through the context and count how often the word "{word}" appears. What is the total?',
    )
    known_shortcuts = {
        "how often what is named is said": "How often it is said is what is asked.",
        "how many pieces say what is named": "Every word is a piece, so that this is what is asked.",
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    times: Sweep[int] = Sweep(2, 4, 8, 16, 32)
    """The number of times that the word occurs, taken in turn."""

    def check(self) -> None:
        check_number("times", self.times, 1)

    def generate(self, rng: Rng) -> Instance:
        word, first, last = drawn = vocabulary.some(vocabulary.draw_words(self.words, rng.key), 3)
        return Instance(
            opening=first,
            facts=[word] * self.times,
            ending=f"{self.separator}{last}",
            filler=vocabulary.filler(self.words, drawn),
            gold=self.times,
            names={"word": word},
            guesses=sweep_values(self, "times"),
            labels={ANSWER: str(self.times)},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> int:
        return split_items(context).count(names["word"])
