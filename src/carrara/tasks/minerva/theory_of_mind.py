"""Theory of mind: the words that each of several agents has, after drawing, discarding and swapping.

From Minerva (Table 1, composite). One item of two agents in four steps:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/theory_of_mind", params={"agents": "2", "size": "4", "steps": "4"}).text.splitlines():
...     print(fill(line, 110))
Context:
Agent A starts with: ventriculitic, redebit
Agent B starts with: precinctive
Agent A draws: hopscotch
Agent A draws: lecideiform
Agent B draws: lackeyed
Agent B draws: prosabbatical
<BLANKLINE>
Instruction:
The context tells, in order, which words the agents start with, draw, discard and swap. Which words does each
agent have in the end? End your reply with the line FINAL ANSWER: and, below it, a line for each agent, such
as:
FINAL ANSWER:
Agent A: word1, word2
Agent B: word3

The steps are the updates. No word is ever in two hands.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from carrara.answers.listing import FinalHands, Hands
from carrara.core.keys import Key
from carrara.core.types import UNSIZED, Question, Room, World
from carrara.parts import state
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import Told
from carrara.parts.state import Play
from carrara.tasks.minerva._minerva import Minerva
from carrara.tasks.minerva._params import MOST_ITEMS, check_numbers, labelled
from carrara.text import vocabulary
from carrara.text.turns import in_turn


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    agents: tuple[int, ...] = (2, 3, 4)
    """How many agents there are, taken in turn."""
    size: tuple[int, ...] = (10, 20)
    """The most words that one has at a time, taken in turn."""
    steps: tuple[int, ...] = field(default=(100,), metadata=UNSIZED)
    """Steps where no length is asked for, beside what each starts with; taken in turn."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("agents", self.agents, 2, 100)
        check_numbers("size", self.size, 3)
        check_numbers("steps", self.steps, 1, MOST_ITEMS)
        check_phrasing(2, self.phrasing)


@dataclass(frozen=True)
class Played:
    play: Play
    labels: Mapping[str, str]


class TheoryOfMind(Minerva[Params, Played, Hands]):
    version = 3
    title = "Theory of mind"
    capability = "keeping track of what each of many has"
    category = "composite"
    parameters = Params
    sized = True
    answers = FinalHands()
    joint = "\n"
    published_as = "theory_of_mind"
    inherent = {
        "as if nobody had swapped": "Many words stay with who drew them, as in the paper, and have their share."
    }
    wording = wording(
        answers,
        "The context tells, in order, which words the agents start with, draw, discard and swap. Which words does each "
        "agent have in the end?",
        "Follow the actions of all agents in the context from the first to the last, and list the words that each of "
        "them is left with.",
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Played]:
        agents, size, steps = in_turn(key, "cell", list(product(params.agents, params.size, params.steps)))
        draw = vocabulary.drawn(params.words, key)
        play = state.played(agents, size, key.dice("steps"), draw, steps, room)
        labels = {"agents": str(agents), "size": str(size), **labelled("steps", steps, params.steps)}
        return World(Played(play, labels), Told(play.lines))

    def fields(self, hidden: Played) -> Mapping[str, str]:
        return {}

    def gold(self, hidden: Played) -> Hands:
        return Hands(hidden.play.hands, hidden.play.words)

    def needs(self, world: World[Played]) -> Sequence[int]:
        return range(len(world.updates))

    def tricks(self, world: World[Played], question: Question[Hands]) -> Mapping[str, str]:
        """Whoever draws a word keeps it until somebody discards it, as if nobody had swapped any."""
        first: dict[str, str] = {}
        for found in filter(None, map(state.LINE.match, world.structure.play.lines)):
            for word in found["words"].split(", "):
                if found["verb"] == "discards":
                    first.pop(word, None)
                elif found["verb"] != "swaps":
                    first[word] = found["agent"]
        hands = [(name, tuple(word for word in first if first[word] == name)) for name, _ in question.gold.of]
        return {"as if nobody had swapped": self.write(Hands(tuple(hands)))}

    def answer(self, context: str, asked: str) -> Hands:
        return Hands(tuple((name, tuple(words)) for name, words in state.read(context).items()))


task = TheoryOfMind()
