"""Answer types of values from the text: one value, or several in any order.

>>> from carrara.types import Question
>>> from carrara.tasks.classic._values import NUMBER
>>> which = Question("Which?", ("1234567", "4821937"), (), 0.0)
>>> Values(NUMBER).read("FINAL ANSWER: 4,821,937 and 1234567", which).answer
('1234567', '4821937')
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from math import comb
from typing import Any

from carrara.answers import AnswerType, asks_for
from carrara.answers.cues import affirmative_sentences
from carrara.answers.types import AROUND
from carrara.rng import Rng
from carrara.tasks.classic._published import normalize
from carrara.tasks.classic._values import Kind
from carrara.types import Question

LONGEST = 200
"""Characters of an answer. What is longer is no answer, but a text that may have one."""


class FreeAnswer(AnswerType[tuple[str, ...]]):
    """A short text. It is right if it is one of the accepted ones, without regard to case, articles and punctuation.

    >>> from carrara.types import Question
    >>> where = Question("Where?", ("in Normandy", "Normandy"), (), 0.0)
    >>> answer = FreeAnswer().read("FINAL ANSWER: the Normandy.", where).answer
    >>> answer, FreeAnswer().score(answer, where.gold)
    (('the Normandy',), 1.0)
    """

    rule = asks_for("the answer alone, in as few words as possible")
    says_no = True

    @staticmethod
    def normalize(text: str) -> str:
        """Return a text as SQuAD compares it.

        >>> FreeAnswer.normalize("The  U.S. Army")
        'us army'
        """
        return normalize(text) or text.strip()

    def write(self, answer: tuple[str, ...]) -> str:
        return answer[0]

    def parse_value(self, text: str, question: Question[tuple[str, ...]]) -> tuple[str, ...] | None:
        text = text.strip(AROUND)
        return (text,) if text and len(text) <= LONGEST and "\n" not in text else None

    def guesses(self, gold: tuple[str, ...], options: Sequence[str]) -> Sequence[tuple[str, ...]]:
        return [("yes",), ("no",)] if self.normalize(gold[0]) in ("yes", "no") else [("unknown",)]

    def score(self, answer: tuple[str, ...], gold: tuple[str, ...]) -> float:
        return float(not {*map(self.normalize, answer)}.isdisjoint(map(self.normalize, gold)))

    def budget(self, gold: tuple[str, ...]) -> int:
        return max(super(FreeAnswer, self).budget((reference,)) for reference in gold)


_KEY = re.compile(r"(?<=[“\"])[^“”\"]+(?=[”\"])|\w+(?:-\w+)+|[0-9]{4,}")
_JOINTS = re.compile(r"(?:[\s,;:.!|&+=*•·\"'()\[\]-]|[0-9]{1,4}\b|\b(?:and|also|times?)\b)*", re.IGNORECASE)
SPARE = 32
"""Tokens of a reply in addition to its values."""


class Value(AnswerType[str]):
    """A value of one kind.

    Args:
        kind: The form of the value.
        budget: The tokens of a reply. None: those of the longest value, and some to spare.
    """

    def __init__(self, kind: Kind, budget: int | None = None) -> None:
        self._kind, self._budget = kind, SPARE + kind.tokens if budget is None else budget

    def write(self, answer: str) -> str:
        return answer

    def parse_value(self, text: str, question: Question[str]) -> str | None:
        value = self._kind.whole(text.strip(AROUND))
        return None if value in set(self._kind.find(question.ask)) else value

    def find_values(self, text: str, question: Question[str]) -> Iterator[str]:
        for sentence in affirmative_sentences(text, question):
            yield from _without_asked(self._kind.find(sentence), self._kind, question)

    def guess(self, rng: Rng, gold: str, options: Sequence[str] = ()) -> str:
        return self._kind.draw(rng)

    def chance_level(self, gold: str, options: Sequence[str] = ()) -> float:
        return 1 / self._kind.ways

    def budget(self, gold: str) -> int:
        return self._budget


class Values(AnswerType[tuple[str, ...]]):
    """Several values in any order. Their form tells which of the task's kinds they have."""

    several_lines = True

    def __init__(self, *kinds: Kind) -> None:
        self._kinds = kinds

    def _kind(self, gold: tuple[str, ...]) -> Kind:
        return next(kind for kind in self._kinds if kind.whole(gold[0]) is not None)

    def write(self, answer: tuple[str, ...]) -> str:
        return ", ".join(answer)

    def parse_value(self, text: str, question: Question[tuple[str, ...]]) -> tuple[str, ...] | None:
        """Return the values of a text that is a list of them and nothing else."""
        kind = self._kind(question.gold)
        values = _without_asked(kind.find(text), kind, question)
        if not values or (len(question.gold) == 1 and len(values) > 1):
            return None
        rest = kind.pattern.sub(" ", text)
        for key in _KEY.findall(question.ask):
            rest = re.sub(re.escape(key), " ", rest, flags=re.IGNORECASE)
        return values if _JOINTS.fullmatch(rest) else None

    def find_values(self, text: str, question: Question[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
        """Yield the values of each sentence that states some; of the whole text where the question has several keys."""
        kind = self._kind(question.gold)
        texts = [text] if len(_KEY.findall(question.ask)) > 1 else affirmative_sentences(text, question)
        for part in texts:
            values = _without_asked(kind.find(part), kind, question)
            if len(question.gold) == 1:
                yield from ((value,) for value in values)
            elif values:
                yield values

    def guess(self, rng: Rng, gold: tuple[str, ...], options: Sequence[str] = ()) -> tuple[str, ...]:
        return tuple(sorted(self._kind(gold).distinct(rng, len(gold))))

    def chance_level(self, gold: tuple[str, ...], options: Sequence[str] = ()) -> float:
        return guess_score(self._kind(gold).ways, len(gold))

    def score(self, answer: tuple[str, ...], gold: tuple[str, ...]) -> float:
        return set_score(answer, gold)

    def budget(self, gold: tuple[str, ...]) -> int:
        return SPARE + self._kind(gold).tokens * len(gold)


def _without_asked(values: Iterable[str], kind: Kind, question: Question[Any]) -> tuple[str, ...]:
    """Return different values in order, without those that the question names."""
    return tuple(sorted(set(values).difference(kind.find(question.ask))))


def set_score(answer: Sequence[str], gold: Sequence[str]) -> float:
    """Return the right names of a set less the wrong ones, as a share of the gold names, but at least 0.

    Without wrong names it is the share of the gold names that are found. A set of all names scores 0 if half of them or
    more are wrong.

    >>> set_score("ab", "abcd"), set_score("abcd", "abcd"), set_score("abcdef", "abcd"), set_score("abcdefgh", "abcd")
    (0.5, 1.0, 0.5, 0.0)
    """
    hits = len(set(answer) & set(gold))
    return max(0, 2 * hits - len(set(answer))) / len(gold)


def guess_score(known: int, gold: int) -> float:
    """Return the mean score of a set that is drawn from all known names, with as many names as the gold set.

    >>> guess_score(20, 5), guess_score(5, 5)
    (0.016511867905056758, 1.0)
    """
    draws = [comb(gold, hits) * comb(known - gold, gold - hits) for hits in range(gold + 1)]
    return sum(n * max(0, 2 * hits - gold) for hits, n in enumerate(draws)) / (gold * comb(known, gold))
