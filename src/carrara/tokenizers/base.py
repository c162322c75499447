"""The interface of tokenizers: a name, a count, and the form of a conversation."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from carrara.types import CALL_ROLES, Message

NO_CALLS = "choose a form of the task without them, such as `form=chat`"
"""What to do about calls of tools that cannot be written."""


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


def has_calls(messages: Sequence[Message]) -> bool:
    """Return whether a conversation has calls of tools or their results."""
    return any(message.role in CALL_ROLES for message in messages)


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
