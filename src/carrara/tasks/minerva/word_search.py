"""Word search: is a word in the context?

From Minerva (Table 1, string search). One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/word_search").text.splitlines():
...     print(fill(line, 110))
Context:
housemate, uncaptured, unsecreted
<BLANKLINE>
Instruction:
Is the word "uncaptured" one of the words in the context? Reply with one line and nothing else, in this form:
FINAL ANSWER: <yes or no>

The word is the fact where it is there, and other words are the filler. A word that is not there comes from the same
source as the others, so that its form does not give the answer away.
"""

from collections.abc import Mapping
from dataclasses import field

from carrara.answers import YesNo
from carrara.generators import vocabulary
from carrara.task import Instance, Rng, Sweep
from carrara.tasks.minerva._task import WORDS, Label, Minerva, check_share, split_items
from carrara.types import ANSWER


class WordSearch(Minerva):
    version, title, capability = 4, "Word search", "finding a word"
    category, paper_task = "search", "string_search_word"
    answer = YesNo()
    ask = (
        'Is the word "{word}" one of the words in the context?',
        'Look through the words in the context and say whether "{word}" is present among them.',
    )
    known_shortcuts = {
        "strings": "Whether a word stands in the text is what is asked.",
        "learned": "Whether a word stands in the text is what is asked.",
        "part": "A word that is there stands in one of ten tenths, and where it is not there none tells of it.",
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    depth: Sweep[float] = Sweep(0.0, 0.25, 0.5, 0.75, 1.0)
    """The depth of the word in the context, from 0 to 1, taken in turn. Absent words have a turn at each depth too."""
    gold: Sweep[Label] = Sweep("yes", "no")
    """The right answer, taken in turn: yes if the word is there."""

    def check(self) -> None:
        check_share("depth", self.depth)

    def generate(self, rng: Rng) -> Instance:
        word, first, last = drawn = vocabulary.some(vocabulary.draw_words(self.words, rng.key), 3)
        is_there = self.gold == "yes"
        return Instance(
            opening=first,
            facts=[word] if is_there else [],
            ending=self.separator + last,
            filler=vocabulary.filler(self.words, drawn),
            depths=(self.depth,) if is_there else None,
            gold=self.gold,
            names={"word": word},
            labels={"depth": f"{self.depth:g}", ANSWER: self.gold},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        return "yes" if names["word"] in split_items(context) else "no"
