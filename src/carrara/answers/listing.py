"""Answers that are lists of words: in order, as sets, or one for each of some agents.

Only that counts which goes beyond the best of the trivial replies, so that these score 0: a copy of the context where
it was to be changed, every word that was ever named.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

from carrara.answers.asked import Asked
from carrara.answers.contract import FINAL, asks_for
from carrara.answers.kinds import SPARE, Answers
from carrara.answers.lists import read_list
from carrara.answers.named_lists import read_named_lists
from carrara.answers.sequences import jaccard, overlap
from carrara.core.types import Question

TWICE = 2
"""A list so many times as long as the right one is no answer: it names whatever there is."""
_QUOTED = re.compile(r'"([^"\n]*)"')
_FIRST = re.compile(r"\b(?:(first)|second) list\b", re.IGNORECASE)


@dataclass(frozen=True)
class Words:
    """A list of words or numbers."""

    items: tuple[str, ...]
    trivial: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]], compare=False, repr=False
    )
    """Of a gold answer: lists that somebody has without doing the task."""
    ordered: bool = field(default=True, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.items if self.ordered else {*self.items})

    def like(self, other: "Words") -> float:
        """How much of it another list has: in its order, or as a set."""
        if self.ordered:
            return overlap(other.items, self.items).f1
        return jaccard(other.items, self.items)

    @cached_property
    def worth_nothing(self) -> float:
        """What the best of the trivial lists has of it."""
        return max((self.like(Words(items)) for items in self.trivial.values()), default=0.0)


class Listing(Answers[Words]):
    """Words in an order that is asked for."""

    rule = asks_for("those words in that order, separated by commas")
    in_rows: ClassVar[bool] = False
    """Whether they may well come in several rows, which are one list."""
    noun = "Words"

    def takes(self, answer: object) -> bool:
        return isinstance(answer, Words)

    def write(self, answer: Words) -> str:
        return ", ".join(answer.items)

    def read(self, reply: str, question: Question[Words]) -> Words | None:
        items = read_list(reply, asked=self.asked(question.ask))
        return None if items is None else Words(spelt(items, question.gold.items))

    def asked(self, ask: str) -> Asked:
        """What a question tells of its answer: several words in quotes are those whose partners are asked for."""
        several = [one.casefold().split(", ") for one in _QUOTED.findall(ask)]
        return Asked(
            keys=frozenset(word for words in several if len(words) > 1 for word in words), adds_up=self.in_rows
        )

    def guesses(self, gold: Words, options: Sequence[str]) -> Sequence[Words]:
        return (Words(("unknown",)),)

    def chance_level(self, gold: Words, options: Sequence[str] = ()) -> float:
        return 0.0  # no word of the context is known, and long lists take long to compare

    def score(self, answer: Words, gold: Words) -> float:
        if len(replace(answer, ordered=gold.ordered)) > TWICE * len(gold):
            return 0.0
        return above(gold.like(answer), gold.worth_nothing)

    def trivial(self, question: Question[Words]) -> Mapping[str, str]:
        return {name: ", ".join(items) for name, items in question.gold.trivial.items()}


class Rows(Listing):
    """Words that stand in several rows of the context."""

    in_rows = True


class Copy(Listing):
    """The whole context, or what becomes of it."""

    in_rows = True
    rule = asks_for("the result in the same form, separated by commas")

    def budget(self, gold: Words) -> int:
        return SPARE + len(self.write(gold))  # digits may take a token each


class Set(Listing):
    """Words in any order."""

    rule = asks_for("those words, separated by commas")

    def asked(self, ask: str) -> Asked:
        """Of two lists that are compared, the one whose words are asked for is named last."""
        named = _FIRST.findall(ask)
        return Asked(first=bool(named[-1]) if named else None)


class FinalSet(Set):
    """Words in any order, after whatever thinking it took."""

    rule = f"End your reply with a line such as: {FINAL} word1, word2, word3"


@dataclass(frozen=True)
class Hands:
    """What each of some agents has."""

    of: tuple[tuple[str, tuple[str, ...]], ...]
    everything: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """Of a gold answer: every word that was ever named."""

    def like(self, other: "Hands") -> float:
        """The mean over agents of what the sets share; an agent who is left out has nothing.

        No word is in two hands: one that is put into more of them than it is in counts for none.
        """
        theirs, astray = dict(other.of), {*(other.holders - self.holders)}
        return sum(_alike({*own}, theirs[name], astray) if name in theirs else 0.0 for name, own in self.of) / len(
            self.of
        )

    @cached_property
    def holders(self) -> Counter[str]:
        """How many have each word."""
        return Counter(word for _, words in self.of for word in {*words})

    @cached_property
    def worth_nothing(self) -> float:
        return self.like(Hands(tuple((name, self.everything) for name, _ in self.of)))


class FinalHands(Answers[Hands]):
    rule = (
        f"End your reply with the line {FINAL} and, below it, a line for each agent, such as:\n"
        f"{FINAL}\nAgent A: word1, word2\nAgent B: word3"
    )

    def write(self, answer: Hands) -> str:
        return "\n".join(f"{name}: {', '.join(words) or 'none'}" for name, words in answer.of)

    def read(self, reply: str, question: Question[Hands]) -> Hands | None:
        gold = question.gold.of
        found = read_named_lists(reply, [name for name, _ in gold])
        if found is None:
            return None
        return Hands(tuple((name, spelt(found[name], words)) for name, words in gold if name in found))

    def guesses(self, gold: Hands, options: Sequence[str]) -> Sequence[Hands]:
        return (Hands(tuple((name, ("unknown",)) for name, _ in gold.of)),)

    def chance_level(self, gold: Hands, options: Sequence[str] = ()) -> float:
        return 0.0  # no word of the context is known, and long lists take long to compare

    def score(self, answer: Hands, gold: Hands) -> float:
        if answer.holders.total() > TWICE * gold.holders.total():
            return 0.0
        return above(gold.like(answer), gold.worth_nothing)

    def trivial(self, question: Question[Hands]) -> Mapping[str, str]:
        gold = question.gold
        return {"every word for everyone": self.write(Hands(tuple((name, gold.everything) for name, _ in gold.of)))}


def _alike(own: set[str], theirs: Sequence[str], astray: set[str]) -> float:
    every = own.union(theirs)
    return len(own.intersection(theirs) - astray) / len(every) if every else 1.0


def above(likeness: float, trivial: float) -> float:
    """The share of what the best trivial reply leaves open.

    >>> above(0.8, 0.6), above(0.5, 0.6)
    (0.5000000000000001, 0.0)
    """
    return max(0.0, (likeness - trivial) / (1 - trivial)) if trivial < 1 else likeness


def spelt(items: Sequence[str], gold: Sequence[str]) -> tuple[str, ...]:
    """Words as the context spells them, where a reply differs by capitals alone."""
    known = {word.casefold(): word for word in gold}
    return tuple(known.get(item.casefold(), item) for item in items)
