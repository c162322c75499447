"""Kinds of answers: how a reply is asked for, read, written and scored.

A test names its kind and has the rest from it. Scores are sound: what names every option states nothing, and of a list
or a set only that counts which goes beyond the best of the trivial replies, so that these score 0: a copy of the
context where it was to be changed, every word that was ever named.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import ClassVar, Generic, NamedTuple, TypeVar

from carrara.grading.choices import Choices, latest
from carrara.grading.lists import read_list, read_named_lists
from carrara.grading.numbers import find_numbers, read_number
from carrara.grading.reading import agreed, said, spoken, stated, tidy
from carrara.grading.sequences import jaccard, overlap
from carrara.grading.words import read_word
from carrara.keys import Dice
from carrara.types import Question

A = TypeVar("A")

Reference = str | int | list[str] | dict[str, list[str]]
"""An answer as the published files of Minerva hold it."""

FINAL = "FINAL ANSWER:"
SPARE = 48
"""Tokens of a reply beside its answer: a few words that lead to it, quotes, a full stop."""
SHORT = 300
"""Characters of a reply in which numbers in words are looked for."""
FEW = 2
"""Lists that an explanation may name: the one and another."""
TWICE = 2
"""A list so many times as long as the right one is no answer: it names whatever there is."""


class Answers(ABC, Generic[A]):
    rule: ClassVar[str]
    """What the prompt says of the form of the reply."""
    lead: ClassVar[str | None] = None
    """What an answer without reasoning begins with, if the rule says so."""
    floor: ClassVar[float] = 0.0
    """What a blind guess scores."""

    @abstractmethod
    def write(self, answer: A) -> str: ...

    @abstractmethod
    def read(self, reply: str, question: Question[A]) -> A | None: ...

    @abstractmethod
    def guess(self, dice: Dice, gold: A) -> A:
        """What somebody says who knows the form of an answer and nothing of the context."""

    @abstractmethod
    def reference(self, answer: A) -> Reference: ...

    def score(self, answer: A, gold: A) -> float:
        return float(answer == gold)

    def trivial(self, question: Question[A]) -> Mapping[str, str]:
        return {}

    def budget(self, gold: A) -> int:
        """Tokens that a reply may need: two for three characters are more than tokenizers take for words."""
        return SPARE + 2 * len(self.write(gold)) // 3


class Claim(NamedTuple):
    """What sentences say that answer in the question's words: `The word is not present in the context.`"""

    yes: str
    no: str

    def answers(self, text: str) -> list[str]:
        plain = (sentence for sentence in _SENTENCE.split(text) if not _CONTRAST.search(sentence))
        found = (match for sentence in plain if (match := _claim(self).search(sentence)))
        return ["no" if (match["not"] is None) == (match["no"] is not None) else "yes" for match in found]


PRESENT = Claim(yes="present|there|found|appears?|occurs?|in the context", no="absent|missing")
SAME = Claim(yes="same", no="different")

_CONTRAST = re.compile(r"\b(?:but|although|though|however|except|while|whereas|only|if|whether)\b", re.IGNORECASE)
"""Where a sentence says two things: `The words are present, but not in this order.`"""
_SENTENCE = re.compile(r"(?<=[.!])\s|\n")


@lru_cache(maxsize=8)
def _claim(claim: Claim) -> re.Pattern[str]:
    return re.compile(
        r"\b(?:is|are|was|were|do|does|did|has|have|appears?|occurs?|belongs?)(?:(?P<not>n['’]t| not| never)\b|\b)"
        rf"[^.,:?!\n]{{0,40}}?\b(?:(?:{claim.yes})|(?P<no>{claim.no}))\b",
        re.IGNORECASE,
    )


