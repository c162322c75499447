"""What all tests of this suite share: labels, phrasings, and the published scorer beside the sound one."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Protocol, TypeVar

from carrara.answers.contract import behind_label
from carrara.core.types import ANSWER, Question
from carrara.parts.answered import A
from carrara.parts.asking import ContextTest
from carrara.tasks.minerva import _published


class Hidden(Protocol):
    """What every hidden structure has."""

    @property
    def labels(self) -> Mapping[str, str]: ...


class Asking(Protocol):
    """What all parameters have."""

    @property
    def phrasing(self) -> tuple[int, ...]: ...


L = TypeVar("L", bound=Hidden)
P = TypeVar("P", bound=Asking)


Category = Literal[
    "search",
    "recall and edit",
    "match and compare",
    "spot the differences",
    "compute on sets and lists",
    "stateful processing",
    "composite",
]
"""The paper's (Table 10)."""


class Minerva(ContextTest[P, L, A]):
    category: ClassVar[Category]
    published_as: ClassVar[str]
    """The task of the published files, whose scorer is the paper's."""

    def labels(self, hidden: L) -> Mapping[str, str]:
        return hidden.labels

    def phrasings(self, params: P) -> Sequence[int]:
        return params.phrasing

    def published(self, reply: str, question: Question[A]) -> Mapping[str, float]:
        name = self.published_name(question.labels)
        own = reply if name in _published.MARKED else behind_label(reply)
        return {"minerva": _published.primary(name, self.reference(question.gold), own)}

    def reference(self, gold: A) -> _published.Reference:
        return _published.reference(gold)

    def published_name(self, labels: Mapping[str, str]) -> str:
        return self.published_as


class YesOrNo(Minerva[P, L, str]):
    """Tests whose answer is yes or no."""

    def shown_answer(self, hidden: L, gold: str) -> Mapping[str, str]:
        return {ANSWER: gold}
