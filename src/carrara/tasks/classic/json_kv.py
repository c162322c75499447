"""JSON KV: the value of one key of a long JSON object of random UUIDs.

From *Lost in the middle* (arXiv:2307.03172), section 3, as HELMET (arXiv:2410.02694) runs it. One item without filler:

>>> from carrara.prompt.items import make
>>> print(make("classic/json_kv").text.replace("? ", "?\\n"))
Below is a JSON object. Look up one of its keys.
<BLANKLINE>
{
"ff30f912-d275-493f-b12c-0573d3a3835d": "245b56cd-5ea4-4965-ae6f-2c7a090dacb5",
"16de0d6f-8f49-459a-a894-6e50e8aaae6a": "d7ece2c4-ad86-4a49-b65e-f5066426af76"
}
<BLANKLINE>
What is the value of the key "ff30f912-d275-493f-b12c-0573d3a3835d"?
Reply with one line and nothing else: FINAL ANSWER: followed by that value.

The hidden structure is the object, the update is the pair that is asked for, the filler are other pairs. One more pair,
which is never asked for, closes the object.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from carrara.answers.contract import FINAL, asks_for
from carrara.core.keys import Dice, Key
from carrara.core.types import (
    PRESENTS,
    Filler,
    Frame,
    Message,
    Piece,
    Question,
    Room,
    Style,
    Tap,
    Undecidable,
    World,
)
from carrara.parts.answered import Answered
from carrara.tasks.classic import _published, _turns
from carrara.tasks.classic._answers import Value
from carrara.tasks.classic._values import CODE

_PAIR = re.compile(rf'"({CODE.pattern.pattern})": "({CODE.pattern.pattern})"')
_ASKED = re.compile(rf'\bvalue of the key "({CODE.pattern.pattern})"')


@dataclass(frozen=True)
class Params:
    depth: str = field(default=_turns.DRAWN, metadata={**PRESENTS, "reads": _turns.written})
    """The pair stands anywhere, or at one of these depths, which are taken in turn; 0,0.2,0.4,0.6,0.8,1 are six."""

    def __post_init__(self) -> None:
        _turns.depths(self.depth)


@dataclass(frozen=True)
class Pairs:
    """The hidden structure: the pair that is asked for and the one at the end."""

    key: str
    value: str
    last_key: str
    last_value: str


class JsonKv(Answered[Params, Pairs, str]):
    version = 2
    title = "JSON KV"
    capability = "looking up a key in a long table"
    parameters = Params
    inherent = {
        "strings": "The value stands beside the key that is named: finding it is what is asked.",
        "learned": "The value stands beside the key that is named: finding it is what is asked.",
    }
    answers = Value(CODE)
    wording = {
        "instruction": "Below is a JSON object. Look up one of its keys.\n\n",
        "question": f"\n\n{{ask}} {asks_for('that value')}",
        "answer": f"\n{FINAL}",
    }

    def world(self, key: Key, params: Params, room: Room | None) -> World[Pairs]:
        pairs = Pairs(*CODE.distinct(key.dice("pairs"), 4))
        return World(
            structure=pairs,
            opening=(Piece("{"),),
            updates=((Piece(f"{_pair(pairs.key, pairs.value)},", update=0),),),
            filler=_others(pairs),
            depths=_turns.places(key, params.depth, 1),
        )

    def questions(self, world: World[Pairs], key: Key, params: Params) -> Sequence[Question[str]]:
        pairs = world.structure
        return [
            Question(
                ask=f'What is the value of the key "{pairs.key}"?',
                gold=pairs.value,
                needs=(0,),
                chance_level=self.answers.chance_level(pairs.value),
                labels=_turns.label(key, params.depth),
                budget=self.answers.budget(pairs.value),
            )
        ]

    def frame(self, world: World[Pairs], question: Question[str], wording: Mapping[str, str], style: Style) -> Frame:
        last = _pair(world.structure.last_key, world.structure.last_value)
        ask = wording["question"].format(ask=question.ask)
        return Frame(
            before=wording["instruction"],
            after=f"\n{last}\n}}{ask}" + (wording["answer"] if style == "base" else ""),
            closing=len(f"\n{last}\n}}"),
            joint="\n",
            stop=("\n",),
        )

    def solve(self, messages: Sequence[Message]) -> str:
        asked = _ASKED.findall(messages[-1].content)
        pairs = dict(_PAIR.findall(messages[-1].content))
        if not asked or asked[-1] not in pairs:
            raise Undecidable("no pair has the key that is asked for")
        return str(pairs[asked[-1]])

    def published(self, reply: str, question: Question[str]) -> Mapping[str, float]:
        return {"helmet": _published.exact(reply, question.gold)}


def _pair(key: str, value: str) -> str:
    return f'"{key}": "{value}"'


def _others(pairs: Pairs) -> Filler:
    taken = (pairs.key, pairs.value, pairs.last_key, pairs.last_value)

    def open_tap(dice: Dice, tokenizer: str) -> Tap:
        return lambda gap: (Piece(f"{_pair(*CODE.distinct(dice, 2, taken))},"),)

    return open_tap


task = JsonKv()
