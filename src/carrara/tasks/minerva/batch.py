"""Batch search: which words are paired with each of several words?

From Minerva (Table 1). One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/batch").text.splitlines():
...     print(fill(line, 110))
Context:
fooldom: thyrolingual, quemely: david, supposedly: synchronizable, slath: compression, vertebroarterial:
bradenhead, insatisfaction: quiescency, unpantheistic: naphthoresorcinol, lateroventral: laudanosine, penship:
brieflessly, carousingly: antimarian, leptomeninx: passingly, scatterer: cataleptiform, protoporphyrin:
inhumanely, daughterlike: delimitation, overfond: unmutation, trijugate: hypermetamorphotic, araneiformes:
preinsulation, phytogeography: resnap, hydromania: mandilion, pressurage: sapling, nonoxidating: chemiotactic,
homoeomerous: voracity, foreright: galera, playfulness: armlet, halibiu: shinarump, zincide: rennet, matehood:
cojudge, zebrinny: heterodera, nontaxable: preveto, proreferendum: splenodynia, uretic: demisacrilege,
nonsister: invincibleness, finiteness: morpheus, concave: wrungness
<BLANKLINE>
Instruction:
The context is a list of pairs of words, written "word: partner". What are the partners of these words, in the
order given here: "quemely, supposedly, slath, vertebroarterial, insatisfaction, unpantheistic, lateroventral,
penship, carousingly, leptomeninx, scatterer, protoporphyrin, daughterlike, overfond, trijugate, araneiformes,
phytogeography, hydromania, pressurage, nonoxidating, homoeomerous, foreright, playfulness, halibiu, zincide,
matehood, zebrinny, nontaxable, proreferendum, uretic, nonsister, finiteness"? Reply with one line and nothing
else, in this form: FINAL ANSWER: <the words that you find, in that order, separated by commas>

The pairs that are asked for are the facts, evenly through the context, and other pairs are the filler.
"""

from collections.abc import Mapping
from dataclasses import field

from carrara.answers import Listing, Words, asks_for
from carrara.generators import vocabulary
from carrara.task import Instance, Rng, Sweep
from carrara.tasks.minerva._lists import pair_filler, read_pairs, write_pair
from carrara.tasks.minerva._task import WORDS, Minerva, check_number, split_items
from carrara.types import UndecidableError


class Batch(Minerva):
    version, title, capability = 5, "Batch search", "looking up many pairs at once"
    category, paper_task = "search", "batch_key_value_search"
    answer = Listing()
    marker = r"(?P<subject>\S+): (?P<value>\S+)"
    ask = (
        'The context is a list of pairs of words, written "word: partner". What are the partners of these words, in '
        'the order given here: "{keys}"?',
        "Each entry in the context has a first word and, after a colon, a second word. Look up the second word for "
        'each of the following first words, in the order given here: "{keys}".',
    )
    known_shortcuts = {
        "strings": "The partners stand beside words that are named: finding them is what is asked.",
        "learned": "The partners stand beside words that are named: finding them is what is asked.",
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    size: Sweep[int] = Sweep(4, 8, 16, 32)
    """Words that are looked up at once, taken in turn."""

    @classmethod
    def make_wording(cls) -> Mapping[str, str]:
        return {
            **super().make_wording(),
            "rule": asks_for("the words that you find, in that order, separated by commas"),
        }

    def check(self) -> None:
        check_number("size", self.size, 2)

    def generate(self, rng: Rng) -> Instance:
        drawn = vocabulary.some(vocabulary.draw_words(self.words, rng.key), 4 + 2 * self.size)
        ends, keys, values = drawn[:4], tuple(drawn[4 : 4 + self.size]), tuple(drawn[4 + self.size :])
        return Instance(
            opening=write_pair(*ends[:2]),
            facts=[write_pair(key, value) for key, value in zip(keys, values, strict=True)],
            ending=self.separator + write_pair(*ends[2:]),
            filler=pair_filler(self.words, drawn),
            depths=tuple(n / (self.size - 1) for n in range(self.size)),
            gold=Words(values, {"the words asked for": keys}),
            names={"keys": ", ".join(keys)},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> Words:
        pairs = read_pairs(context)
        try:
            return Words(tuple(pairs[key] for key in split_items(names["keys"])))
        except KeyError as error:
            raise UndecidableError(f"no pair has the word {error}") from None
