"""What a tokenizer is to this package: a name, a count, and how it writes a conversation."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from carrara.types import Message


class ChatPart(NamedTuple):
    """A stretch of a prompt as it is sent: plain text, or one special token, across which text never merges."""

    text: str
    special: bool = False


class ChatFormat(Protocol):
    """How a model's chat template writes a conversation, up to where the reply begins."""

    def parts(self, messages: Sequence[Message]) -> list[ChatPart]: ...


class Tokenizer(Protocol):
    """Counts tokens. `<|im_end|>` inside a text is text, not a token: contexts are untrusted."""

    @property
    def name(self) -> str:
        """As it stands in item ids: `gpt2`, `smollm2`, `hf:org/model`."""

    @property
    def chat(self) -> ChatFormat | None:
        """None: it is not known how conversations are written, and lengths count the messages' contents alone."""

    @property
    def opening(self) -> int:
        """Tokens put before a plain (base) prompt: 1 where the model's servers add a begin-of-sequence token."""

    def count(self, text: str) -> int: ...

    def count_many(self, texts: Sequence[str]) -> list[int]: ...


def count_chat(tokenizer: Tokenizer, messages: Sequence[Message]) -> int:
    """Tokens of a conversation as sent, up to where the reply begins."""
    if tokenizer.chat is None:
        return sum(tokenizer.count_many([m.content for m in messages]))
    parts = tokenizer.chat.parts(messages)
    texts = [part.text for part in parts if not part.special]
    return len(parts) - len(texts) + sum(tokenizer.count_many(texts))


def count_plain(tokenizer: Tokenizer, text: str) -> int:
    """Tokens of a plain prompt as a completion endpoint counts it."""
    return tokenizer.opening + tokenizer.count(text)
