"""The structure of chains of keys (`_chains.py`): pairs in the text, and ways to choose a chain without its keys."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from carrara.tasks.classic._values import CODE
from carrara.types import Instance, UndecidableError

PAIR = re.compile(rf'\{{"({CODE.pattern.pattern})": ("(?:[^"\\]|\\.)*")\}}')
"""The pattern of a pair in the text: its key, and its value as JSON."""


class Shape(NamedTuple):
    """The chains of one instance."""

    pairs: int
    """Pairs in each chain. 0: the prompt asks the question itself."""
    distractors: int


class Link(NamedTuple):
    """A pair of a chain, by its position."""

    chain: int
    step: int


class Chains(NamedTuple):
    """The structure of an instance with chains."""

    ends: Sequence[Instance]
    """An instance without chains for each chain, which asks the question at its end."""
    asks: Sequence[str]
    """The question at the end of each chain."""
    keys: Sequence[Sequence[str]]
    """The keys of each chain, in order."""
    target: int
    """The number of the chain that the prompt begins."""
    order: Sequence[int | Link]
    """What each fact is: a fact of the task, by its number, or a pair."""

    @property
    def end(self) -> Instance:
        """The instance that asks the question at the end of the right chain."""
        return self.ends[self.target]

    @property
    def places(self) -> Mapping[int | Link, int]:
        """The number of each fact and of each pair among all facts."""
        return {one: number for number, one in enumerate(self.order)}

    def value(self, link: Link) -> str:
        """Return the value of a pair: the key of the next one, or the question at the end."""
        keys = self.keys[link.chain]
        return self.asks[link.chain] if link.step + 1 == len(keys) else keys[link.step + 1]

    def write(self, link: Link) -> str:
        """Return a pair as it stands in the text."""
        return f'{{"{self.keys[link.chain][link.step]}": {json.dumps(self.value(link), ensure_ascii=False)}}}'


def follow(pairs: Mapping[str, str], start: str) -> str:
    """Return the question to which a chain leads.

    Raises:
        UndecidableError: A pair is missing.

    >>> one, two = "245b56cd-5ea4-4965-ae6f-2c7a090dacb5", "16de0d6f-8f49-459a-a894-6e50e8aaae6a"
    >>> follow({one: two, two: "Where is Mary?"}, one)
    'Where is Mary?'
    """
    value = start
    for _ in range(len(pairs) + 1):
        if CODE.whole(value) is None:
            return value
        if value not in pairs:
            raise UndecidableError(f"no pair has the key {value}")
        value = pairs[value]
    raise UndecidableError("the pairs lead back to the first key")


def choose_without_keys(chains: Chains, answers: Sequence[str]) -> Mapping[str, int]:
    """Return the number of the chain that each heuristic chooses, by the name of the heuristic.

    Args:
        chains: The chains.
        answers: The answer to the question at the end of each chain, as a reply states it.
    """
    places, numbers = chains.places, range(len(chains.ends))
    last = len(chains.keys[0]) - 1
    begin, end = ([places[Link(n, step)] for n in numbers] for step in (0, last))
    keys = [chains.keys[n][last] for n in numbers]
    asks = chains.asks
    words = [{*ask.casefold().split()} for ask in asks]
    facts = "\n".join(chains.end.texts)
    alike = [sum(len(words[n] & words[other]) for other in numbers if other != n) / len(words[n]) for n in numbers]
    spread = [max(own) - min(own) for own in ([places[Link(n, s)] for s in range(last + 1)] for n in numbers)]
    chosen = {
        "the question that comes first": min(numbers, key=lambda n: end[n]),
        "the question that comes last": max(numbers, key=lambda n: end[n]),
        "the chain that begins first": min(numbers, key=lambda n: begin[n]),
        "the chain that begins last": max(numbers, key=lambda n: begin[n]),
        "the chain that covers least of the text": min(numbers, key=lambda n: spread[n]),
        "the question with the least key": min(numbers, key=lambda n: keys[n]),
        "the question with the greatest key": max(numbers, key=lambda n: keys[n]),
        "the longest question": max(numbers, key=lambda n: len(asks[n])),
        "the shortest question": min(numbers, key=lambda n: len(asks[n])),
        "the question least like the others": min(numbers, key=lambda n: alike[n]),
        "the question most like the others": max(numbers, key=lambda n: alike[n]),
        "the question whose answer is most frequent in the text": max(numbers, key=lambda n: facts.count(answers[n])),
        "the question whose answer is rarest in the text": min(numbers, key=lambda n: facts.count(answers[n])),
    }
    if last:  # otherwise the first pair has the question
        start, second = begin[chains.target], places[Link(chains.target, 1)]
        first_key = chains.keys[chains.target][0]
        chosen |= {
            "the question nearest to the first pair": min(numbers, key=lambda n: abs(end[n] - start)),
            "the next question after the first pair": min(numbers, key=lambda n: (end[n] < start, end[n])),
            "the question with the key most like the first": min(numbers, key=lambda n: _distance(keys[n], first_key)),
        }
        if last > 1:
            chosen["the question nearest to the second pair"] = min(numbers, key=lambda n: abs(end[n] - second))
    return chosen


def _distance(key: str, other: str) -> int:
    """Return the distance of two keys as numbers."""
    return abs(int(key.replace("-", ""), 16) - int(other.replace("-", ""), 16))
