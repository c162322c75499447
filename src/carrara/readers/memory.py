"""The reader `memory`: a memory system takes in the context, passage by passage, and answers its questions.

    memory:my_module:MyMemory               a class of your own, or of an adapter (examples/)
    memory:my_module:MyMemory,chunk=512     the same, with passages of at most 512 tokens

All questions on one context are put to the same memory, one after the other. The calls of the model that the memory
makes while it takes in the context count for the question that is asked first. They are cached like all calls, so a run
that is resumed does not pay for them again.
"""

import asyncio
import inspect
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import Context as Variables
from contextvars import copy_context
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from numbers import Real
from typing import Any, Protocol, TypeVar, cast

import anyio
import anyio.to_thread

from carrara.items.item_id import ItemId
from carrara.readers.context import Passage, ReaderContext
from carrara.readers.function import load_object
from carrara.readers.reader import Estimate, Exchange, Reader, ReaderModel, Reading, count_passages
from carrara.util.errors import RunError, UsageError

IDLE = 4
"""The most memories that are kept while none of their questions is being asked."""
START = datetime(2026, 1, 1)
STEP = timedelta(minutes=1)
INSTRUCTIONS = 1024
"""The tokens that a memory system adds to each passage, about. Libraries differ from none to ten times as many."""
SIZES = ("bytes", "entries")
LARGEST_SIZE = (1 << 53) - 1
"""The largest number of bytes or entries: the largest whole number that all readers of JSON keep."""
DIGITS = 4
"""The decimal digits of seconds."""
EXTRACTED = 256
"""The tokens that the model writes about a passage, about."""


class MemoryLostError(RunError):
    """A memory and all that it had taken in are gone. The next question on the context makes a new one."""


MemoryModel = Callable[[str], Coroutine[Any, Any, str]]
"""The model under test, as a memory calls it: an async function that returns the reply to a prompt."""


class Memory(Protocol):
    """A memory system. Its class is called with the model, a `MemoryModel`, once for each context.

    Both methods may be plain functions, too. They then run in a thread, where `anyio.from_thread.run(model, prompt)`
    calls the model. Three more members are optional:

    - `found`, an attribute or a method: the texts from which the last answer was given. A fact that is in none of them
      is reported as lost. Without it, the prompts of the last call decide.
    - `size()`: returns the size of what it keeps, as a mapping with `bytes` and `entries`, or with one of them. Called
      once for a context.
    - `close()`: called when all questions on the context are answered, or to make room for other contexts.

    Examples:
        >>> class KeepAll:
        ...     def __init__(self, model):
        ...         self.model, self.found = model, []
        ...
        ...     async def add(self, text, session, time):
        ...         self.found.append(f"[{time}] {text}")
        ...
        ...     async def answer(self, question):
        ...         return await self.model("\\n".join([*self.found, question]))
    """

    async def add(self, text: str, session: str, time: str) -> None:
        """Take in a passage. Passages come in the order of the text.

        Args:
            text: The passage.
            session: The number of the passage, from 1. A conversation is one session, "1".
            time: A date and time in ISO format, one minute later for each passage: 2026-01-01T00:00:00 for the first.
        """

    async def answer(self, question: str) -> str | None:
        """Return the reply to a question, which is scored.

        Args:
            question: The question, as it stands after the context in the prompt. Rules for the answer that stand
                before the context are not in it: return None to have the model answer by all rules.

        Returns:
            The reply. None: the model replies to the item's prompt, with the texts of `found` in place of the context.
        """


