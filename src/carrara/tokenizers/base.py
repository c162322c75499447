"""The interface of tokenizers: a name, a count, and the form of a conversation."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from carrara.types import Message


class ChatPart(NamedTuple):
    """A part of a prompt as sent: plain text, or one special token, across which text never merges."""

    text: str
    special: bool = False


class ChatFormat(Protocol):
    """The form in which a model's chat template writes a conversation, up to the beginning of the reply."""

    def parts(self, messages: Sequence[Message]) -> list[ChatPart]: ...


class Tokenizer(Protocol):
    """A counter of tokens. `<|im_end|>` inside a text is text, not a token, because contexts are untrusted."""

    @property
    def name(self) -> str:
        """The name in item ids: `gpt2`, `smollm2`, `hf:org/model`."""

    @property
    def chat(self) -> ChatFormat | None:
        """The chat format. None: it is unknown, and lengths count only the contents of messages."""

    @property
    def opening(self) -> int:
        """Tokens before a plain (base) prompt: 1 if the model's servers add a begin-of-sequence token."""

    def count(self, text: str) -> int: ...

    def count_many(self, texts: Sequence[str]) -> list[int]: ...


def count_chat(tokenizer: Tokenizer, messages: Sequence[Message]) -> int:
    """Return the tokens of a conversation as sent, up to the beginning of the reply."""
    if tokenizer.chat is None:
        return sum(tokenizer.count_many([m.content for m in messages]))
    parts = tokenizer.chat.parts(messages)
    texts = [part.text for part in parts if not part.special]
    return len(parts) - len(texts) + sum(tokenizer.count_many(texts))


def count_plain(tokenizer: Tokenizer, text: str) -> int:
    """Return the tokens of a plain prompt as a completion endpoint counts it."""
    return tokenizer.opening + tokenizer.count(text)
