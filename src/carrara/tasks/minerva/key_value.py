"""Key-value search: which word is paired with a word?

From Minerva (Table 1). One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/key_value").text.splitlines():
...     print(fill(line, 110))
Context:
iguanian: cebidae, electrobiology: stethographic, noachical: dinoflagellate
<BLANKLINE>
Instruction:
The context is a list of pairs of words, written "word: partner". Which word is the partner of
"electrobiology"? Reply with one line and nothing else, in this form: FINAL ANSWER: <that word>

The pair that is asked for is the fact, and other pairs are the filler.
"""

from collections.abc import Mapping
from dataclasses import field

from carrara.answers import Word
from carrara.generators import vocabulary
from carrara.task import Instance, Rng, Sweep
from carrara.tasks.minerva._lists import pair_filler, read_pairs, write_pair
from carrara.tasks.minerva._task import WORDS, Minerva, check_share
from carrara.types import UndecidableError


class KeyValue(Minerva):
    version, title, capability = 5, "Key-value search", "looking up a pair"
    category, paper_task = "search", "key_value_search"
    answer = Word()
    marker = r"(?P<subject>\S+): (?P<value>\S+)"
    ask = (
        'The context is a list of pairs of words, written "word: partner". Which word is the partner of "{key}"?',
        "Each entry in the context has a first word and, after a colon, a second word. Which second word goes with "
        'the first word "{key}"?',
    )
    known_shortcuts = {
        "strings": "The partner stands beside a word that is named: finding it is what is asked.",
        "learned": "The partner stands beside a word that is named: finding it is what is asked.",
        "part": "Pairs stand at one of five depths, one of which is the first tenth, and another the last.",
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    depth: Sweep[float] = Sweep(0.0, 0.25, 0.5, 0.75, 1.0)
    """The depth of the pair in the context, from 0 to 1, taken in turn."""

    def check(self) -> None:
        check_share("depth", self.depth)

    def generate(self, rng: Rng) -> Instance:
        key, value, *others = drawn = vocabulary.some(vocabulary.draw_words(self.words, rng.key), 6)
        return Instance(
            opening=write_pair(*others[:2]),
            facts=[write_pair(key, value)],
            ending=self.separator + write_pair(*others[2:]),
            filler=pair_filler(self.words, drawn),
            depths=(self.depth,),
            gold=value,
            names={"key": key},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        try:
            return read_pairs(context)[names["key"]]
        except KeyError:
            raise UndecidableError(f"no pair has the word {names['key']}") from None
