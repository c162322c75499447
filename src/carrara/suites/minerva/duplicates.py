"""Find duplicates: which word comes more than once?

From Minerva (Table 1). One item without filler:

>>> from textwrap import fill
>>> from carrara.items import make
>>> for line in make("minerva/duplicates", params={"times": "3"}).text.splitlines():
...     print(fill(line, 110))
Context:
palkee, nondropsical, nondropsical, nondropsical, dermatoglyphics
<BLANKLINE>
Instruction:
One word comes more than once in the context, and every other word once. Which word comes more than once?
Reply with that word and nothing else.

The updates are the word, as often as it comes, and the filler are other words, each once.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from carrara import vocabulary
from carrara.keys import Key
from carrara.parts.answers import Word
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import items_of
from carrara.suites.minerva._minerva import Minerva
from carrara.suites.minerva._params import check_numbers
from carrara.turns import in_turn
from carrara.types import Piece, Room, Undecidable, World


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    times: tuple[int, ...] = (2, 4, 8, 16, 32)
    """How often the word comes, taken in turn."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("times", self.times, 2)
        check_phrasing(2, self.phrasing)


@dataclass(frozen=True)
class Repeated:
    word: str
    times: int
    last: str
    labels: Mapping[str, str]


class Duplicates(Minerva[Params, Repeated, str]):
    version = 1
    title = "Find duplicates"
    capability = "noticing a word that comes again"
    parameters = Params
    answers = Word()
    published_as = "find_duplicates"
    wording = wording(
        answers,
        "One word comes more than once in the context, and every other word once. Which word comes more than once?",
        "Exactly one of the words in the context is repeated. Find out which.",
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Repeated]:
        times = in_turn(key, "times", params.times)
        word, first, last = drawn = vocabulary.some(vocabulary.supply(params.words, key.dice("words")), 3)
        return World(
            structure=Repeated(word, times, last, {"times": str(times)}),
            opening=(Piece(first),),
            updates=tuple((Piece(word, update=n),) for n in range(times)),
            filler=vocabulary.filler(params.words, drawn),
        )

    def fields(self, hidden: Repeated) -> Mapping[str, str]:
        return {}

    def gold(self, hidden: Repeated) -> str:
        return hidden.word

    def needs(self, world: World[Repeated]) -> Sequence[int]:
        return (0, 1) if world.structure.times == 2 else ()

    def closing(self, hidden: Repeated) -> str:
        return f"{self.joint}{hidden.last}"

    def answer(self, context: str, asked: str) -> str:
        again = {item for item, times in Counter(items_of(context)).items() if times > 1}
        if len(again) != 1:
            raise Undecidable(f"{len(again)} words come more than once")
        return again.pop()


task = Duplicates()
