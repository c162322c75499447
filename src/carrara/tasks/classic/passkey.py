"""Passkey: a number of five digits among sentences that repeat.

From *Landmark attention* (arXiv:2305.16300), and many after it. One item without filler:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("classic/passkey").text.split("\\n"):
...     print(fill(line, 110))
Somewhere in the text below a pass key is given away. Remember it; the rest is of no use.
<BLANKLINE>
<text> Note this down: today's pass key is 26204. </text>
<BLANKLINE>
What is today's pass key? Reply with one line and nothing else: FINAL ANSWER: followed by that number.

The hidden structure is the number, and the update the one sentence that says it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from carrara.answers.contract import asks_for
from carrara.core.keys import Key
from carrara.core.types import PRESENTS, Piece, Question, Room, Undecidable, World
from carrara.tasks.classic import _haystacks, _turns
from carrara.tasks.classic._answers import SPARE, Value
from carrara.tasks.classic._classic import Classic, wording
from carrara.tasks.classic._values import number

PASSKEY = number(5)

_SAID = re.compile(r"\btoday's pass key is ([0-9]{5})\.")


@dataclass(frozen=True)
class Params:
    haystack: str = field(default="noise", metadata=_haystacks.named())
    """`noise` (the same sentences over and over), or a corpus."""
    depth: str = field(default=_turns.DRAWN, metadata={**PRESENTS, "reads": _turns.written})
    """The pass key stands anywhere, or at one of these depths, which are taken in turn."""

    def __post_init__(self) -> None:
        _haystacks.check(self.haystack)
        _turns.depths(self.depth)


class Passkey(Classic[Params, str, str]):
    version = 2
    title = "Passkey"
    capability = "finding a number in a monotonous text"
    parameters = Params
    inherent = {
        "strings": "The pass key is the only number in the text, as in the published test.",
        "learned": "The pass key is the only number in the text, as in the published test.",
    }
    answers = Value(PASSKEY)
    asked = re.compile(r"\bpass key\b")
    wording = wording(
        "Somewhere in the text below a pass key is given away. Remember it; the rest is of no use.",
        one=asks_for("that number"),
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[str]:
        passkey = PASSKEY.draw(key.dice("pass key"))
        return World(
            structure=passkey,
            updates=((Piece(f"Note this down: today's pass key is {passkey}.", update=0),),),
            filler=_haystacks.filler(params.haystack, key),
            depths=_turns.places(key, params.depth, 1),
        )

    def questions(self, world: World[str], key: Key, params: Params) -> Sequence[Question[str]]:
        return [
            Question(
                ask="What is today's pass key?",
                gold=world.structure,
                needs=(0,),
                chance_level=self.answers.chance_level(world.structure),
                labels=_turns.label(key, params.depth),
                budget=SPARE,
            )
        ]

    def part(self, question: Question[str]) -> str:
        return "one"

    def answer(self, text: str, asked: str) -> str:
        said = set(_SAID.findall(text))
        if len(said) != 1:
            raise Undecidable(f"the text tells {len(said)} pass keys")
        return str(said.pop())


task = Passkey()
