"""How texts become a model's tokens and its tokens a reply: a vocabulary of words, a model's own way, or bytes."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from carrara.recurrent.vocabulary import ANSWER, END, PAD, Vocabulary


class TextCodec(Protocol):
    end: int
    """The token that ends an answer."""

    @property
    def pad(self) -> int | None:
        """What fills up the last segment; None: it is left as short as it is."""

    def encode(self, text: str) -> list[int]: ...

    def question(self, ask: str) -> list[int]:
        """What is read before the answer."""

    def answer(self, text: str) -> list[int]:
        """An answer with its end, as the model is to say it."""

    def says(self, text: str) -> bool:
        """Whether the model can say it."""

    def decode(self, ids: Iterable[int]) -> str: ...


class Words:
    """A small vocabulary, with a token of its own between question and answer."""

    end, pad = END, PAD

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.encode, self.decode, self._said = vocabulary.encode, vocabulary.decode, vocabulary.said

    def question(self, ask: str) -> list[int]:
        return [*self.encode(ask), ANSWER]

    def answer(self, text: str) -> list[int]:
        return [*self.encode(text), END]

    def says(self, text: str) -> bool:
        return all(i < self._said for i in self.encode(text))


class Text:
    """Question and answer each on a line of its own; by bytes, where nothing else is said."""

    pad = None

    def __init__(self, own: Any = None) -> None:
        self._own = own
        self.end: int = getattr(own, "end", ord("\n"))

    def encode(self, text: str) -> list[int]:
        if hasattr(self._own, "encode"):
            return list(self._own.encode(text))
        return list(text.encode())

    def question(self, ask: str) -> list[int]:
        return self.encode(f"\n{ask}\n")

    def answer(self, text: str) -> list[int]:
        return [*self.encode(text), self.end]

    def says(self, text: str) -> bool:
        return True

    def decode(self, ids: Iterable[int]) -> str:
        if hasattr(self._own, "decode"):
            return str(self._own.decode(list(ids)))
        return bytes(i for i in ids if i < 256).decode(errors="replace")


def likeliest(chances: Sequence[float]) -> int:
    """The place of the greatest; of equal ones the first."""
    return max(range(len(chances)), key=lambda place: (chances[place], -place))
