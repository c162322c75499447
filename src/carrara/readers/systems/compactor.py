"""A program that compacts a conversation: one more request of the protocol of systems.

    {"id": 1, "op": "compact", "text": "…", "tokens": 400, "question": "…"}      {"id": 1, "text": "…"}

The text is what the conversation has: the reply to the request before, and the passages since. The reply takes its
place. So a request has all that the program needs, and any process can take it.
"""

from collections.abc import Callable, Sequence

import anyio
from inspect_ai.model import ChatMessage, ChatMessageUser, CompactionStrategy, Model
from inspect_ai.tool import ToolInfo

from carrara.readers.memory import shared
from carrara.readers.reader import Exchange
from carrara.readers.systems.channel import Channel, text_of
from carrara.readers.systems.command import CommandChannel
from carrara.readers.systems.program import Program
from carrara.readers.systems.reader import ChannelPool


class Compactor:
    """The processes of a program that compacts. All contexts of a run share them."""

    def __init__(self, program: Program, seconds: int, workers: int) -> None:
        self._program, self._seconds = program, seconds
        self._pool, self._places = ChannelPool(self._connect), anyio.Semaphore(workers)

    @staticmethod
    def of(name: str, program: Program, seconds: int, workers: int) -> "Compactor":
        """Return the processes that a reader of this name shares with others of the event loop."""
        return shared(name, lambda: Compactor(program, seconds, workers))

    async def _connect(self) -> Channel:
        return CommandChannel(await self._program.start(), self._seconds)

    async def compact(self, text: str, tokens: int, question: str) -> str:
        """Return a text in fewer words.

        Args:
            tokens: The most tokens that it may have.
            question: The question that will be asked of it. Empty: it is not known yet.
        """
        async with self._places:
            channel = await self._pool.take()
            try:
                asked = {"question": question} if question else {}
                reply = await channel.request("compact", text=text, tokens=tokens, **asked)
            finally:
                with anyio.CancelScope(shield=True):
                    await self._pool.give_back(channel)
        return text_of(channel.name, reply.get("text"), "text")

    async def close(self) -> None:
        await self._pool.close()


class CommandCompaction(CompactionStrategy):
    """Has a program compact all messages after the first."""

    def __init__(
        self, compactor: Compactor, question: str, join: Callable[[Sequence[str]], str], exchanges: list[Exchange]
    ) -> None:
        super().__init__(type="summary")
        self._compactor, self._question, self._join, self._exchanges = compactor, question, join, exchanges
        self.tokens = 0
        """The most tokens that the next reply may have."""

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
        texts = [message.text for message in messages[1:] if message.text]
        text = await self._compactor.compact(self._join(texts), self.tokens, self._question)
        self._exchanges.append(Exchange([self._join(texts)], text))
        return [messages[0], *([ChatMessageUser(content=text)] if text.strip() else [])], None
