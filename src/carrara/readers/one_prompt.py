"""Readers that ask the model once, with the item's own prompt: the whole context, none of it, or the needed facts."""

from collections.abc import Sequence
from dataclasses import dataclass

from carrara.constants import WHOLE
from carrara.items.item_id import ItemId
from carrara.items.registry import load
from carrara.readers.context import Part, ReaderContext
from carrara.readers.reader import Estimate, Reader, ReaderModel
from carrara.util.errors import UsageError

WITHHELD = "[The text is not shown. Give your best guess.]"
"""The text in place of the context for a closed-book answer."""


@dataclass(frozen=True)
class Whole(Reader):
    """The context stands in the prompt."""

    name = WHOLE
    converses = True

    async def read(self, context: ReaderContext, question: str, model: ReaderModel) -> str:
        return await model.answer()


@dataclass(frozen=True)
class ClosedBook(Reader):
    """The model sees the question alone, and guesses. Its score shows what can be known without the context."""

    name = "none"
    converses = True

    async def read(self, context: ReaderContext, question: str, model: ReaderModel) -> str:
        return await model.answer(WITHHELD)

    def estimate(self, prompt: int, around: int, answer: int) -> Estimate:
        return Estimate(1, around, answer)


@dataclass(frozen=True)
class Evidence(Reader):
    """The model sees only the facts that the answer needs, in order, as if a perfect retriever had found them."""

    name = "evidence"
    converses = True

    def check(self, first: ItemId) -> None:
        if not load(first.task).evidence_decides:
            raise UsageError(f"the evidence of {first.task} does not decide its answer without the rest: leave it out")

    async def read(self, context: ReaderContext, question: str, model: ReaderModel) -> str:
        return await model.answer(evidence_parts(context))

    def estimate(self, prompt: int, around: int, answer: int) -> Estimate:
        return Estimate(1, around, answer)


def evidence_parts(context: ReaderContext) -> Sequence[Part]:
    """Return the opening of the context and its needed facts as parts."""
    opening = [context.opening] if context.opening[1] else []
    return join_passages([*opening, *((fact.start, fact.end) for fact in context.needed)], context.separator)


def join_passages(passages: Sequence[tuple[int, int]], separator: str) -> list[Part]:
    """Return passages as parts with separators between them."""
    parts: list[Part] = []
    for start, end in passages:
        parts += ([separator] if parts else []) + [[start, end]]
    return parts
