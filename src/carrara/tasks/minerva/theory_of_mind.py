"""Theory of mind: the words that each of several agents has, after drawing, discarding and swapping.

From Minerva (Table 1, composite). One item of two agents in four steps:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/theory_of_mind", params={"agents": "2", "size": "4", "steps": "4"}).text.splitlines():
...     print(fill(line, 110))
Context:
Agent A starts with: intrafascicular
Agent B starts with: cotquean
Agent B draws: subjacently, stepsister, computable
Agent B discards: stepsister
Agent A draws: stepsister, rudderlike, cindie
Agent A swaps: stepsister with Agent B for: cotquean
<BLANKLINE>
Instruction:
The context lists, in order, the words that the agents start with, draw, discard and swap. Which words does
each agent have at the end? End your reply with the line FINAL ANSWER: and, below it, a line for each agent,
such as:
FINAL ANSWER:
Agent A: word1, word2
Agent B: word3

The steps are the facts. No word is ever in two hands.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache, lru_cache
from typing import Any

from carrara.answers import FinalHands, Hands
from carrara.rng import Key
from carrara.task import Instance, Rng, Sweep
from carrara.tasks.minerva._state import LINE, Script, Step, Table, hands_after, read_hands
from carrara.tasks.minerva._task import MOST_ITEMS, WORDS, Minerva, check_number
from carrara.types import UNSIZED, LengthBudget, Question


class TheoryOfMind(Minerva):
    version, title, capability = 4, "Theory of mind", "tracking the sets of several agents"
    category, paper_task = "composite", "theory_of_mind"
    answer = FinalHands()
    ask = (
        "The context lists, in order, the words that the agents start with, draw, discard and swap. Which words does "
        "each agent have at the end?",
        "Follow the actions of all agents in the context from the first to the last, and list the words that each of "
        "them ends up with.",
    )
    separator = "\n"
    known_shortcuts = {
        "as if nobody had swapped": "Many words stay with who drew them, as in the paper, and have their share."
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    agents: Sweep[int] = Sweep(2, 3, 4)
    """The number of agents, taken in turn."""
    size: Sweep[int] = Sweep(10, 20)
    """The most words that one has at a time, taken in turn."""
    steps: Sweep[int] = field(default=Sweep(100), metadata=UNSIZED)
    """Steps where no length is asked for, beside what each starts with; taken in turn."""

    def check(self) -> None:
        check_number("agents", self.agents, 2, 100)
        check_number("size", self.size, 3)
        check_number("steps", self.steps, 1, MOST_ITEMS)

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        agents = self.agents
        story = _script(self.words, agents, self.size, rng.key).fit(agents + self.steps, budget, lambda n: n > agents)
        hands = enumerate(hands_after(story.steps, agents))
        return Instance(
            facts=story.lines,
            gold=Hands(
                tuple((_name(agent), tuple(story.words[n] for n in hand)) for agent, hand in hands), story.mentioned
            ),
            labels={"agents": str(agents), "size": str(self.size), **self.sweep_labels()},
        )

    def heuristics(self, instance: Instance, question: Question[Any]) -> Mapping[str, str]:
        """Return the hands as if nobody had swapped: an agent keeps its words until somebody discards them."""
        first: dict[str, str] = {}
        for line in instance.facts:
            assert isinstance(line, str)
            found = LINE.match(line)
            assert found
            for word in found["words"].split(", "):
                if found["verb"] == "discards":
                    first.pop(word, None)
                elif found["verb"] != "swaps":
                    first[word] = found["agent"]
        hands = [(name, tuple(word for word in first if first[word] == name)) for name, _ in question.gold.of]
        return {"as if nobody had swapped": self.write(Hands(tuple(hands)))}

    def solve(self, context: str, names: Mapping[str, str]) -> Hands:
        return Hands(tuple((name, tuple(words)) for name, words in read_hands(context).items()))


@lru_cache(maxsize=1)
def _script(words: str, agents: int, size: int, key: Key) -> Script:
    return Script(_steps(agents, size, key.rng("steps")), _line, words, key)


def _steps(agents: int, size: int, rng: Rng) -> Iterator[Step]:
    """Each agent starts with some words. Then any of them draws, discards or swaps, whichever is possible."""
    table = Table(agents)
    for agent in range(agents):
        yield table.start(agent, rng.between(1, size - 1))
    while True:
        agent, other = rng.sample(range(agents), 2)
        mine, theirs = len(table.hands[agent]), len(table.hands[other])
        match rng.below(3):
            case 0 if mine < size:
                yield table.draw(agent, rng.between(1, size - mine), rng)
            case 1 if mine > 1:
                yield table.discard(agent, rng.between(1, mine // 2), rng)
            case 2 if min(mine, theirs) > 1:
                yield table.swap(agent, other, rng.between(1, min(mine, theirs) // 2), rng)


def _line(step: Step, words: Sequence[str]) -> str:
    line = f"{_name(step.agent)} {step.verb}: {', '.join([words[n] for n in step.words])}"
    if step.verb != "swaps":
        return line
    return f"{line} with {_name(step.other)} for: {', '.join([words[n] for n in step.gets])}"


@cache
def _name(agent: int) -> str:
    """
    >>> _name(0), _name(26)
    ('Agent A', 'Agent AA')
    """
    letters = ""
    agent += 1
    while agent:
        agent, place = divmod(agent - 1, 26)
        letters = chr(ord("A") + place) + letters
    return f"Agent {letters}"
