"""Answer types of values from the text: one value, or several in any order."""

from collections.abc import Sequence

from carrara.answers.kinds import Answers
from carrara.core.keys import Dice
from carrara.core.types import Question
from carrara.tasks.classic import _reading
from carrara.tasks.classic._values import Kind

SPARE = 32
"""Tokens of a reply in addition to its values."""


class Value(Answers[str]):
    """A value of one kind.

    Args:
        kind: The form of the value.
        budget: The tokens of a reply. None: those of the longest value, and some to spare.
    """

    def __init__(self, kind: Kind, budget: int | None = None) -> None:
        self._kind, self._budget = kind, SPARE + kind.tokens if budget is None else budget

    def write(self, answer: str) -> str:
        return answer

    def read(self, reply: str, question: Question[str]) -> str | None:
        return _reading.one(reply, self._kind, question.ask)

    def guess(self, dice: Dice, gold: str, options: Sequence[str] = ()) -> str:
        return self._kind.draw(dice)

    def chance_level(self, gold: str, options: Sequence[str] = ()) -> float:
        return 1 / self._kind.ways

    def budget(self, gold: str) -> int:
        return self._budget


class Values(Answers[tuple[str, ...]]):
    """Several values in any order. Their form tells which of the task's kinds they have."""

    def __init__(self, *kinds: Kind) -> None:
        self._kinds = kinds

    def _kind(self, gold: tuple[str, ...]) -> Kind:
        return next(kind for kind in self._kinds if kind.whole(gold[0]) is not None)

    def write(self, answer: tuple[str, ...]) -> str:
        return ", ".join(answer)

    def read(self, reply: str, question: Question[tuple[str, ...]]) -> tuple[str, ...] | None:
        kind = self._kind(question.gold)
        if len(question.gold) > 1:
            return _reading.several(reply, kind, question.ask)
        answer = _reading.one(reply, kind, question.ask)
        return None if answer is None else (answer,)

    def guess(self, dice: Dice, gold: tuple[str, ...], options: Sequence[str] = ()) -> tuple[str, ...]:
        return tuple(sorted(self._kind(gold).distinct(dice, len(gold))))

    def chance_level(self, gold: tuple[str, ...], options: Sequence[str] = ()) -> float:
        return _reading.blind(self._kind(gold).ways, len(gold))

    def score(self, answer: tuple[str, ...], gold: tuple[str, ...]) -> float:
        return _reading.right(answer, gold)

    def budget(self, gold: tuple[str, ...]) -> int:
        return SPARE + self._kind(gold).tokens * len(gold)
