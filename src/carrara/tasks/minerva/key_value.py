"""Key-value search: which word is paired with a word?

From Minerva (Table 1). One item without filler:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/key_value").text.splitlines():
...     print(fill(line, 110))
Context:
sandhi: infinitesimal, propione: hemikaryotic, admonisher: carapax
<BLANKLINE>
Instruction:
The context is a list of pairs of words, written "word: partner". Which word is the partner of "propione"?
Reply with one line and nothing else: FINAL ANSWER: followed by that word.

The update is the pair, the filler are other pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from carrara.answers.kinds import Word
from carrara.core.keys import Key
from carrara.core.types import Piece, Room, Undecidable, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import pair, pairs_of, quoted
from carrara.tasks.minerva._minerva import Minerva
from carrara.tasks.minerva._pairs import other_pairs
from carrara.tasks.minerva._params import check_shares
from carrara.text import vocabulary
from carrara.text.turns import in_turn


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    depth: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    """How far into the context the pair stands, taken in turn."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_shares("depth", self.depth)
        check_phrasing(2, self.phrasing)


@dataclass(frozen=True)
class Paired:
    key: str
    value: str
    last: str
    labels: Mapping[str, str]


class KeyValue(Minerva[Params, Paired, str]):
    version = 3
    title = "Key-value search"
    capability = "looking up a pair"
    category = "search"
    parameters = Params
    answers = Word()
    published_as = "key_value_search"
    inherent = {
        "strings": "The partner stands beside a word that is named: finding it is what is asked.",
        "learned": "The partner stands beside a word that is named: finding it is what is asked.",
        "part": "Pairs stand at one of five depths, one of which is the first tenth, and another the last.",
    }
    wording = wording(
        answers,
        'The context is a list of pairs of words, written "word: partner". Which word is the partner of "{key}"?',
        "Each entry of the context has a first word and, behind a colon, a second word. Which second word goes with "
        'the first word "{key}"?',
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Paired]:
        depth = in_turn(key, "depth", params.depth)
        word, value, *ends = drawn = vocabulary.some(vocabulary.drawn(params.words, key), 6)
        return World(
            structure=Paired(word, value, pair(*ends[2:]), {"depth": f"{depth:g}"}),
            opening=(Piece(pair(*ends[:2])),),
            updates=((Piece(pair(word, value), update=0),),),
            filler=other_pairs(params.words, drawn),
            depths=(depth,),
        )

    def fields(self, hidden: Paired) -> Mapping[str, str]:
        return {"key": hidden.key}

    def gold(self, hidden: Paired) -> str:
        return hidden.value

    def needs(self, world: World[Paired]) -> Sequence[int]:
        return (0,)

    def closing(self, hidden: Paired) -> str:
        return f"{self.joint}{hidden.last}"

    def answer(self, context: str, asked: str) -> str:
        key = quoted(asked)[-1]
        try:
            return pairs_of(context)[key]
        except KeyError:
            raise Undecidable(f"no pair has the word {key}") from None


task = KeyValue()
