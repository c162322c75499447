"""Check association: do two words have the same attribute?

From Minerva (Table 1). One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/association").text.splitlines():
...     print(fill(line, 110))
Context:
choosable: ATT_12, spume: ATT_20, utu: ATT_17, minny: ATT_17
<BLANKLINE>
Instruction:
Every word in the context is followed by its attribute. Do the words "utu" and "spume" have the same
attribute? Reply with one line and nothing else, in this form: FINAL ANSWER: <yes or no>

The two words with their attributes are the facts, and other words with theirs are the filler.
"""

from collections.abc import Mapping
from dataclasses import field

from carrara.answers import YesNo
from carrara.generators import vocabulary
from carrara.task import Instance, Rng, Sweep
from carrara.tasks.minerva._lists import read_pairs, write_pair
from carrara.tasks.minerva._task import WORDS, Label, Minerva, check_number
from carrara.types import ANSWER, UndecidableError


class Association(Minerva):
    version, title, capability = 4, "Check association", "comparing the tags of two words"
    category, paper_task = "match and compare", "check_association"
    answer = YesNo()
    marker = r"(?P<subject>\S+): (?P<value>\S+)"
    ask = (
        'Every word in the context is followed by its attribute. Do the words "{first}" and "{second}" have the same '
        "attribute?",
        'The context assigns an attribute to each word, as in "word: ATT_N". Is the attribute of "{first}" also '
        'that of "{second}"?',
    )
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    attributes: Sweep[int] = Sweep(2, 4, 8, 16, 32)
    """The number of attributes, taken in turn."""
    gold: Sweep[Label] = Sweep("yes", "no")
    """The right answer, taken in turn: yes if the two have the same attribute."""

    def check(self) -> None:
        check_number("attributes", self.attributes, 2)

    def generate(self, rng: Rng) -> Instance:
        attributes = self.attributes

        def tag(word: str, stream: Rng) -> str:
            return write_pair(word, f"ATT_{stream.between(1, attributes)}")

        stream = rng.stream("attributes")
        attribute, other_attribute = stream.sample(range(1, attributes + 1), 2)
        first, second, start, last = drawn = vocabulary.some(vocabulary.draw_words(self.words, rng.key), 4)
        tagged = {first: attribute, second: attribute if self.gold == "yes" else other_attribute}
        opening, ending = tag(start, stream), tag(last, stream)
        return Instance(
            opening=opening,
            facts=[write_pair(word, f"ATT_{tagged[word]}") for word in stream.shuffled([first, second])],
            ending=self.separator + ending,
            filler=vocabulary.filler(self.words, drawn, tag),
            gold=self.gold,
            names={"first": first, "second": second},
            labels={"attributes": str(attributes), ANSWER: self.gold},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        attributes, first, second = read_pairs(context), names["first"], names["second"]
        if first not in attributes or second not in attributes:
            raise UndecidableError("one of the words is not there")
        return "yes" if attributes[first] == attributes[second] else "no"
