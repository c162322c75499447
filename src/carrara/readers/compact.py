"""The reader `compact`: the context arrives in a conversation that is compacted whenever it outgrows a window.

An agent gets text as the results of tools, and its framework shortens the conversation when it becomes too long. Here
each passage of the context is such a result, and Inspect AI's strategies shorten the conversation: `edit` removes old
results, `trim` removes old messages, `summary` has the model summarize, `native` is the provider's own compaction. Or a
program compacts: `compact:command=./my-compactor`. Each compaction is a round, of which the reader keeps what was left.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from carrara.items.item_id import ItemId
from carrara.readers.context import Part, Passage, ReaderContext
from carrara.readers.function import load_object
from carrara.readers.memory import join_texts
from carrara.readers.reader import Estimate, Exchange, Reader, ReaderModel, Reading, Round, count_passages
from carrara.readers.sizes import Size
from carrara.util.errors import UsageError, nearest

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, CompactionStrategy
    from inspect_ai.tool import ToolInfo

    from carrara.readers.systems.program import Program

STRATEGIES = {
    "edit": "CompactionEdit",
    "trim": "CompactionTrim",
    "summary": "CompactionSummary",
    "native": "CompactionNative",
}
"""The strategies by name, with their classes in `inspect_ai.model`."""
PASSAGES = 8
"""The number of passages that fill a window, if the size of a passage is not given."""
ATTEMPTS = 8
"""The number of times that a conversation is compacted until it fits: some strategies take away little at a time."""
OVERHEAD = 30
"""The tokens that a call of the tool and its result take beside the passage, about."""
WRITTEN = 600
"""The tokens of a summary, about."""
FRAME = 64
"""The tokens that Inspect writes around a summary, about."""
NEXT = "next_part"
_TASK = (
    "You read a long text in {parts} parts, which the tool `{tool}` returns one after the other. Earlier parts may be "
    "removed or summarized when the conversation becomes too long."
)
_KNOWN = " When you have read all parts, you answer this question:\n\n{question}"
_BLIND = " When you have read all parts, you will be asked a question about the text."
_LIMIT = "The summary, without any analysis before it, must have at most {tokens} tokens (about {words} words)."
_SHOWN = "[The text was shown before, in parts.]"


Strategies = Callable[[int, int], "CompactionStrategy"]
"""Gives the strategy for a compaction of so many tokens, which leaves room for the second number of tokens."""


@dataclass(frozen=True)
class Compact(Reader):
    """The context arrives in a conversation that is compacted by a strategy of Inspect AI, or by a program."""

    window: int = 32768
    """Tokens of the conversation from which on it is compacted."""
    strategy: str = "summary"
    """`edit`, `trim`, `summary`, `native`, or module:Class of a strategy of your own."""
    chunk: int = 0
    """Tokens of a passage. 0: an eighth of the window."""
    blind: bool = False
    """Whether the question is asked only after the reading."""
    size: str = ""
    """What a compaction may leave: a share of the tokens before it, such as 20%, or tokens. Empty: any number."""
    command: str = ""
    """A program that compacts, in place of a strategy."""
    env: str = ""
    """The variables that the program inherits beside PATH, HOME and the like: NAME or NAME+NAME."""
    seconds: int = 120
    """The most seconds for a reply of the program."""
    workers: int = 4
    """The most processes of the program."""

    name = "compact"

    def __post_init__(self) -> None:
        for setting in ("window", "seconds", "workers"):
            if getattr(self, setting) < 1:
                raise UsageError(f"the reader compact: {setting} is 0, give 1 or more, such as window=32k")
        if self.strategy not in STRATEGIES and ":" not in self.strategy:
            raise UsageError(
                f"the reader compact has no strategy {self.strategy!r}{nearest(self.strategy, STRATEGIES)}; it has "
                f"{', '.join(STRATEGIES)}, or module:Class of your own"
            )
        if self.command and self.strategy != "summary":
            raise UsageError("the reader compact: either a strategy compacts or a command, leave one out")
        if self.env and not self.command:
            raise UsageError("the reader compact: env= is for a command, and there is none")
        if self._size and self.strategy in ("edit", "native"):
            raise UsageError(f"the reader compact: the strategy {self.strategy} cannot be given a size, leave it out")
        if self._size and self._size.tokens >= self.window:
            raise UsageError(f"the reader compact: size={self.size} is not less than its window")
        if self.command:
            _ = self._program

    @classmethod
    def parse(cls, options: str) -> "Compact":
        from carrara.readers.systems.reader import PART

        parts = [part[0].strip() for part in PART.finditer(options)]
        commands = [part.removeprefix("command=").strip() for part in parts if part.startswith("command=")]
        known = {field.name: field.default for field in fields(cls)}
        rest = ",".join(part for part in parts if not part.startswith("command="))
        try:
            settings = cls.parse_settings(rest, known)
        except UsageError as error:
            raise UsageError(f"{error}{'; put a word with a comma into quotes' if commands else ''}") from None
        if len(commands) > 1 or "" in commands:
            raise UsageError("the reader compact takes one command: write command=./my-compactor")
        if commands:
            settings["command"] = commands[0]
        return cls(**settings)

    def __str__(self) -> str:
        defaults = {field.name for field in fields(self) if getattr(self, field.name) == field.default}
        unused = (defaults & {"seconds", "workers"}) | ({"strategy"} if self.command else set())
        return f"{self.name}:{self.write_settings(f.name for f in fields(self) if f.name not in unused)}"

    @cached_property
    def _size(self) -> Size | None:
        return Size.parse(self.name, self.size)

    @cached_property
    def _program(self) -> "Program":
        from carrara.readers.systems.program import Program

        return Program.parse(self.name, self.command, self.env)

    def check(self, first: ItemId) -> None:
        if first.style == "base":
            raise UsageError("the reader compact is a conversation, and a base model only completes its prompt")

    def ready(self) -> None:
        if self.command:
            self._program.check()
        else:
            self._make_strategy(self.window)

    def budget(self, before: int) -> int | None:
        """Return the most tokens that a compaction of this many may leave. None: any number."""
        return self._size.of(before) if self._size else None

    @property
    def reads_texts(self) -> bool:
        """Whether the passages have to stand in the messages, because code that is not Inspect's reads them."""
        return bool(self.command) or self.strategy not in STRATEGIES

    def _make_strategy(self, before: int) -> "CompactionStrategy":
        """Return the strategy for a compaction of this many tokens."""
        import inspect_ai.model

        settings: dict[str, Any] = {}
        if self._size and self.strategy == "trim":
            settings["preserve"] = self._size.share_of(before)
        elif self._size and self.strategy == "summary":
            tokens = max(self._size.of(before) - FRAME, self._size.of(before) // 2)
            settings["instructions"] = _LIMIT.format(tokens=tokens, words=tokens * 3 // 4)
        kind: Any
        if self.strategy in STRATEGIES:
            kind = getattr(inspect_ai.model, STRATEGIES[self.strategy])
        else:
            kind = load_object(self.strategy, "a strategy of compaction")
        strategy = kind(**settings)
        if not isinstance(strategy, inspect_ai.model.CompactionStrategy):
            raise UsageError(f"{self.strategy} is no strategy of compaction: derive it from `CompactionStrategy`")
        return strategy

    def _strategies(
        self, context: ReaderContext, passages: Sequence[Passage], exchanges: list[Exchange]
    ) -> "Strategies":
        """Return what gives the strategy for each compaction of a context.

        Args:
            exchanges: Gets what a program was given and what it wrote.
        """
        if self.command:
            from carrara.readers.systems.compactor import CommandCompaction, Compactor

            compactor = Compactor.of(str(self), self._program, self.seconds, self.workers)
            question = "" if self.blind else context.ask
            compaction = CommandCompaction(compactor, question, partial(join_texts, context, passages), exchanges)

            def limited(before: int, room: int) -> CommandCompaction:
                compaction.tokens = min(room, self.budget(before) or room)
                return compaction

            return limited
        if self.strategy in STRATEGIES:
            return lambda before, room: self._make_strategy(before)
        own = self._make_strategy(0)
        return lambda before, room: own

    async def read(self, context: ReaderContext, question: str, model: ReaderModel) -> Reading:
        from inspect_ai.model import ChatMessageUser

        passages = context.passages(self.chunk or max(1, self.window // PASSAGES))
        purpose = _BLIND if self.blind else _KNOWN.format(question=context.ask)
        task = _TASK.format(parts=len(passages), tool=NEXT) + purpose
        exchanges = list[Exchange]()
        strategies = self._strategies(context, passages, exchanges)
        talk = _Conversation(self, strategies, context, model, ChatMessageUser(content=task, source="input"))
        for number, passage in enumerate(passages, 1):
            await talk.add(_call(number), _result(number, passage))
            talk.end = passage.end
        last = ChatMessageUser(content=context.prompt([_SHOWN])[-1].content)
        await talk.add(last)
        output = await model.generate(talk.messages, [next_part()], may_call=False)
        return Reading(output.completion, earlier=exchanges, rounds=talk.rounds)

    def estimate(self, prompt: int, around: int, answer: int) -> Estimate:
        text, size = max(0, prompt - around), self.chunk or max(1, self.window // PASSAGES)
        parts = count_passages(text, size)
        whole = text + parts * OVERHEAD + 2 * around
        last_size = min(whole, self.window)
        written = min(WRITTEN, self.budget(self.window) or WRITTEN, self.window // 2)
        calls_model = self.strategy == "summary" and not self.command
        times = max(0, -(-(whole - last_size) // max(1, self.window - written))) if calls_model else 0
        return Estimate(times + 1, times * self.window + last_size, times * written + answer)


class _Counted(NamedTuple):
    """A message whose tokens were counted."""

    text: str
    """The text of the message as it stands in the conversation, perhaps with an excerpt in place of a passage."""
    tokens: int
    parts: list[Part]


class _Conversation:
    """The messages so far, compacted whenever more do not fit."""

    def __init__(
        self,
        reader: Compact,
        strategies: Strategies,
        context: ReaderContext,
        model: ReaderModel,
        task: "ChatMessage",
    ) -> None:
        self._reader, self._strategies, self._context, self._model = reader, strategies, context, model
        self._counted = dict[str, _Counted]()
        """The messages that were counted, by their ids."""
        self._task = str(task.id)
        self.messages: list[ChatMessage] = []
        self.end = 0
        """The end of the last passage that was added."""
        self.rounds = list[Round]()
        self._append(task)

    async def add(self, *messages: "ChatMessage") -> None:
        more = sum(self._context.count(message.text) for message in messages)
        for _ in range(ATTEMPTS):
            before = self._size()
            if before + more <= self._reader.window or len(self.messages) < 2:
                break
            await self._compact(more)
            if self._size() >= before:
                break
        for message in messages:
            self._append(message)

    async def _compact(self, more: int) -> None:
        """Compact the messages once, with room for so many more tokens."""
        from inspect_ai.model import get_model

        before = self._tokens_read()
        around = self._size() - before - OVERHEAD * (len(self.messages) - 2)
        strategy = self._strategies(before, max(1, self._reader.window - around - more))
        self.messages, _ = await strategy.compact(get_model(), self.messages, [next_part()])
        parts = [part for message in self._read() for part in self._count(message).parts]
        self.rounds.append(Round(parts, self.end, before, self._tokens_read(), self._reader.budget(before)))

    def _append(self, message: "ChatMessage") -> None:
        counted = self._count(message)
        if not self._reader.reads_texts:
            message = self._model.refer(message)
        self._counted[str(message.id)] = counted._replace(text=message.text)
        self.messages.append(message)

    def _count(self, message: "ChatMessage") -> _Counted:
        counted = self._counted.get(str(message.id))
        if counted is None or counted.text != message.text:
            text = message.text
            counted = self._counted[str(message.id)] = _Counted(
                text, self._context.count(text), self._context.parts(text)
            )
        return counted

    def _read(self) -> "list[ChatMessage]":
        """Return the messages after the task: what was read, as far as it is left."""
        return [message for message in self.messages if str(message.id) != self._task]

    def _tokens_read(self) -> int:
        return sum(self._count(message).tokens for message in self._read())

    def _size(self) -> int:
        return sum(OVERHEAD + self._count(message).tokens for message in self.messages)


def next_part() -> "ToolInfo":
    """Return the tool that gives the next passage, as a model is told of it."""
    from inspect_ai.tool import ToolInfo

    return ToolInfo(name=NEXT, description="Return the next part of the text.")


def _call(number: int) -> "ChatMessage":
    from inspect_ai.model import ChatMessageAssistant
    from inspect_ai.tool import ToolCall

    call = ToolCall(id=f"part-{number}", function=NEXT, arguments={})
    return ChatMessageAssistant(content="", tool_calls=[call], id=f"call-{number}")


def _result(number: int, passage: str) -> "ChatMessage":
    from inspect_ai.model import ChatMessageTool

    return ChatMessageTool(content=passage, tool_call_id=f"part-{number}", function=NEXT, id=f"result-{number}")
