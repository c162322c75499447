"""Theory of mind: the words that each of several agents has, after drawing, discarding and swapping.

From Minerva (Table 1, composite). One item of two agents in six steps:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/theory_of_mind", params={"agents": "2", "size": "4", "steps": "6"}).text.splitlines():
...     print(fill(line, 110))
Context:
Agent A starts with: stethometer, disintegrity, interknot
Agent B starts with: slushiness, capriccio
Agent A draws: disintegrity, chamaeleon, interknot, stethometer
Agent A discards: pyrazine, interknot, disintegrity, pelomedusa, stethometer, slushiness
Agent A discards: hither, stethometer, embolium
Agent A discards: unencamped, slushiness, pyrazine, typifier, capriccio
Agent A swaps: chamaeleon with Agent B for: slushiness
Agent B draws: capriccio, chamaeleon, disintegrity
<BLANKLINE>
Instruction:
The context lists, in order, the words that the agents start with, draw, discard and swap. Drawing a word that
the agent already has, or discarding one that it does not have, changes nothing. Which words does each agent
have at the end? End your reply with the line FINAL ANSWER: and, below it, a line for each agent, such as:
FINAL ANSWER:
Agent A: word1, word2
Agent B: word3

The steps are the facts. No word is ever in two hands. Words are drawn again after they were discarded, and some steps
change nothing, so that only the order of the steps decides (`paper=true`: no step is without effect).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache, lru_cache
from itertools import count
from typing import Any

from carrara.answers import FinalHands, Hands
from carrara.rng import Key
from carrara.task import Instance, Rng, Sweep
from carrara.task.sweeps import sweep_labels
from carrara.tasks.minerva._state import (
    LINE,
    Pool,
    Script,
    SteadyHand,
    Step,
    Table,
    hands_after,
    last_changes,
    read_hands,
)
from carrara.tasks.minerva._task import MOST_ITEMS, WORDS, Minerva, check_number
from carrara.types import UNSIZED, LengthBudget, Question

FOREIGN, SWAPS = 0.5, 2.0
"""How often a word that stays is discarded by an agent that does not have it, and how often it is swapped, while the
number of steps nearly triples."""


class TheoryOfMind(Minerva):
    version, title, capability = 5, "Theory of mind", "tracking the sets of several agents"
    category, paper_task = "composite", "theory_of_mind"
    answer = FinalHands()
    evidence_decides = False
    ask = {
        "ask": (
            "The context lists, in order, the words that the agents start with, draw, discard and swap. Which words "
            "does each agent have at the end?",
            "Follow the actions of all agents in the context from the first to the last, and list the words that each "
            "of them ends up with.",
        ),
        "steady": (
            "The context lists, in order, the words that the agents start with, draw, discard and swap. Drawing a word "
            "that the agent already has, or discarding one that it does not have, changes nothing. Which words does "
            "each agent have at the end?",
            "Follow the actions of all agents in the context from the first to the last: no agent has a word twice, "
            "and discarding a word that the agent does not have has no effect. List the words that each of them ends "
            "up with.",
        ),
    }
    separator = "\n"
    known_shortcuts = {
        "as if nobody had swapped": "It follows all other steps: a third of the words stay where they were drawn."
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    agents: Sweep[int] = Sweep(2, 3, 4)
    """The number of agents, taken in turn."""
    size: Sweep[int] = Sweep(10, 20)
    """The most words that one has at a time, taken in turn."""
    steps: Sweep[int] = field(default=Sweep(100), metadata=UNSIZED)
    """Steps where no length is asked for, beside what each starts with; taken in turn."""
    paper: bool = False
    """Whether no word is drawn that an agent has, and none is discarded that it does not have, as in the paper: then
    most words that were never discarded are with the agent that drew them, and most were drawn just before the end."""

    def check(self) -> None:
        check_number("agents", self.agents, 2, 100)
        check_number("size", self.size, 3)
        check_number("steps", self.steps, 1, MOST_ITEMS)

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        agents = self.agents
        script = _script(self.words, agents, self.size, self.paper, rng.key)
        story = script.fit(agents + self.steps, budget, lambda n: n > agents)
        hands = enumerate(hands_after(story.steps, agents))
        return Instance(
            facts=story.lines,
            gold=Hands(
                tuple((_name(agent), tuple(story.words[n] for n in hand)) for agent, hand in hands), story.mentioned
            ),
            evidence=None if self.paper else last_changes(story.steps),
            ask="ask" if self.paper else "steady",
            labels={"agents": str(agents), "size": str(self.size), **sweep_labels(self)},
        )

    def shortcuts(self) -> Mapping[str, str]:
        if not self.paper:
            return self.known_shortcuts
        reason = "In the paper's form many words are never discarded, and stay with who drew them."
        return {**self.known_shortcuts, "words that are never removed": reason, "learned": reason}

    def heuristics(self, instance: Instance, question: Question[Any]) -> Mapping[str, str]:
        """Return the hands as if nobody had swapped: an agent keeps the words that it drew until it discards them."""
        drawer: dict[str, str] = {}
        for line in instance.facts:
            assert isinstance(line, str)
            step = LINE.match(line)
            assert step
            for word in step["words"].split(", "):
                if step["verb"] == "discards" and (self.paper or drawer.get(word) == step["agent"]):
                    drawer.pop(word, None)
                elif step["verb"] in ("starts with", "draws"):
                    drawer[word] = step["agent"]
        hands = [(name, tuple(word for word in drawer if drawer[word] == name)) for name, _ in question.gold.of]
        return {"as if nobody had swapped": self.write(Hands(tuple(hands)))}

    def solve(self, context: str, names: Mapping[str, str]) -> Hands:
        return Hands(tuple((name, tuple(words)) for name, words in read_hands(context, not self.paper).items()))


@lru_cache(maxsize=1)
def _script(words: str, agents: int, size: int, paper: bool, key: Key) -> Script:
    steps = (_paper_steps if paper else _steady_steps)(agents, size, key.rng("steps"))
    return Script(steps, _line, words, key)


def _paper_steps(agents: int, size: int, rng: Rng) -> Iterator[Step]:
    """Yield steps: each agent starts with some words, then any of them draws, discards or swaps, as is possible."""
    table = Table(agents)
    for agent in range(agents):
        yield table.start(agent, rng.between(1, size - 1))
    while True:
        agent, partner = rng.sample(range(agents), 2)
        mine, theirs = len(table.hands[agent]), len(table.hands[partner])
        match rng.below(3):
            case 0 if mine < size:
                yield table.draw(agent, rng.between(1, size - mine), rng)
            case 1 if mine > 1:
                yield table.discard(agent, rng.between(1, mine // 2), rng)
            case 2 if min(mine, theirs) > 1:
                yield table.swap(agent, partner, rng.between(1, min(mine, theirs) // 2), rng)


def _steady_steps(agents: int, size: int, rng: Rng) -> Iterator[Step]:
    """Yield steps: any agent draws, discards or swaps, as is possible, so that only the order of steps decides.

    The words that stay for long change hands too, the less often the longer the context is: so the step after which a
    word stays where it is may be early or late.
    """
    pool = Pool()
    hands = [SteadyHand(agent, size, pool) for agent in range(agents)]
    for hand in hands:
        yield hand.draw(rng.between(1, size - 1), rng, "starts with")
    for number in count(1):
        mine, theirs = rng.sample(hands, 2)
        kind = rng.below(3)
        if kind == 0 and mine.room:
            yield mine.draw(rng.between(1, mine.room), rng)
        elif kind == 1:
            yield mine.discard([word for word in theirs.words if rng.random() * number < FOREIGN * agents], rng)
        elif step := _swap(mine, theirs, min(0.5, SWAPS * agents / number), rng):
            yield step


def _swap(mine: SteadyHand, theirs: SteadyHand, share: float, rng: Rng) -> Step | None:
    """Exchange a passing word of each agent, and a share of the words that stay. Return None if they have none."""
    gives, gets = list[int](), list[int]()
    for my_words, their_words, number in (
        (mine.passing, theirs.passing, 1),
        (mine.kept, theirs.kept, sum(rng.chance(share) for _ in mine.kept)),
    ):
        number = min(number, len(my_words), len(their_words))
        my_places = rng.sample(range(len(my_words)), number)
        their_places = rng.sample(range(len(their_words)), number)
        for my_place, their_place in zip(my_places, their_places, strict=True):
            gives.append(my_words[my_place])
            gets.append(their_words[their_place])
            my_words[my_place], their_words[their_place] = their_words[their_place], my_words[my_place]
    if not gives:
        return None
    order = rng.shuffled(range(len(gives)))
    return Step(mine.agent, "swaps", tuple(gives[n] for n in order), theirs.agent, tuple(gets[n] for n in order))


def _line(step: Step, words: Sequence[str]) -> str:
    line = f"{_name(step.agent)} {step.verb}: {', '.join([words[n] for n in step.words])}"
    if step.verb != "swaps":
        return line
    return f"{line} with {_name(step.partner)} for: {', '.join([words[n] for n in step.gets])}"


@cache
def _name(agent: int) -> str:
    """Return the name of an agent, counted from 0.

    >>> _name(0), _name(26)
    ('Agent A', 'Agent AA')
    """
    letters = ""
    agent += 1
    while agent:
        agent, place = divmod(agent - 1, 26)
        letters = chr(ord("A") + place) + letters
    return f"Agent {letters}"