@dataclass(frozen=True)
class MemoryReader(Reader):
    """A memory system takes in the context, and answers."""

    place: str = ""
    """The module and the name of its class."""
    chunk: int = 1024
    """The most tokens of a passage."""

    name = "memory"

    def __post_init__(self) -> None:
        if self.chunk < 1:
            raise UsageError("the reader memory: chunk is 0, give 1 token or more")

    @classmethod
    def parse(cls, options: str) -> "MemoryReader":
        place, settings = cls._split(options)
        known = {field.name: field.default for field in fields(cls) if field.name != "place"}
        return cls(place.strip(), **cls.parse_settings(settings, known))

    @classmethod
    def _split(cls, options: str) -> tuple[str, str]:
        """Return the place and the settings."""
        place, _, settings = options.partition(",")
        return place, settings

    def __str__(self) -> str:
        settings = self.write_settings(field.name for field in fields(self) if field.name != "place")
        return f"{self.name}:{self.place},{settings}"

    def check(self, first: ItemId) -> None:
        if first.style == "base":
            raise UsageError(
                f"the reader {self.name} asks for instructions to be followed, and a base model only completes"
            )

    def ready(self) -> None:
        memory_class = load_object(self.place, "the class of a memory")
        for method in ("add", "answer"):
            if not callable(getattr(memory_class, method, None)):
                raise UsageError(f"{self.place} has no method {method!r}: a memory has `add` and `answer`")

    def open(self) -> "Memories":
        """Return the memories that the readers with these settings share until the event loop ends."""
        return Memories(load_object(self.place, "the class of a memory"))

    async def read(self, context: ReaderContext, question: str, model: ReaderModel) -> Reading:
        passages = context.passages(self.chunk)  # handed out anew, so that prompts of this item refer to them
        memories = shared_memories(self)
        async with memories.ask(context, model) as context_memory:
            earlier: Sequence[Exchange] = context_memory.calls
            if context_memory.memory is None:
                await context_memory.take_in(memories.make, passages, context.is_conversation, self.place)
                earlier = ()
            try:
                began = time.perf_counter()
                reply = await context_memory.call(context_memory.memory.answer, *self._asked(context, question))
                store = {**context_memory.store, "answer_seconds": round(time.perf_counter() - began, DIGITS)}
                context_memory.store.pop("add_seconds", None)  # the first question has them
                found = await context_memory.texts_of_answer()
            except (MemoryLostError, asyncio.CancelledError):
                await context_memory.discard()
                raise
            if reply is None and found is not None:
                reply = await model.answer(join_texts(context, passages, found))
            if not isinstance(reply, str):
                raise UsageError(f"the memory {self.place} answered with {type(reply).__name__}: return a text")
            return Reading(reply, seen=found, earlier=earlier, store=store)

    def _asked(self, context: ReaderContext, question: str) -> tuple[str, ...]:
        """Return the arguments of the memory's method `answer`."""
        return (question,)

    def estimate(self, prompt: int, around: int, answer: int) -> Estimate:
        passages = count_passages(max(0, prompt - around), self.chunk)
        sent = prompt + passages * INSTRUCTIONS + self.chunk
        return Estimate(passages + 1, sent, passages * EXTRACTED + answer)


def join_texts(context: ReaderContext, passages: Sequence[Passage], found: Sequence[str]) -> str:
    """Return texts as one. Passages that follow each other in the context have the white space that is between them."""
    passages_by_text = {str(passage): passage for passage in passages}
    text = found[0] if found else ""
    for before, after in pairwise(found):
        first, second = passages_by_text.get(before), passages_by_text.get(after)
        gap = context.text[first.end : second.start] if first and second and first.end <= second.start else "-"
        text += (context.separator if gap.strip() else gap) + after
    return text


def _sizes_of(size: object, place: str) -> dict[str, int]:
    """Return the bytes and the entries that a memory says it keeps.

    Raises:
        UsageError: They are no sizes, which the log of a run could not keep.
    """
    if size is None:
        return {}
    if not isinstance(size, Mapping):
        raise UsageError(f"the size of the memory {place} is {type(size).__name__}: return `bytes` and `entries`")
    sizes = {name: size[name] for name in SIZES if size.get(name) is not None}
    for name, number in sizes.items():
        is_number = isinstance(number, Real) and not isinstance(number, bool)
        if not (is_number and 0 <= number <= LARGEST_SIZE and number == int(number)):
            raise UsageError(
                f"the memory {place} has the size {str(number)[:40]} as `{name}`: a size is a whole number from 0 to "
                f"{LARGEST_SIZE:,}"
            )
    return {name: int(number) for name, number in sizes.items()}


