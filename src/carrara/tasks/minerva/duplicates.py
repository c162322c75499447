"""Find duplicates: which word comes more than once?

From Minerva (Table 1). One item without filler:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/duplicates", params={"times": "3"}).text.splitlines():
...     print(fill(line, 110))
Context:
paillasse, contaminative, contaminative, contaminative, stalagma
<BLANKLINE>
Instruction:
One word comes more than once in the context, and every other word once. Which word comes more than once?
Reply with one line and nothing else: FINAL ANSWER: followed by that word.

The updates are the word, as often as it comes, and the filler are other words, each once.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrara.answers.kinds import Word
from carrara.core.keys import Key
from carrara.core.types import Room, Undecidable, World
from carrara.parts.asking import wording
from carrara.parts.layout import items_of
from carrara.tasks.minerva._minerva import Minerva
from carrara.tasks.minerva._params import check_numbers
from carrara.tasks.minerva._repeats import Params, Repeated, repeated


@dataclass(frozen=True)
class Twice(Params):
    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers("times", self.times, 2)


class Duplicates(Minerva[Twice, Repeated, str]):
    version = 3
    title = "Find duplicates"
    capability = "noticing a word that comes again"
    category = "match and compare"
    parameters = Twice
    answers = Word()
    published_as = "find_duplicates"
    inherent = {
        "strings": "Which word is said oftenest, and more than once, is what is asked.",
        "learned": "Which word is said oftenest is what is asked.",
        "part": "A word that comes often comes twice within a tenth.",
    }
    wording = wording(
        answers,
        "One word comes more than once in the context, and every other word once. Which word comes more than once?",
        "Exactly one of the words in the context is repeated. Find out which.",
    )

    def world(self, key: Key, params: Twice, room: Room | None) -> World[Repeated]:
        return repeated(key, params, told=True)

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
