"""Readers who never see the context: they know what answers a test has, and the question."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log

from carrara.core.types import ANSWER
from carrara.prompt.items import Item

BLIND = ("the commonest answer", "the question alone", "the answer before")
"""The names of the heuristics that never see the context."""


class Habits:
    """What answers items have: of themselves, with each word of their questions, and one after the other."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._answers: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._before: dict[str, str] = {}
        """The answer of the item that was taken last, by the part of the question."""
        self._beside: defaultdict[tuple[str, str], Counter[tuple[int, str]]] = defaultdict(Counter)
        for item in items:
            self._answers[_kind(item)][item.gold] += 1
            self._beside[_kind(item), item.gold].update(enumerate(item.question.ask.split()))

    def replies(self, item: Item) -> dict[str, str]:
        before = self._before.get(item.question.part, "")
        self._before[item.question.part] = item.gold
        return dict(zip(BLIND, (self._commonest(item), self._likeliest(item), before), strict=True))

    def _commonest(self, item: Item) -> str:
        return max(self._answers[_kind(item)].items(), key=lambda pair: pair[1], default=("", 0))[0]

    def _likeliest(self, item: Item) -> str:
        """Naive Bayes on the question's words at their places: knows what bored people do, and no story."""
        words, kind = list(enumerate(item.question.ask.split())), _kind(item)

        def likelihood(answer: str) -> float:
            count, beside = self._answers[kind][answer], self._beside[kind, answer]
            return log(count) + sum(log((beside[word] + 0.1) / (count + 1)) for word in words)

        return max(self._answers[kind], key=likelihood, default="")


def _kind(item: Item) -> str:
    labels = item.question.labels.items()
    return " ".join([item.question.part, *(f"{name}={value}" for name, value in sorted(labels) if name != ANSWER)])
