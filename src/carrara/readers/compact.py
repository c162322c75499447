"""The reader `compact`: the context arrives in a conversation that is compacted whenever it outgrows a window.

An agent gets text as the results of tools, and its framework shortens the conversation when it becomes too long. Here
each passage of the context is such a result, and Inspect AI's strategies shorten the conversation: `edit` removes old
results, `trim` removes old messages, `summary` has the model summarize, `native` is the provider's own compaction.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrara.items.item_id import ItemId
from carrara.readers.context import ReaderContext
from carrara.readers.function import load_object
from carrara.readers.reader import Estimate, Reader, ReaderModel, Reading, count_passages
from carrara.util.errors import UsageError, nearest

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, CompactionStrategy
    from inspect_ai.tool import ToolInfo

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
NEXT = "next_part"
_TASK = (
    "You read a long text in {parts} parts, which the tool `{tool}` returns one after the other. Earlier parts may be "
    "removed or summarized when the conversation becomes too long."
)
_KNOWN = " When you have read all parts, you answer this question:\n\n{question}"
_BLIND = " When you have read all parts, you will be asked a question about the text."
_SHOWN = "[The text was shown before, in parts.]"


@dataclass(frozen=True)
class Compact(Reader):
    """The context arrives in a conversation that is compacted by a strategy of Inspect AI."""

    window: int = 32768
    """Tokens of the conversation from which on it is compacted."""
    strategy: str = "summary"
    """`edit`, `trim`, `summary`, `native`, or module:Class of a strategy of your own."""
    chunk: int = 0
    """Tokens of a passage. 0: an eighth of the window."""
    blind: bool = False
    """Whether the question is asked only after the reading."""

    name = "compact"

    def __post_init__(self) -> None:
        if self.window < 1:
            raise UsageError("the reader compact: window is 0, give the tokens of a conversation, such as 32k")
        if self.strategy not in STRATEGIES and ":" not in self.strategy:
            raise UsageError(
                f"the reader compact has no strategy {self.strategy!r}{nearest(self.strategy, STRATEGIES)}; it has "
                f"{', '.join(STRATEGIES)}, or module:Class of your own"
            )

    def check(self, first: ItemId) -> None:
        if first.style == "base":
            raise UsageError("the reader compact is a conversation, and a base model only completes its prompt")

    def ready(self) -> None:
        self._make_strategy()

    def _make_strategy(self) -> "CompactionStrategy":
        import inspect_ai.model

        kind: Any
        if self.strategy in STRATEGIES:
            kind = getattr(inspect_ai.model, STRATEGIES[self.strategy])
        else:
            kind = load_object(self.strategy, "a strategy of compaction")
        strategy = kind()
        if not isinstance(strategy, inspect_ai.model.CompactionStrategy):
            raise UsageError(f"{self.strategy} is no strategy of compaction: derive it from `CompactionStrategy`")
        return strategy

    async def read(self, context: ReaderContext, question: str, model: ReaderModel) -> Reading:
        from inspect_ai.model import ChatMessageUser

        passages = context.passages(self.chunk or max(1, self.window // PASSAGES))
        purpose = _BLIND if self.blind else _KNOWN.format(question=context.ask)
        task = _TASK.format(parts=len(passages), tool=NEXT) + purpose
        talk = _Conversation(self, context, model, [ChatMessageUser(content=task, source="input")])
        for number, passage in enumerate(passages, 1):
            await talk.add(_call(number), _result(number, passage))
        last = ChatMessageUser(content=context.prompt([_SHOWN])[-1].content)
        await talk.add(last)
        output = await model.generate(talk.messages, [next_part()], may_call=False)
        return Reading(output.completion)

    def estimate(self, prompt: int, around: int, answer: int) -> Estimate:
        text, size = max(0, prompt - around), self.chunk or max(1, self.window // PASSAGES)
        parts = count_passages(text, size)
        whole = text + parts * OVERHEAD + 2 * around
        last_size = min(whole, self.window)
        times = max(0, -(-(whole - last_size) // max(1, self.window - WRITTEN))) if self.strategy == "summary" else 0
        return Estimate(times + 1, times * self.window + last_size, times * WRITTEN + answer)


class _Conversation:
    """The messages so far, compacted whenever more do not fit."""

    def __init__(
        self, reader: Compact, context: ReaderContext, model: ReaderModel, messages: "list[ChatMessage]"
    ) -> None:
        self._window, self._context, self._model = reader.window, context, model
        self._strategy = reader._make_strategy()
        self._tokens = dict[str, tuple[str, int]]()
        """The tokens of each message, by its id, with the text that was counted."""
        self.messages: list[ChatMessage] = []
        for message in messages:
            self._append(message)

    async def add(self, *messages: "ChatMessage") -> None:
        from inspect_ai.model import get_model

        more = sum(self._context.count(message.text) for message in messages)
        for _ in range(ATTEMPTS):
            before = self._size()
            if before + more <= self._window or len(self.messages) < 2:
                break
            self.messages, _ = await self._strategy.compact(get_model(), self.messages, [next_part()])
            if self._size() >= before:
                break
        for message in messages:
            self._append(message)

    def _append(self, message: "ChatMessage") -> None:
        referenced = self._model.refer(message)
        self._tokens[str(message.id)] = referenced.text, self._context.count(message.text)
        self.messages.append(referenced)

    def _size(self) -> int:
        total = 0
        for message in self.messages:
            text, tokens = self._tokens.get(str(message.id), ("", 0))
            total += OVERHEAD + (tokens if text == message.text else self._context.count(message.text))
        return total


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
