r"""Answers that are lists of words: in order, as sets, or one for each of some agents.

Only what goes beyond the best trivial reply counts, so trivial replies score 0: a copy of a context that was to be
changed, or every word of the context.

>>> parse_list("1. Apple\n2. pear"), parse_list('["a", "b"]'), parse_list("none"), parse_list("It is not there.")
(('Apple', 'pear'), ('a', 'b'), (), None)
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum

from carrara.answers.cues import NOT_AN_ANSWER
from carrara.answers.extraction import FINAL, asks_for
from carrara.answers.reply_text import BLANK_LINE
from carrara.answers.sequences import jaccard, overlap
from carrara.answers.types import SPARE, WORD, AnswerType
from carrara.types import Question

TWICE = 2
"""The factor of the right list's length from which a list is no answer, because it names too much."""
_BULLET = re.compile(r"^\s{0,9}(?:[-*+•·] |\(?[0-9]{1,6}[.)] )", re.MULTILINE)
_SEPARATOR = re.compile(r"\s{0,3}[,;\n]\s{0,3}(?:and )?| and ")
_LEAD = re.compile(r"^[^,;]{0,200}?(?::| are )\s{0,3}")
_KEY = re.compile(r"[^,:\n]{1,60}: ?")
_EMPTY = re.compile(r"(?:it is )?(?:\[ ?\]|(?:an? )?empty(?: list| set)?|none|nothing|no words?)", re.IGNORECASE)
_BRACKETS = re.compile(r"[\[\](){}\"]")


def parse_list(text: str) -> tuple[str, ...] | None:
    """Return the words of a text that is a list and nothing else: on one line, or one on each.

    If each has a key, as in `oak: elm, ash: yew`, the words are the values.
    """
    text = _BRACKETS.sub("", _BULLET.sub("", text)).strip(" .!\n") or text.strip(" .\n")
    if _EMPTY.fullmatch(text):
        return ()
    items = [item.strip(" .'\n") for item in _SEPARATOR.split(text)]
    if items and all(":" in item for item in items):
        items = [_KEY.sub("", item, count=1) for item in items]
    items = [item for item in items if item]
    if len(items) == 1 and " " in items[0]:
        items = items[0].split()
        if not NOT_AN_ANSWER.isdisjoint(map(str.lower, items)):
            return None
    if not items or (len(items) == 1 and items[0].lower() in NOT_AN_ANSWER):
        return None
    return tuple(items) if all(map(WORD.fullmatch, items)) else None


@dataclass(frozen=True)
class Words:
    """A list of words or numbers.

    Examples:
        >>> from carrara.answers import Words
        >>> Words(("oak", "elm")).like(Words(("oak", "ash")))
        0.5
    """

    items: tuple[str, ...]
    """The words."""
    trivial: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]], compare=False, repr=False
    )
    """Lists that need no understanding, by name. Only a gold answer has them."""
    ordered: bool = field(default=True, compare=False, repr=False)
    """Whether the order of the words counts."""

    def __len__(self) -> int:
        return len(self.items if self.ordered else {*self.items})

    def like(self, other: "Words") -> float:
        """Return how similar another list is: by its order, or as a set.

        Args:
            other: The other list.

        Returns:
            The similarity, from 0 to 1: F1 of the longest common subsequence, or the Jaccard index of the sets.

        Examples:
            >>> Words(("oak", "elm"), ordered=False).like(Words(("elm", "oak")))
            1.0
        """
        if self.ordered:
            return overlap(other.items, self.items).f1
        return jaccard(other.items, self.items)

    @cached_property
    def worth_nothing(self) -> float:
        """The similarity of the best trivial list."""
        return max((self.like(Words(items)) for items in self.trivial.values()), default=0.0)


class Listing(AnswerType[Words]):
    """Words in a given order.

    Examples:
        >>> from carrara.task import Question
        >>> from carrara.answers import Listing, Words
        >>> q = Question("Which words follow oak?", Words(("elm", "ash")), evidence=[], chance_level=0.0)
        >>> Listing().read("FINAL ANSWER: elm, ash", q).answer
        Words(items=('elm', 'ash'))
    """

    rule = asks_for("those words in that order, separated by commas")
    several_lines = True
    noun = "Words"

    def takes(self, answer: object) -> bool:
        return isinstance(answer, Words)

    def write(self, answer: Words) -> str:
        return ", ".join(answer.items)

    def parse_value(self, text: str, question: Question[Words]) -> Words | None:
        items = parse_list(text)
        return None if items is None else Words(spelt(items, question.gold.items))

    def find_values(self, text: str, question: Question[Words]) -> Iterator[Words]:
        """Yield the paragraphs and lines that are lists of several words, without a line that leads to them."""
        for block in BLANK_LINE.split(text):
            body = _LEAD.sub("", block, count=1)
            words = self.parse_value(body, question) if _SEPARATOR.search(body) else None
            if words is not None and len(words.items) > 1:
                yield words

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
    """Words that stand in several rows of the context. It is read as a `Listing` is.

    Examples:
        >>> from carrara.answers import Rows, Words
        >>> Rows().write(Words(("elm", "ash")))
        'elm, ash'
    """


class Copy(Listing):
    """The whole context as a list of words, unchanged or edited.

    Examples:
        >>> from carrara.answers import Copy, Words
        >>> Copy().budget(Words(("12345", "67890")))  # tokens for a reply of 12 characters
        60
    """

    rule = asks_for("the result in the same form, separated by commas")

    def budget(self, gold: Words) -> int:
        return SPARE + len(self.write(gold))  # digits may take a token each


