"""Count: how often does a word come?

From Minerva (Table 1). One item without filler:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/count", params={"times": "3"}).text.splitlines():
...     print(fill(line, 110))
Context:
rebrand, springful, springful, springful, anopla
<BLANKLINE>
Instruction:
How many times does the word "springful" occur in the context? Reply with one line and nothing else: FINAL
ANSWER: followed by that number.

The updates are the word, as often as it comes, and the filler are other words, each once.
"""

from collections.abc import Mapping, Sequence

from carrara.answers.kinds import Number
from carrara.core.keys import Dice, Key
from carrara.core.types import ANSWER, Question, Room, World
from carrara.parts.asking import wording
from carrara.parts.layout import items_of, quoted
from carrara.suites.minerva._minerva import Minerva
from carrara.suites.minerva._repeats import Params, Repeated, repeated


class Count(Minerva[Params, Repeated, int]):
    version = 3
    title = "Count"
    capability = "counting a word"
    category = "match and compare"
    parameters = Params
    answers = Number()
    published_as = "count"
    inherent = {
        "how often what is named is said": "How often it is said is what is asked.",
        "how many pieces say what is named": "Every word is a piece, so that this is what is asked.",
    }
    wording = wording(
        answers,
        'How many times does the word "{word}" occur in the context?',
        'Go through the context and count how often the word "{word}" stands there. What is the total?',
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Repeated]:
        return repeated(key, params, told=False)

    def fields(self, hidden: Repeated) -> Mapping[str, str]:
        return {"word": hidden.word}

    def gold(self, hidden: Repeated) -> int:
        return hidden.times

    def needs(self, world: World[Repeated]) -> Sequence[int]:
        return range(len(world.updates))

    def chance_level(self, hidden: Repeated, gold: int) -> float:
        return 1 / len(hidden.chances)

    def closing(self, hidden: Repeated) -> str:
        return f"{self.joint}{hidden.last}"

    def shown_answer(self, hidden: Repeated, gold: int) -> Mapping[str, str]:
        return {ANSWER: str(gold)}

    def guess(self, dice: Dice, world: World[Repeated], question: Question[int]) -> int:
        return dice.choice(world.structure.chances)

    def answer(self, context: str, asked: str) -> int:
        word = quoted(asked)[0]
        return items_of(context).count(word)


task = Count()
