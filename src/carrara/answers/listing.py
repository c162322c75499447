r"""Answers that are lists of words: in order, as sets, or one for each of some agents.

Only that counts which goes beyond the best of the trivial replies, so that these score 0: a copy of the context where
it was to be changed, every word that was ever named.

>>> parse_list("1. Apple\n2. pear"), parse_list('["a", "b"]'), parse_list("none"), parse_list("It is not there.")
(('Apple', 'pear'), ('a', 'b'), (), None)
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from carrara.answers.cues import NOT_AN_ANSWER
from carrara.answers.extraction import FINAL, asks_for
from carrara.answers.reply_text import BLANK_LINE
from carrara.answers.sequences import jaccard, overlap
from carrara.answers.types import SPARE, WORD, AnswerType
from carrara.types import Question

TWICE = 2
"""A list so many times as long as the right one is no answer: it names whatever there is."""
_BULLET = re.compile(r"^\s{0,9}(?:[-*+•·] |\(?[0-9]{1,6}[.)] )", re.MULTILINE)
_SEPARATOR = re.compile(r"\s{0,3}[,;\n]\s{0,3}(?:and )?| and ")
_LEAD = re.compile(r"^[^,;]{0,200}?(?::| are )\s{0,3}")
_KEY = re.compile(r"[^,:\n]{1,60}: ?")
_EMPTY = re.compile(r"(?:it is )?(?:\[ ?\]|(?:an? )?empty(?: list| set)?|none|nothing|no words?)", re.IGNORECASE)
_BRACKETS = re.compile(r"[\[\](){}\"]")


def parse_list(text: str) -> tuple[str, ...] | None:
    """Return the words of a text that is a list and nothing else: on one line, or one on each.

    Where each has a key, as in `oak: elm, ash: yew`, the words are what stands behind the keys.
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


class Listing(AnswerType[Words]):
    """Words in an order that is asked for."""

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
        """Return the paragraphs and lines that are lists of several words, a line that leads to them left out."""
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
    """Words that stand in several rows of the context."""


class Copy(Listing):
    """The whole context, or what becomes of it."""

    rule = asks_for("the result in the same form, separated by commas")

    def budget(self, gold: Words) -> int:
        return SPARE + len(self.write(gold))  # digits may take a token each


class Set(Listing):
    """Words in any order."""

    rule = asks_for("those words, separated by commas")


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


_HAND = re.compile(r"(?:^|(?<=[;,.]) ?|(?<=\n))\W{0,5}(?:agent )?([a-z]{1,3})\b[^:\n]{0,20}:", re.IGNORECASE)


class FinalHands(AnswerType[Hands]):
    """What each of some agents has, with a line for each."""

    several_lines = True
    rule = (
        f"End your reply with the line {FINAL} and, below it, a line for each agent, such as:\n"
        f"{FINAL}\nAgent A: word1, word2\nAgent B: word3"
    )

    def write(self, answer: Hands) -> str:
        return "\n".join(f"{name}: {', '.join(words) or 'none'}" for name, words in answer.of)

    def parse_value(self, text: str, question: Question[Hands]) -> Hands | None:
        """Return the lists that stand behind the agents' names."""
        gold = question.gold.of
        names = {name.rpartition(" ")[2].lower(): name for name, _ in gold}
        starts = [one for one in _HAND.finditer(text) if one[1].lower() in names]
        ends = [one.start() for one in starts[1:]] + [len(text)] * bool(starts)
        found = {
            names[one[1].lower()]: parse_list(_first_paragraph(text[one.end() : end]))
            for one, end in zip(starts, ends, strict=True)
        }
        hands = tuple((name, spelt(found[name] or (), words)) for name, words in gold if name in found)
        return Hands(hands) if hands and len(found) == len(starts) and None not in found.values() else None

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
    """Return the rest of a line; or the lines below, up to an empty one, where nothing stands there."""
    line, _, below = text.partition("\n")
    return line if line.strip() else BLANK_LINE.split(below, maxsplit=1)[0]


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