class _CountedModel:
    """The model, as a memory holds it: a call counts for the item that is being asked, whoever makes it.

    A library may call it from a task or a thread of its own, which began when another item was asked.
    """

    def __init__(self) -> None:
        self._model: ReaderModel | None = None
        self._variables = Variables()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.calls: list[Exchange] | None = None
        """The calls, while they are recorded."""

    def use(self, model: ReaderModel) -> None:
        """Have further calls count for the item of a model. Called in the task that asks the item."""
        self._model, self._variables, self._loop = model, copy_context(), asyncio.get_running_loop()

    async def __call__(self, prompt: str) -> str:
        assert self._model is not None
        assert self._loop is not None
        variables = self._variables.copy()
        if asyncio.get_running_loop() is self._loop:
            return await self._loop.create_task(self._ask(self._model, prompt), context=variables)
        future = variables.run(asyncio.run_coroutine_threadsafe, self._ask(self._model, prompt), self._loop)
        return await asyncio.wrap_future(future)

    async def _ask(self, model: ReaderModel, prompt: str) -> str:
        reply = await model(prompt)
        if self.calls is not None:
            self.calls.append(Exchange([prompt], reply))
        return reply


class _ContextMemory:
    """The memory of one context."""

    def __init__(self) -> None:
        self.memory: Any = None
        """None: it has not taken in the context."""
        self.calls: list[Exchange] = []
        """The calls by which it took in the context."""
        self.store: dict[str, Any] = {}
        """The size of the memory and of the text, and the seconds that each passage took."""
        self.model = _CountedModel()
        self.turn = anyio.Lock()
        self.waiting = 0
        """The items that are being asked, or wait for it."""
        self.questions_asked = 0
        """The items that were asked."""
        self.has_place = False
        """Whether it is one of the memories that there may be."""
        self._thread = anyio.CapacityLimiter(1)  # its own: the model may need the others

    async def take_in(
        self, make: Callable[[MemoryModel], Any], passages: Sequence[str], one_session: bool, place: str
    ) -> None:
        """Make a memory, and have it take in the passages. If that fails, the next question tries again.

        Args:
            place: The name of the memory in errors.
        """
        memory, self.model.calls = make(self.model), []
        seconds = list[float]()
        try:
            for number, passage in enumerate(passages):
                session, began = "1" if one_session else str(number + 1), time.perf_counter()
                await self.call(memory.add, str(passage), session, (START + number * STEP).isoformat())
                seconds.append(round(time.perf_counter() - began, DIGITS))
            size = await self.call(memory.size) if callable(getattr(memory, "size", None)) else None
            sizes = _sizes_of(size, place)
        except BaseException:
            await self._close(memory)
            raise
        finally:
            self.calls, self.model.calls = self.model.calls, None
        self.memory = memory
        self.store = {
            **sizes,
            "text_bytes": sum(len(str(passage).encode(errors="replace")) for passage in passages),
            "add_seconds": seconds,
        }

    async def call(self, function: Callable[..., Any], *arguments: str) -> Any:
        """Return what a function of the memory returns. It may be async."""
        if inspect.iscoroutinefunction(function):
            return await function(*arguments)
        result = await anyio.to_thread.run_sync(partial(function, *arguments), limiter=self._thread)
        return await result if inspect.isawaitable(result) else result

    async def texts_of_answer(self) -> list[str] | None:
        """Return the texts from which the last answer was given. None if the memory does not say."""
        texts = getattr(self.memory, "found", None)
        if callable(texts):
            texts = await self.call(texts)
        if texts is None:
            return None
        return [texts] if isinstance(texts, str) else [str(text) for text in texts]

    async def discard(self) -> None:
        """Close the memory. The next question makes a new one."""
        memory, self.memory = self.memory, None
        if memory is not None:
            await self._close(memory)

    async def _close(self, memory: Any) -> None:
        if callable(close := getattr(memory, "close", None)):
            with anyio.CancelScope(shield=True):
                await self.call(close)