class YesNo(Answers[str]):
    rule = "Answer with yes or no and nothing else."
    floor = 0.5
    _choices = Choices({"yes": "yes", "no": "no"})

    def __init__(self, claim: Claim | None = None) -> None:
        self._claimed = claim and claim.answers

    def write(self, answer: str) -> str:
        return answer

    def read(self, reply: str, question: Question[str]) -> str | None:
        return self._choices.read(reply, claimed=self._claimed)

    def guess(self, dice: Dice, gold: str) -> str:
        return dice.choice(("yes", "no"))

    def reference(self, answer: str) -> Reference:
        return answer

    def trivial(self, question: Question[str]) -> Mapping[str, str]:
        return {"always yes": "yes", "yes or no": "yes or no"}


class Word(Answers[str]):
    rule = "Reply with that word and nothing else."

    def write(self, answer: str) -> str:
        return answer

    def read(self, reply: str, question: Question[str]) -> str | None:
        word = read_word(reply, question.ask)
        return word and question.gold if word and word.casefold() == question.gold.casefold() else word

    def guess(self, dice: Dice, gold: str) -> str:
        return "unknown"

    def reference(self, answer: str) -> Reference:
        return answer


_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMERALS = Choices(
    {
        **{word: str(n) for n, word in enumerate(_ONES)},
        **{word: str(10 * n) for n, word in enumerate(_TENS, 2)},
        **{
            f"{tens}{joint}{_ONES[n]}": str(10 * m + n)
            for m, tens in enumerate(_TENS, 2)
            for n in range(1, 10)
            for joint in " -"
        },
        "once": "1",
        "twice": "2",
        "thrice": "3",
    }
)


class Number(Answers[int]):
    rule = "Reply with that number and nothing else."

    def write(self, answer: int) -> str:
        return str(answer)

    def read(self, reply: str, question: Question[int]) -> int | None:
        number = stated(reply, read_number, find_numbers)
        if number is None and len(reply) <= SHORT and (word := _NUMERALS.read(reply)):
            return int(word)
        return number

    def guess(self, dice: Dice, gold: int) -> int:
        return dice.between(1, 100)

    def reference(self, answer: int) -> Reference:
        return answer


class OneOf(Answers[str]):
    """One of the question's options, each a name such as `Agent C`, whose last word may stand alone for it."""

    rule = "Reply with that name and nothing else."

    def write(self, answer: str) -> str:
        return answer

    def read(self, reply: str, question: Question[str]) -> str | None:
        names = _names(question.options)

        def otherwise(text: str) -> Sequence[str]:
            """Whatever is named, unless it is everything."""
            return latest(text, names.find) if len({found.answer for found in names.find(text)}) <= FEW else []

        return agreed(said(tidy(spoken(reply)), names.whole, names.find, otherwise=otherwise))

    def guess(self, dice: Dice, gold: str) -> str:
        return "unknown"

    def reference(self, answer: str) -> Reference:
        return answer

    def trivial(self, question: Question[str]) -> Mapping[str, str]:
        return {"every name": ", ".join(question.options)}


class ListName(OneOf):
    """`List 3`, or `no` where it may be none of them."""

    rule = 'Reply with the name of that list, such as "List 1", and nothing else.'

    def __init__(self, none: bool) -> None:
        self._none = none

    def guess(self, dice: Dice, gold: str) -> str:
        return "no" if self._none else "List 1"


class _Names(Choices):
    def whole(self, text: str) -> str | None:
        """A name, or the end of one."""
        return super().whole(text) or next((name for name in self.words.values() if name.endswith(f" {text}")), None)


@lru_cache(maxsize=64)
def _names(options: tuple[str, ...]) -> Choices:
    names = {option.lower(): option for option in options}
    return _Names({**names, "none": "no"} if "no" in names else names)