class Set(Listing):
    """Words in any order.

    Examples:
        >>> from carrara.answers import Set, Words
        >>> gold = Words(("elm", "ash"), ordered=False)
        >>> Set().score(Words(("ash", "elm")), gold)
        1.0
    """

    rule = asks_for("those words, separated by commas")


class FinalSet(Set):
    """Words in any order, on the last line of a reply that may reason first.

    Examples:
        >>> from carrara.answers import FinalSet
        >>> FinalSet().rule
        'End your reply with a line such as: FINAL ANSWER: word1, word2, word3'
    """

    rule = f"End your reply with a line such as: {FINAL} word1, word2, word3"


@dataclass(frozen=True)
class Hands:
    """The words that each of several agents has.

    Examples:
        >>> from carrara.answers import Hands
        >>> gold = Hands((("Agent A", ("oak",)), ("Agent B", ("elm",))))
        >>> gold.like(Hands((("Agent A", ("oak",)), ("Agent B", ("ash",)))))
        0.5
    """

    of: tuple[tuple[str, tuple[str, ...]], ...]
    """The name of each agent, with its words."""
    everything: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """Every word in the context. Only a gold answer has them."""

    def like(self, other: "Hands") -> float:
        """Return the mean similarity of the agents' sets. An agent that the other answer leaves out has no words.

        A word that the other answer gives to more agents than have it counts for none of them.

        Args:
            other: The other answer.

        Returns:
            The mean Jaccard index, from 0 to 1.

        Examples:
            >>> gold = Hands((("Agent A", ("oak",)), ("Agent B", ("elm",))))
            >>> gold.like(Hands((("Agent A", ("oak",)),)))
            0.5
        """
        other_words, excess_words = dict(other.of), {*(other.holders - self.holders)}
        scores = (
            _word_similarity({*words}, other_words[name], excess_words) if name in other_words else 0.0
            for name, words in self.of
        )
        return fsum(scores) / len(self.of)

    @cached_property
    def holders(self) -> Counter[str]:
        """The number of agents that have each word."""
        return Counter(word for _, words in self.of for word in {*words})

    @cached_property
    def worth_nothing(self) -> float:
        """The similarity of an answer that gives every word to every agent."""
        return self.like(Hands(tuple((name, self.everything) for name, _ in self.of)))


_HAND = re.compile(
    r"(?:^|(?<=[;,.]) ?|(?<=\n))\W{0,5}(?:agent )?([a-z]{1,3})\b(?! starts with\b)[^:\n]{0,20}:", re.IGNORECASE
)
"""The beginning of an agent's line. One that repeats what the text says an agent starts with is none."""


class FinalHands(AnswerType[Hands]):
    """The words of each of several agents, with a line for each agent at the end of the reply.

    Examples:
        >>> from carrara.answers import FinalHands, Hands
        >>> print(FinalHands().write(Hands((("Agent A", ("oak", "elm")), ("Agent B", ())))))
        Agent A: oak, elm
        Agent B: none
    """

    several_lines = True
    rule = (
        f"End your reply with the line {FINAL} and, below it, a line for each agent, such as:\n"
        f"{FINAL}\nAgent A: word1, word2\nAgent B: word3"
    )

    def write(self, answer: Hands) -> str:
        return "\n".join(f"{name}: {', '.join(words) or 'none'}" for name, words in answer.of)

    def parse_value(self, text: str, question: Question[Hands]) -> Hands | None:
        """Return the lists after the agents' names."""
        gold = question.gold.of
        names = {name.rpartition(" ")[2].lower(): name for name, _ in gold}
        starts = [match for match in _HAND.finditer(text) if match[1].lower() in names]
        ends = [match.start() for match in starts[1:]] + [len(text)] * bool(starts)
        lists_by_name = {
            names[match[1].lower()]: parse_list(_first_paragraph(text[match.end() : end]))
            for match, end in zip(starts, ends, strict=True)
        }
        hands = tuple((name, spelt(lists_by_name[name] or (), words)) for name, words in gold if name in lists_by_name)
        return (
            Hands(hands) if hands and len(lists_by_name) == len(starts) and None not in lists_by_name.values() else None
        )

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


def _first_paragraph(text: str) -> str:
    """Return the rest of a line, or the lines below it up to an empty one if the line is empty."""
    line, _, below = text.partition("\n")
    return line if line.strip() else BLANK_LINE.split(below, maxsplit=1)[0]


def _word_similarity(words: set[str], other_words: Sequence[str], excess_words: set[str]) -> float:
    all_words = words.union(other_words)
    return len(words.intersection(other_words) - excess_words) / len(all_words) if all_words else 1.0


def above(likeness: float, trivial: float) -> float:
    """Return the part of a similarity that goes beyond the best trivial reply, as a share of the possible part.

    >>> above(0.8, 0.6), above(0.5, 0.6)
    (0.5000000000000001, 0.0)
    """
    return max(0.0, (likeness - trivial) / (1 - trivial)) if trivial < 1 else likeness


def spelt(items: Sequence[str], gold: Sequence[str]) -> tuple[str, ...]:
    """Return words as the context spells them, if a reply differs only by capitals."""
    known = {word.casefold(): word for word in gold}
    return tuple(known.get(item.casefold(), item) for item in items)
