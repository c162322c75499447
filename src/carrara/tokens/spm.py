"""SentencePiece vocabularies, through the `sentencepiece` library.

Control pieces (`[INST]`, `</s>`) are never matched in a text: the library treats them as text, as is wanted here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrara.tokens.base import ChatFormat

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

_STRETCH = 1 << 20
"""Characters encoded at once: the library takes some 50 bytes of memory a character."""
_BETWEEN_WORDS = re.compile(r"(?<=[A-Za-z.,;]) (?=[A-Za-z])")


@dataclass(frozen=True)
class SentencePieces:
    """Counts with one SentencePiece model, which puts a space before every text."""

    name: str
    chat: ChatFormat | None
    opening: int
    model: SentencePieceProcessor

    def count(self, text: str) -> int:
        return sum(len(self.model.encode(stretch)) for stretch in stretches(text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        if any(len(text) > _STRETCH for text in texts):
            return [self.count(text) for text in texts]
        return [len(ids) for ids in self.model.encode(list(texts))]


def stretches(text: str) -> Iterator[str]:
    """A long text in parts whose counts add up to the whole's.

    No piece of Mistral's vocabularies has a space after its first letters, so nothing merges across a space between two
    words; and the space itself may go, because the library puts one before every part.
    """
    start = 0
    while len(text) - start > _STRETCH and (space := _BETWEEN_WORDS.search(text, start + _STRETCH)):
        yield text[start : space.start()]
        start = space.end()
    yield text[start:] if start else text


def load(model: bytes) -> SentencePieceProcessor:
    from sentencepiece import SentencePieceProcessor

    return SentencePieceProcessor(model_proto=model)
