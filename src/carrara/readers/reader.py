"""Readers: the ways in which a context reaches a model.

    whole                       the context stands in the prompt
    evidence                    only the facts that the answer needs stand in the prompt
    notes:chunk=4k,size=1k      the model reads passages, rewrites its notes after each, and answers from the notes

A reader is a frozen dataclass whose fields are its settings, and a method that reads one context for one question. It
asks the model as often as it wants, and ends with the reply that is scored (registry.py finds it by its name).
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

from carrara.constants import WHOLE
from carrara.items.item_id import ItemId
from carrara.util.errors import UsageError, nearest
from carrara.util.quantities import read_length, write_length

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from inspect_ai.model import ChatMessage, ModelOutput
    from inspect_ai.tool import ToolInfo

    from carrara.items.prompt import FollowUps
    from carrara.readers.context import Part, ReaderContext
    from carrara.types import PromptTemplate

Trouble = Literal["", "limited", "unread"]


class LimitReachedError(Exception):
    """A reader has used up a limit, such as its number of calls, and there is no answer."""


class Exchange(NamedTuple):
    """The input and output of one call, as far as the tracing of facts needs them."""

    parts: "Sequence[Part]"
    """The input: texts, and positions of passages of the context."""
    output: str


class Round(NamedTuple):
    """A compaction of what a reader had read of the context, for the tracing of facts."""

    parts: "Sequence[Part]"
    """What was left: texts, and positions of passages of the context."""
    end: int
    """The position after the last character of the context that had been read."""
    before: int
    """The tokens that were compacted."""
    after: int
    """The tokens that were left."""
    budget: int | None = None
    """The most tokens that might be left. None: any number."""


@dataclass(frozen=True)
class Reading:
    """The outcome of reading: the reply that is scored, and what the model's calls do not show.

    Attributes:
        reply: The reply.
        trouble: `limited` if a limit was reached before the model answered by itself, `unread` if the model answered
            without calling a tool.
        seen: The texts that a store of the reader's own gave back for this answer.
        earlier: The calls that were made for an earlier question on the context, and serve this one too.
        store: Measurements of a store of the reader's own, such as `bytes`, `entries` and `answer_seconds`.
        rounds: The compactions of what was read, in order.

    Examples:
        >>> Reading("FINAL ANSWER: garden", seen=["Mary went to the garden."]).trouble
        ''
    """

    reply: str
    trouble: Trouble = ""
    seen: Sequence[str] | None = None
    earlier: Sequence[Exchange] = ()
    store: Mapping[str, Any] | None = None
    rounds: Sequence[Round] = ()


class Estimate(NamedTuple):
    """The requests that one item takes."""

    requests: int
    sent: int
    """Tokens of all prompts."""
    written: int
    """Tokens of all replies."""

    def with_follow_ups(self, follow_ups: "FollowUps") -> "Estimate":
        """Return the estimate of a conversation, whose requests have all messages and replies before them.

        >>> from carrara.items.prompt import FollowUps
        >>> Estimate(1, 100, 5).with_follow_ups(FollowUps(messages=2, tokens=20))
        Estimate(requests=3, sent=345, written=15)
        """
        requests = follow_ups.messages + 1
        later = follow_ups.tokens + follow_ups.messages * self.written
        return Estimate(requests * self.requests, requests * self.sent + later * requests // 2, requests * self.written)


def count_passages(tokens: int, most: int) -> int:
    """Return the number of passages of a text, about.

    >>> count_passages(3900, 512), count_passages(3900, 4096)
    (9, 1)
    """
    from carrara.corpora.chunks import typical_size  # it imports numpy, which no command needs to complete a name

    return max(1, -(-tokens // typical_size(most)))


class ReaderModel(Protocol):
    """The model under test, as a reader calls it. Every call is counted, limited, cached and logged.

    Examples:
        >>> async def last_passage(context, question, model):
        ...     notes = await model(f"Write down what matters for {question}: {context.passages(512)[-1]}")
        ...     return await model.answer(notes)
    """

    async def __call__(self, prompt: str, *, max_tokens: int | None = None) -> str:
        """Return the model's reply to a prompt, without its reasoning.

        Args:
            prompt: The prompt. Passages of the context in it are logged by their positions alone.
            max_tokens: The most tokens of the reply.

        Returns:
            The reply.
        """

    async def generate(
        self,
        messages: "Sequence[ChatMessage]",
        tools: "Sequence[ToolInfo]" = (),
        *,
        max_tokens: int | None = None,
        may_call: bool = True,
    ) -> "ModelOutput":
        """Return the model's output for a conversation.

        Args:
            messages: The messages of Inspect.
            tools: The tools that the model may call.
            max_tokens: The most tokens of the reply.
            may_call: Whether it may call a tool now.

        Returns:
            The output, with the calls of tools that the model asks for.
        """

    def limit(self, calls: int) -> "AbstractContextManager[None]":
        """Raise `LimitReachedError` in place of further calls within a block, whoever makes them.

        Args:
            calls: The most calls.

        Returns:
            A context manager.
        """

    def refer(self, message: "ChatMessage") -> "ChatMessage":
        """Return a message with references in place of the passages in it, for code that calls the model by itself.

        Args:
            message: The message.

        Returns:
            The message, or a copy with references.
        """

    async def answer(self, context: "str | Sequence[Part] | None" = None) -> str:
        """Return the model's reply to the item's own prompt.

        Args:
            context: What stands in place of the context: a text, or parts of which each is a text or the positions of
                a passage. None: the context stands there, whole.

        Returns:
            The reply.
        """


ReaderFunction = Callable[..., Awaitable[str | Reading]]
"""A reader as a function of a `ReaderContext`, a question and a `ReaderModel`."""


@dataclass(frozen=True)
class Reader(ABC):
    """A way in which a context reaches a model. The fields of a subclass are its settings.

    Attributes:
        name: The name of the reader.
        converses: Whether it can read for all messages of a conversation, not for one question alone.
    """

    name: ClassVar[str]
    converses: ClassVar[bool] = False

    @abstractmethod
    async def read(self, context: "ReaderContext", question: str, model: ReaderModel) -> str | Reading:
        """Read a context for a question, and return the reply that is scored.

        Args:
            context: The context.
            question: The question, as it stands after the context in the prompt.
            model: The model under test.

        Returns:
            The reply.

        Raises:
            LimitReachedError: A limit was reached, and there is no answer.
        """

    def check(self, first: ItemId) -> None:  # noqa: B027  # most readers take every task
        """Raise `UsageError` if the reader cannot read the items of a task.

        Args:
            first: The id of the task's first item.
        """

    def check_template(self, task: str, template: "PromptTemplate") -> None:
        """Raise `UsageError` if the reader would read for the first message of a conversation alone.

        Args:
            task: The name of the task.
            template: The template of an item.
        """
        if (template.history or template.follow_ups) and not self.converses:
            raise UsageError(
                f"{task} is a conversation of several questions, and the reader {self.name} reads for one: leave it out"
            )

    def check_items(self, ids: Iterable[str]) -> None:  # noqa: B027  # most readers take all of them
        """Raise `UsageError` if the reader cannot read one of these items.

        Args:
            ids: The ids of items of one task at one length.
        """

    def ready(self) -> None:  # noqa: B027  # most readers need nothing
        """Load whatever the reader needs, so that anything missing is reported before a run begins.

        Raises:
            UsageError: Something is missing.
        """

    sandbox = ""
    """The type of Inspect's sandbox in which code of the model runs, or TYPE:FILE. Empty if no code runs."""

    def estimate(self, prompt: int, around: int, answer: int) -> Estimate:
        """Return the requests for one item.

        Args:
            prompt: The tokens of the item's whole prompt.
            around: Those of its text around the context.
            answer: The tokens of a reply.
        """
        return Estimate(1, prompt, answer)

    @property
    def is_whole(self) -> bool:
        """Whether the context stands in the prompt, unchanged."""
        return self.name == WHOLE

    @classmethod
    def parse(cls, options: str) -> "Reader":
        """Return the reader with these settings: `chunk=4k,size=1k,blind`."""
        return cls(**cls.parse_settings(options, {field.name: field.default for field in fields(cls)}))

    @classmethod
    def parse_settings(cls, options: str, known: Mapping[str, Any]) -> dict[str, Any]:
        """Return settings by name.

        Args:
            options: The settings as a user writes them: `chunk=4k,blind`.
            known: The settings of the reader, with their defaults, whose types the values have.
        """
        settings: dict[str, Any] = {}
        for option in filter(None, (part.strip() for part in options.split(","))):
            name, equals, value = (part.strip() for part in option.partition("="))
            if name not in known:
                has = f"it has {', '.join(known)}" if known else "it has none"
                raise UsageError(f"the reader {cls.name} has no setting {name!r}{nearest(name, known)}; {has}")
            if name in settings:
                raise UsageError(f"the reader {cls.name}: {name} is given twice, leave one out")
            settings[name] = _read_setting(cls.name, name, type(known[name]), value, bool(equals))
        return settings

    def write_settings(self, names: Iterable[str]) -> str:
        """Return settings as a user writes them."""
        return ",".join(filter(None, (_write_setting(name, getattr(self, name)) for name in names)))

    def __str__(self) -> str:
        """Return the name with all settings, which is the same for equal readers."""
        settings = self.write_settings(field.name for field in fields(self))
        return f"{self.name}:{settings}" if settings else self.name


def _read_setting(reader: str, name: str, kind: type, value: str, has_value: bool) -> Any:
    if kind is bool:
        if has_value and value not in ("true", "false"):
            raise UsageError(f"the reader {reader}: {name}={value} is neither true nor false")
        return value != "false"
    if not value:
        raise UsageError(f"the reader {reader}: {name} has no value, write {name}=…")
    if kind is int:
        return read_length(value)
    return value


def _write_setting(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return name if value else ""
    if isinstance(value, int):
        return f"{name}={write_length(value)}"
    return f"{name}={value}" if value else ""
