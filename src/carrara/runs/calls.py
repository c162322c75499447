"""The calls of the model for one item: counted, held to the budget, and kept for the analysis of lost facts.

A reader, or a user's agent, may ask the model many times for one answer. Every request passes `ReferencedAPI`, which
reports it here. A call does not hold the text of the context: a message refers to passages by their positions.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage

from carrara.constants import CONTEXT, EXCERPT, KEY, PARTS
from carrara.readers.context import WHOLE_CONTEXT, Part, ReaderContext
from carrara.readers.reader import LimitReachedError
from carrara.runs.budget import ItemBudget, NotAskedError

TOOL_CALLS = 32
"""The most calls of tools in one message to a reader with a limit, such as an agent."""
TOOL_CALLS_A_CALL = 4
"""The most calls of tools in all, for each call of the model that a reader may make."""


class Call(NamedTuple):
    """One request to the model, with its reply."""

    parts: Sequence[Part]
    """The input: texts, and positions of passages of the context."""
    output: str
    input_tokens: int
    sent_tokens: int
    """The tokens of the input by our own count, without those of the chat format."""
    output_tokens: int
    cached_tokens: int | None
    """The tokens of the input that the server had in its cache. None if it does not say."""
    seconds: float


@dataclass
class Calls:
    """The calls for one item so far."""

    id: str
    budget: ItemBudget
    context: ReaderContext
    made: list[Call] = field(default_factory=list[Call])
    most: int | None = None
    """The most calls. None: any number."""
    tool_calls: int = 0
    """The calls of tools that the model asked for."""
    admit: Callable[[], None] = lambda: None
    """Raises `NotAskedError` if the server cuts prompts of the item's length."""
    refused: NotAskedError | None = None
    """The error of the first request that was not to be made. An agent may have caught it."""
    _occurrences: Counter[str] = field(default_factory=Counter[str])

    def occurrence(self, name: str) -> str:
        """Return the name under which the reply to a request is cached. A repeated request has another name."""
        repeated = self._occurrences[name]
        return f"{name}-{repeated}" if repeated else name

    def check_limit(self) -> None:
        """Raise `LimitReachedError` if the reader has made all its calls."""
        if self.most is not None and len(self.made) >= self.most:
            raise LimitReachedError(f"the reader made {len(self.made)} calls of the model, all that it may")

    def check_request(self, input: Sequence[ChatMessage]) -> None:
        """Raise `NotAskedError` if the server would cut the prompt, or the budget has no room for a request."""
        try:
            self.admit()
            if self.budget.meter and self.budget.meter.budget:
                self.budget.check(self._count(input))
        except NotAskedError as error:
            self.refused = error
            raise

    def add(self, name: str, input: Sequence[ChatMessage], output: ModelOutput) -> None:
        """Count a call."""
        self._occurrences[name.partition("-")[0]] += 1
        usage = output.usage or ModelUsage()
        cached, text = usage.input_tokens_cache_read, _text_of(output)
        written = usage.output_tokens or self.context.count(text)
        sent = self._count(input)
        counted = count_input(output) or sent
        self.made.append(Call(_parts_of(input), text, counted, sent, written, cached, output.time or 0.0))
        self.budget.spend(counted, cached or 0, written)
        self._limit_tool_calls(len(output.message.tool_calls or ()) if output.choices else 0)

    def _limit_tool_calls(self, requested: int) -> None:
        self.tool_calls += requested
        if self.most is not None and (requested > TOOL_CALLS or self.tool_calls > TOOL_CALLS_A_CALL * self.most):
            raise LimitReachedError(f"the model asked for {self.tool_calls} calls of tools, more than it may")

    def _count(self, input: Sequence[ChatMessage]) -> int:
        """Return the tokens of the input by our own count, without those of the chat format."""
        total = 0
        for message in input:
            reference = (message.metadata or {}).get(KEY)
            if reference and PARTS not in reference:
                if CONTEXT not in reference:
                    total += self.context.prompt_tokens
                    continue
                total += self.context.tokens_around
            total += sum(map(self.context.count, map(self.context.render_part, _parts_of([message]))))
        return total


def count_input(output: ModelOutput) -> int:
    """Return the tokens of a request's prompt by the server's count. 0: it gave none."""
    usage = output.usage or ModelUsage()
    return usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)


def _parts_of(input: Sequence[ChatMessage]) -> list[Part]:
    parts: list[Part] = []
    for message in input:
        reference: Mapping[str, Any] = (message.metadata or {}).get(KEY) or {}
        if PARTS in reference and message.text != reference[EXCERPT]:
            reference = {}
        if CONTEXT in reference or PARTS in reference:
            parts += reference.get(CONTEXT) or reference.get(PARTS) or []
        elif not reference:
            parts.append(message.text)
        else:  # the whole prompt
            parts.append(WHOLE_CONTEXT)
    return parts


def _text_of(output: ModelOutput) -> str:
    """Return what the model wrote: its reply, and the arguments of its calls of tools."""
    if not output.choices:
        return ""
    calls = output.message.tool_calls or []
    return "\n".join([output.completion, *(f"{call.function} {call.arguments}" for call in calls)])


_CURRENT: ContextVar[Calls | None] = ContextVar("calls", default=None)


@contextmanager
def calls(id: str, budget: ItemBudget, context: ReaderContext, admit: Callable[[], None]) -> Iterator[Calls]:
    """Count the calls of the item that is asked within the block."""
    item_calls = Calls(id, budget, context, admit=admit)
    token = _CURRENT.set(item_calls)
    try:
        yield item_calls
    finally:
        _CURRENT.reset(token)


def current() -> Calls | None:
    """Return the calls of the item that is being asked. None outside of an item."""
    return _CURRENT.get()
