"""States that a context changes step by step: words in the hands of agents, which are never in two hands at once.

The steps are drawn over numbers, and words are found for them afterwards, so that the last words can be chosen by what
they take and a world comes out at an exact length.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from carrara.core.errors import Dry, Unreachable, UsageError
from carrara.core.keys import Dice
from carrara.core.types import Room, Undecidable
from carrara.parts.fitting import CHUNK, Stock

Verb = Literal["starts with", "draws", "discards", "swaps"]

AGAIN = 0.15
"""How likely a word that is drawn is one that was discarded before, if there is any."""
MOST_STEPS = 1_000_000


class Step(NamedTuple):
    """What an agent does with some words, by their numbers."""

    agent: int
    verb: Verb
    words: tuple[int, ...]
    other: int = 0
    gets: tuple[int, ...] = ()
    """Of a swap: with whom, and for what."""

    @property
    def mentioned(self) -> tuple[int, ...]:
        return self.words + self.gets


class Table:
    """Who has what, and what was discarded."""

    def __init__(self, agents: int) -> None:
        self.hands: list[list[int]] = [[] for _ in range(agents)]
        self.discarded: list[int] = []
        self.new = 0
        """The number of the next word that was never drawn."""

    def start(self, agent: int, size: int) -> Step:
        return self._drawn(agent, [self._fresh() for _ in range(size)], "starts with")

    def draw(self, agent: int, size: int, dice: Dice) -> Step:
        words = []
        for _ in range(size):
            again = self.discarded and dice.chance(AGAIN)
            words.append(self.discarded.pop(dice.below(len(self.discarded))) if again else self._fresh())
        return self._drawn(agent, words, "draws")

    def discard(self, agent: int, size: int, dice: Dice) -> Step:
        words = self._taken(agent, size, dice)
        self.discarded += words
        return Step(agent, "discards", tuple(words))

    def swap(self, agent: int, other: int, size: int, dice: Dice) -> Step:
        gives, gets = self._taken(agent, size, dice), self._taken(other, size, dice)
        self.hands[agent] += gets
        self.hands[other] += gives
        return Step(agent, "swaps", tuple(gives), other, tuple(gets))

    def _drawn(self, agent: int, words: list[int], verb: Verb) -> Step:
        self.hands[agent] += words
        return Step(agent, verb, tuple(words))

    def _fresh(self) -> int:
        self.new += 1
        return self.new - 1

    def _taken(self, agent: int, size: int, dice: Dice) -> list[int]:
        words = dice.sample(self.hands[agent], size)
        self.hands[agent] = [word for word in self.hands[agent] if word not in words]
        return words


Say = Callable[[Step, Sequence[str]], str]
"""A step in words, of which it has numbers."""


def told(
    steps: Iterator[Step], draw: Callable[[], str], say: Say, least: int, room: Room | None, ends: Callable[[int], bool]
) -> tuple[list[Step], list[str]]:
    """Steps and the words for their numbers: so many steps, or as many as make up a room.

    `ends` says whether so many steps may be all.
    """
    made, words = list[Step](), list[str]()
    if room is None:
        while len(made) < least or not ends(len(made)):
            _say(made, words, next(steps), draw)
        return made, words
    rest, fits = room.budget, [(0, room.budget)]
    while rest >= 0 and len(made) < MOST_STEPS:
        first, dry = len(made), None
        try:
            for _ in range(CHUNK):
                _say(made, words, next(steps), draw)
        except Dry as reason:
            dry = reason
        for n, cost in enumerate(room.prices([say(step, words) for step in made[first:]], "\n"), first + 1):
            rest -= cost
            if rest >= 0 and ends(n):
                fits.append((n, rest))
        if dry and rest >= 0:
            raise dry
    n, rest = fits[-1 - min(room.again, len(fits) - 1)]  # where no words do, fewer steps may
    if n < 2:
        raise Unreachable(f"it has room for {n} steps", part=f"there is room for {n} steps")
    del made[n:]
    times = Counter(word for step in made for word in step.mentioned)
    seen = sorted(times)
    found = Stock(draw, room.prices).exchanged(
        [words[word] for word in seen], [times[word] for word in seen], rest, range(len(seen))[-CHUNK:]
    )
    if found is None:
        raise Unreachable(f"no other words make up {rest} tokens", part=f"no other words make up {rest} tokens")
    for word, text in zip(seen, found, strict=True):
        words[word] = text
    return made, words


def _say(made: list[Step], words: list[str], step: Step, draw: Callable[[], str]) -> None:
    while len(words) <= max(step.mentioned):
        words.append(draw())
    made.append(step)


def hands(steps: Sequence[Step], agents: int) -> list[list[int]]:
    """What each has at last."""
    held: list[list[int]] = [[] for _ in range(agents)]
    for step in steps:
        mine = held[step.agent]
        if step.verb in ("starts with", "draws"):
            mine += [word for word in step.words if word not in mine]
            continue
        mine[:] = [word for word in mine if word not in step.words] + list(step.gets)
        if step.verb == "swaps":
            theirs = held[step.other]
            theirs[:] = [word for word in theirs if word not in step.gets] + list(step.words)
    return held


class Reader:
    """Follows steps as a context tells them, and says where one cannot have been.

    Unless it is `lenient`: then what is drawn may be there already, and what is discarded may be gone.
    """

    def __init__(self, lenient: bool = False) -> None:
        self._lenient = lenient
        self.hands: dict[str, list[str]] = {}
        self._holder: dict[str, str] = {}

    def takes(self, agent: str, words: Sequence[str]) -> None:
        words = [word for word in words if not (self._lenient and self._holder.get(word) == agent)]
        for word in words:
            if word in self._holder:
                raise Undecidable(f"{agent} takes {word}, which {self._holder[word]} has")
            self._holder[word] = agent
        self.hands.setdefault(agent, []).extend(words)

    def gives(self, agent: str, words: Sequence[str]) -> None:
        for word in words:
            if self._lenient and word not in self._holder:
                continue
            if self._holder.pop(word, None) != agent:
                raise Undecidable(f"{agent} gives {word} and does not have it")
            self.hands[agent].remove(word)


LINE = re.compile(
    r"^(?P<agent>(?:The agent|Agent [A-Z]+)) (?P<verb>starts with|draws|discards|swaps): (?P<words>[^:\n]+?)"
    r"(?: with (?P<other>Agent [A-Z]+) for: (?P<gets>[^:\n]+))?$",
    re.MULTILINE,
)
"""How a step is told."""


def read(context: str, lenient: bool = False) -> Mapping[str, Sequence[str]]:
    """What each agent has at the end of a context."""
    reader = Reader(lenient)
    for found in LINE.finditer(context):
        agent, words = found["agent"], found["words"].split(", ")
        if found["verb"] in ("starts with", "draws"):
            reader.takes(agent, words)
            continue
        reader.gives(agent, words)
        if found["verb"] == "swaps":
            gets = found["gets"].split(", ")
            reader.gives(found["other"], gets)
            reader.takes(found["other"], words)
            reader.takes(agent, gets)
    return reader.hands


def agent_name(n: int) -> str:
    """
    >>> agent_name(0), agent_name(26)
    ('Agent A', 'Agent AA')
    """
    letters = ""
    n += 1
    while n:
        n, place = divmod(n - 1, 26)
        letters = chr(ord("A") + place) + letters
    return f"Agent {letters}"


def dealings(agents: int, size: int, dice: Dice) -> Iterator[Step]:
    """Each starts with some words; then anybody draws, discards or swaps, whichever can be."""
    table = Table(agents)
    for agent in range(agents):
        yield table.start(agent, dice.between(1, size - 1))
    while True:
        agent, other = dice.sample(range(agents), 2)
        mine, theirs = len(table.hands[agent]), len(table.hands[other])
        match dice.below(3):
            case 0 if mine < size:
                yield table.draw(agent, dice.between(1, size - mine), dice)
            case 1 if mine > 1:
                yield table.discard(agent, dice.between(1, mine // 2), dice)
            case 2 if min(mine, theirs) > 1:
                yield table.swap(agent, other, dice.between(1, min(mine, theirs) // 2), dice)


def said(step: Step, words: Sequence[str]) -> str:
    """A step in words."""
    told = f"{agent_name(step.agent)} {step.verb}: {', '.join(words[n] for n in step.words)}"
    if step.verb != "swaps":
        return told
    return f"{told} with {agent_name(step.other)} for: {', '.join(words[n] for n in step.gets)}"


class Play(NamedTuple):
    """Dealings as they are told, and how they end."""

    lines: tuple[str, ...]
    hands: tuple[tuple[str, tuple[str, ...]], ...]
    """What each agent has at last."""
    words: tuple[str, ...]
    """All that were named."""


def played(agents: int, size: int, dice: Dice, draw: Callable[[], str], steps: int, room: Room | None) -> Play:
    """Dealings of some agents in so many steps, or in as many as make up a room."""
    if agents < 2 or size < 2 or steps < 1:
        raise UsageError(
            f"agents={agents} who hold up to {size} words cannot deal in {steps} steps: it takes two agents, two words "
            "and a step at least"
        )
    made, words = told(dealings(agents, size, dice), draw, said, agents + steps, room, lambda n: n > agents)
    held = enumerate(hands(made, agents))
    return Play(
        tuple(said(step, words) for step in made),
        tuple((agent_name(n), tuple(words[word] for word in own)) for n, own in held),
        tuple(words[n] for n in dict.fromkeys(word for step in made for word in step.mentioned)),
    )