class Memories:
    """The memories of the contexts whose questions are being asked, and of a few more.

    Args:
        make: Makes a memory.
        most: The most memories at a time. None: any number.
        close: Called when all of them are closed.
    """

    def __init__(
        self,
        make: Callable[[MemoryModel], Any],
        most: int | None = None,
        close: Callable[[], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        self.make, self._close_rest = make, close
        self._held = OrderedDict[str, _ContextMemory]()
        self._places = None if most is None else anyio.Semaphore(most)
        self._waiting_for_place = 0

    @asynccontextmanager
    async def ask(self, context: ReaderContext, model: ReaderModel) -> AsyncIterator[_ContextMemory]:
        """Hold the memory of a context for one question. Other questions on the context wait meanwhile."""
        context_memory = self._held.setdefault(context.context_id, _ContextMemory())
        self._held.move_to_end(context.context_id)
        context_memory.waiting += 1
        try:
            async with context_memory.turn:
                await self._find_place(context_memory)
                context_memory.model.use(model)
                yield context_memory
        finally:
            context_memory.waiting -= 1
            context_memory.questions_asked += 1
            await self._remove(context)

    async def close(self) -> None:
        """Close all memories."""
        while self._held:
            await self._close(next(iter(self._held)))
        if self._close_rest:
            await self._close_rest()

    async def _find_place(self, context_memory: _ContextMemory) -> None:
        """Wait until there may be one more memory. One that is idle is closed for it."""
        if self._places is None or context_memory.has_place:
            return
        self._waiting_for_place += 1
        try:
            if not self._places.value and (idle := self._idle()):
                await self._close(idle[0])
            await self._places.acquire()
        finally:
            self._waiting_for_place -= 1
        context_memory.has_place = True

    def _idle(self) -> list[str]:
        """Return the contexts none of whose questions is being asked. The first was not used for longest."""
        return [key for key, context_memory in self._held.items() if not context_memory.waiting]

    async def _remove(self, context: ReaderContext) -> None:
        """Close the memory of a context that has no more questions, and those that were not used for longest."""
        idle = self._idle()
        done = [
            key for key in idle if key == context.context_id and self._held[key].questions_asked >= context.questions
        ]
        keep = 0 if self._waiting_for_place else IDLE
        for key in done or idle[: max(0, len(idle) - keep)]:
            await self._close(key)

    async def _close(self, key: str) -> None:
        context_memory = self._held.pop(key, None)
        if context_memory is None:  # closed meanwhile
            return
        try:
            await context_memory.discard()
        finally:
            if self._places is not None and context_memory.has_place:
                self._places.release()


class Closable(Protocol):
    """What readers share until the event loop ends."""

    async def close(self) -> None: ...


C = TypeVar("C", bound=Closable)
_SHARED: dict[tuple[asyncio.AbstractEventLoop, str], tuple[Closable, asyncio.Task[None]]] = {}
"""What the readers of each event loop share, by the reader, with the task that closes it."""


def shared_memories(reader: MemoryReader) -> Memories:
    """Return the memories of a reader. The readers of a run's tasks share them until the event loop ends."""
    return shared(str(reader), reader.open)


def shared(name: str, open: Callable[[], C]) -> C:
    """Return what has this name in the event loop. It is opened once, and closed when the loop ends."""
    loop = asyncio.get_running_loop()
    key = loop, name
    if key not in _SHARED:
        opened = open()
        _SHARED[key] = opened, loop.create_task(_close_at_end(opened, key), context=Variables())
    return cast(C, _SHARED[key][0])


async def _close_at_end(opened: Closable, key: tuple[asyncio.AbstractEventLoop, str]) -> None:
    """Close what is shared when the event loop ends, which cancels whatever still waits."""
    try:
        await asyncio.Event().wait()
    finally:
        del _SHARED[key]
        with anyio.CancelScope(shield=True):
            await opened.close()
