"""Word search: is a word in the context?

From Minerva (Table 1, string search). One item without filler:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/word_search").text.splitlines():
...     print(fill(line, 110))
Context:
strepsiceros, disbutton, synoptic
<BLANKLINE>
Instruction:
Is the word "disbutton" one of the words in the context? Reply with one line and nothing else: FINAL ANSWER:
followed by yes or no.

The updates are the word, where it is there, and the filler are other words. Words that are not there come from the same
source as those that are: among gibberish, a real word would be told by its looks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from carrara.answers.naming import PRESENT, YesNo
from carrara.core.keys import Key
from carrara.core.types import Piece, Room, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import items_of, quoted
from carrara.tasks.minerva._minerva import YesOrNo
from carrara.tasks.minerva._params import Label, check_shares
from carrara.text import vocabulary
from carrara.text.turns import in_turn


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    depth: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    """How far into the context the word stands, taken in turn; absent words have a turn at each depth, too."""
    answer: tuple[Label, ...] = ("yes", "no")
    """Whether it is there, taken in turn."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_shares("depth", self.depth)
        check_phrasing(2, self.phrasing)


@dataclass(frozen=True)
class Sought:
    word: str
    there: bool
    last: str
    labels: Mapping[str, str]


class WordSearch(YesOrNo[Params, Sought]):
    version = 3
    title = "Word search"
    capability = "finding a word"
    category = "search"
    parameters = Params
    answers = YesNo(PRESENT)
    published_as = "string_search_word"
    inherent = {
        "strings": "Whether a word stands in the text is what is asked.",
        "learned": "Whether a word stands in the text is what is asked.",
        "part": "A word that is there stands in one of ten tenths, and where it is not there none tells of it.",
    }
    wording = wording(
        answers,
        'Is the word "{word}" one of the words in the context?',
        'Look through the words in the context and say whether "{word}" is present among them.',
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Sought]:
        depth, answer = in_turn(key, "cell", list(product(params.depth, params.answer)))
        word, first, last = ends = vocabulary.some(vocabulary.drawn(params.words, key), 3)
        there = answer == "yes"
        return World(
            structure=Sought(word, there, last, {"depth": f"{depth:g}"}),
            opening=(Piece(first),),
            updates=((Piece(word, update=0),),) if there else (),
            filler=vocabulary.filler(params.words, ends),
            depths=(depth,) if there else None,
        )

    def fields(self, hidden: Sought) -> Mapping[str, str]:
        return {"word": hidden.word}

    def gold(self, hidden: Sought) -> str:
        return "yes" if hidden.there else "no"

    def needs(self, world: World[Sought]) -> Sequence[int]:
        return range(len(world.updates))

    def closing(self, hidden: Sought) -> str:
        return f"{self.joint}{hidden.last}"

    def answer(self, context: str, asked: str) -> str:
        word = quoted(asked)[0]
        return "yes" if word in items_of(context) else "no"


task = WordSearch()
