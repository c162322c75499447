"""Conversion of texts to a model's tokens and back: by a small vocabulary, by the model's own methods, or by bytes."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from carrara.recurrent.vocabulary import ANSWER, END, PAD, Vocabulary


class TextCodec(Protocol):
    end: int
    """The token that ends an answer."""

    @property
    def pad(self) -> int | None:
        """The token that fills the last segment. None: it is left shorter."""

    def encode(self, text: str) -> list[int]: ...

    def question(self, ask: str) -> list[int]:
        """Return the tokens that are read before the answer."""

    def answer(self, text: str) -> list[int]:
        """Return the tokens of an answer, with its end."""

    def can_say(self, text: str) -> bool:
        """Return whether the model can say a text."""

    def decode(self, ids: Iterable[int]) -> str: ...


class Words:
    """A small vocabulary, with a special token between question and answer."""

    end, pad = END, PAD

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.encode, self.decode, self._outputs = vocabulary.encode, vocabulary.decode, vocabulary.outputs

    def question(self, ask: str) -> list[int]:
        return [*self.encode(ask), ANSWER]

    def answer(self, text: str) -> list[int]:
        return [*self.encode(text), END]

    def can_say(self, text: str) -> bool:
        return all(i < self._outputs for i in self.encode(text))


class Text:
    """Question and answer, each on a line of its own. Tokens are bytes if the model has no `encode`."""

    pad = None

    def __init__(self, model: Any = None) -> None:
        self._model = model
        self.end: int = getattr(model, "end", ord("\n"))

    def encode(self, text: str) -> list[int]:
        if hasattr(self._model, "encode"):
            return list(self._model.encode(text))
        return list(text.encode())

    def question(self, ask: str) -> list[int]:
        return self.encode(f"\n{ask}\n")

    def answer(self, text: str) -> list[int]:
        return [*self.encode(text), self.end]

    def can_say(self, text: str) -> bool:
        return True

    def decode(self, ids: Iterable[int]) -> str:
        if hasattr(self._model, "decode"):
            return str(self._model.decode(list(ids)))
        return bytes(i for i in ids if i < 256).decode(errors="replace")


def most_probable(chances: Sequence[float]) -> int:
    """Return the place of the greatest number. The first, if several are equal."""
    return max(range(len(chances)), key=lambda place: (chances[place], -place))
