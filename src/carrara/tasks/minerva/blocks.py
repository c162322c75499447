"""Processing data blocks: all words of a role behind one of its words, where roles take turns.

From Minerva (Table 1, composite). One item of two roles in two turns:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/blocks", params={"roles": "2", "turns": "2", "items": "10"}).text.splitlines():
...     print(fill(line, 110))
Context:
Role 1: stonecrop, xyletic
Role 2: quadrantal, protuberate, boltmaker
Role 1: crypturi, umbra
Role 2: bename, paracephalus, archidiskodon
<BLANKLINE>
Instruction:
In the context, roles take turns, each with some words. Which words of Role 1 come after its word "stonecrop",
in that line and in all its later ones? Reply with one line and nothing else: FINAL ANSWER: followed by those
words in that order, separated by commas.

The lines are the updates. Something always follows the word.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from carrara.answers.listing import Rows, Words
from carrara.core.keys import Key
from carrara.core.types import UNSIZED, Question, Room, Undecidable, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import lines_of, quoted
from carrara.tasks.minerva._lists import Needle
from carrara.tasks.minerva._minerva import Minerva
from carrara.tasks.minerva._params import MOST_ITEMS, check_numbers
from carrara.tasks.minerva._roles import Roles, lines, world_of
from carrara.text import vocabulary
from carrara.text.turns import in_turn

_ROLE = re.compile(r"\bRole [0-9]+\b")


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    roles: tuple[int, ...] = (2, 4, 8, 16, 32)
    """How many roles there are, taken in turn."""
    turns: int = 10
    """Lines of each role."""
    items: int = field(default=400, metadata=UNSIZED)
    """Words of all lines where no length is asked for, or as many as it takes."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("roles", self.roles, 2)
        check_numbers("turns", (self.turns,), 2)
        check_numbers("items", (self.items,), 2, MOST_ITEMS)
        check_phrasing(2, self.phrasing)


class Blocks(Minerva[Params, Roles, Words]):
    version = 3
    title = "Processing data blocks"
    capability = "following one of many interleaved lists"
    category = "composite"
    parameters = Params
    sized = True
    answers = Rows()
    joint = "\n"
    published_as = "processing_data_blocks"
    inherent = {
        "the last long piece with most words of the question": "The rest of the line of the word is in the answer.",
        "every word of the role": "Half of them, on average, are the answer.",
        "the pieces that say what is named": "The rest of the line that the word stands in is part of the answer.",
        "part": "A tenth of the context tells a tenth of the answer.",
    }
    wording = wording(
        answers,
        'In the context, roles take turns, each with some words. Which words of {role} come after its word "{word}", '
        "in that line and in all its later ones?",
        'The context gives words to roles that alternate. Collect the words of {role} from behind "{word}" to the end '
        "of the context.",
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Roles]:
        roles = in_turn(key, "roles", params.roles)
        draw = vocabulary.drawn(params.words, key)
        dice = key.dice("place")
        own, turn = dice.below(roles), dice.below(params.turns)
        line = turn * roles + own
        needle = Needle(draw(), line, dice.random())
        needles = [needle]
        if turn == params.turns - 1:  # in its last line something comes after it
            needle = Needle(needle.word, line, 0.0)
            needles = [needle, Needle(draw(), line, 1.0)]
        found = lines(room, draw, params.items, roles, params.turns, needles)
        return world_of(Roles(found, roles, (needle,), f"Role {own + 1}", {"roles": str(roles)}))

    def fields(self, hidden: Roles) -> Mapping[str, str]:
        return {"role": hidden.answer, "word": hidden.asked[0].word}

    def gold(self, hidden: Roles) -> Words:
        [needle] = hidden.asked
        own = [hidden.lines[n] for n in range(needle.list % hidden.roles, len(hidden.lines), hidden.roles)]
        words = tuple(word for line in own for word in line)
        return Words(
            words[words.index(needle.word) + 1 :], {"every word": tuple(word for line in hidden.lines for word in line)}
        )

    def needs(self, world: World[Roles]) -> Sequence[int]:
        hidden = world.structure
        [needle] = hidden.asked
        first = needle.list
        return range(first, len(hidden.lines), hidden.roles)

    def tricks(self, world: World[Roles], question: Question[Words]) -> Mapping[str, str]:
        hidden = world.structure
        own = [hidden.lines[n] for n in range(hidden.asked[0].list % hidden.roles, len(hidden.lines), hidden.roles)]
        return {"every word of the role": self.write(Words(tuple(word for line in own for word in line)))}

    def answer(self, context: str, asked: str) -> Words:
        own = _role_of(asked)
        word = next(word for word in quoted(asked) if word != own)
        words = [word for role, line in lines_of(context) if role == own for word in line]
        if word not in words:
            raise Undecidable(f"{own} does not have the word {word}")
        return Words(tuple(words[words.index(word) + 1 :]))


def _role_of(asked: str) -> str:
    found = _ROLE.search(asked)
    if not found:
        raise Undecidable("the question names no role")
    return found[0]


task = Blocks()