@dataclass(frozen=True)
class Words:
    """A list of words or numbers."""

    items: tuple[str, ...]
    trivial: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]], compare=False, repr=False
    )
    """Of a gold answer: lists that somebody has without doing the task."""
    ordered: bool = field(default=True, compare=False, repr=False)

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

    rule = "Reply with those words in that order, separated by commas, and nothing else."

    def write(self, answer: Words) -> str:
        return ", ".join(answer.items)

    def read(self, reply: str, question: Question[Words]) -> Words | None:
        items = read_list(reply)
        return None if items is None else Words(spelt(items, question.gold.items))

    def guess(self, dice: Dice, gold: Words) -> Words:
        return Words(("unknown",))

    def reference(self, answer: Words) -> Reference:
        return list(answer.items)

    def score(self, answer: Words, gold: Words) -> float:
        if len(answer.items) > TWICE * len(gold.items):
            return 0.0
        return above(gold.like(answer), gold.worth_nothing)

    def trivial(self, question: Question[Words]) -> Mapping[str, str]:
        return {name: ", ".join(items) for name, items in question.gold.trivial.items()}


class Copy(Listing):
    """The whole context, or what becomes of it."""

    rule = "Reply with the result in the same form, separated by commas, and nothing else."

    def reference(self, answer: Words) -> Reference:
        return ", ".join(answer.items)

    def budget(self, gold: Words) -> int:
        return SPARE + len(self.write(gold))  # digits may take a token each


class Set(Listing):
    """Words in any order."""

    rule = "Reply with those words, separated by commas, and nothing else."


class FinalSet(Set):
    """Words in any order, after whatever thinking it took."""

    rule = "End your reply with a line such as: FINAL ANSWER: word1, word2, word3"
    lead = FINAL

    def write(self, answer: Words) -> str:
        return f"FINAL ANSWER: {super().write(answer)}"


class FinalNumber(Number):
    rule = "End your reply with a line such as: FINAL ANSWER: 42"
    lead = FINAL

    def write(self, answer: int) -> str:
        return f"FINAL ANSWER: {answer}"


@dataclass(frozen=True)
class Hands:
    """What each of some agents has."""

    of: tuple[tuple[str, tuple[str, ...]], ...]
    everything: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """Of a gold answer: every word that was ever named."""

    def like(self, other: "Hands") -> float:
        """The mean over agents of what the sets share; an agent who is left out has nothing."""
        theirs = dict(other.of)
        return sum(jaccard(theirs[name], own) if name in theirs else 0.0 for name, own in self.of) / len(self.of)

    @cached_property
    def worth_nothing(self) -> float:
        return self.like(Hands(tuple((name, self.everything) for name, _ in self.of)))


class FinalHands(Answers[Hands]):
    lead = FINAL
    rule = (
        "End your reply with the line FINAL ANSWER: and, below it, a line for each agent, such as:\n"
        "FINAL ANSWER:\nAgent A: word1, word2\nAgent B: word3"
    )

    def write(self, answer: Hands) -> str:
        return "\n".join(["FINAL ANSWER:", *(f"{name}: {', '.join(words) or 'none'}" for name, words in answer.of)])

    def read(self, reply: str, question: Question[Hands]) -> Hands | None:
        gold = question.gold.of
        found = read_named_lists(reply, [name for name, _ in gold])
        if found is None:
            return None
        return Hands(tuple((name, spelt(found[name], words)) for name, words in gold if name in found))

    def guess(self, dice: Dice, gold: Hands) -> Hands:
        return Hands(tuple((name, ("unknown",)) for name, _ in gold.of))

    def reference(self, answer: Hands) -> Reference:
        return {name: list(words) for name, words in answer.of}

    def score(self, answer: Hands, gold: Hands) -> float:
        if sum(len(words) for _, words in answer.of) > TWICE * sum(len(words) for _, words in gold.of):
            return 0.0
        return above(gold.like(answer), gold.worth_nothing)

    def trivial(self, question: Question[Hands]) -> Mapping[str, str]:
        gold = question.gold
        return {"every word for everyone": self.write(Hands(tuple((name, gold.everything) for name, _ in gold.of)))}


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


QUOTED = re.compile(r'"([^"\n]*)"')
"""The words that a question names."""
