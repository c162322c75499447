"""What the readers of systems have in common: their settings, and a memory behind a channel.

    command:./my-memory --stdio,chunk=512      a program of any language
    http:http://127.0.0.1:8000/memory          a server
    mcp:uvx my-memory,add=remember,answer=ask  the tools of an MCP server

Each is the reader `memory` with a memory that runs elsewhere.
"""

import re
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from carrara.generators.people import MONTHS
from carrara.readers.context import ReaderContext
from carrara.readers.memory import Memories, MemoryReader
from carrara.readers.reader import Estimate
from carrara.readers.systems.channel import Channel, Message, text_of
from carrara.readers.systems.program import SystemFaultError
from carrara.util.errors import UsageError

PART = re.compile(r"""(?:"[^"]*"|'[^']*'|[^,])+""")
"""A text up to a comma outside of quotes."""
_SETTING = re.compile(r"""\s*[a-z]+\s*=[^\s'"]*\s*""")


@dataclass(frozen=True)
class SystemReader(MemoryReader):
    """A system of any language takes in the context, and answers."""

    seconds: int = 120
    """The most seconds for a reply."""

    needs: ClassVar[str]
    """An example of the place, for errors."""

    def __post_init__(self) -> None:
        if not self.place:
            raise UsageError(f"the reader {self.name} names a system: write {self.needs}")
        for setting in ("chunk", "seconds", "workers"):
            if getattr(self, setting, 1) < 1:
                raise UsageError(f"the reader {self.name}: {setting} is 0, give 1 or more")

    @classmethod
    def parse(cls, options: str) -> "MemoryReader":
        try:
            return super().parse(options)
        except UsageError as error:
            if "has no setting" not in str(error):
                raise
            raise UsageError(f"{error}; put a word with a comma into quotes") from None

    @classmethod
    def _split(cls, options: str) -> tuple[str, str]:
        """Return the place and the settings: the last parts, between commas outside of quotes, with `name=value`."""
        end = len(options)
        for part in reversed(list(PART.finditer(options))[1:]):
            if not _SETTING.fullmatch(part[0]):
                break
            end = part.start() - 1
        return options[:end], options[end + 1 :]

    @property
    def most_memories(self) -> int:
        """The most contexts that are put to the system at a time."""
        return 1

    @abstractmethod
    async def connect(self) -> Channel:
        """Return a channel to the system, or to one more process of it."""

    def open(self) -> Memories:
        pool = ChannelPool(self.connect)
        return Memories(lambda model: SystemMemory(pool), self.most_memories, pool.close)

    def _asked(self, context: ReaderContext, question: str) -> tuple[str, ...]:
        return (question, context.instructions)

    def estimate(self, prompt: int, around: int, answer: int) -> Estimate:
        return Estimate(1, min(prompt, around + self.chunk), answer)


class ChannelPool:
    """Channels of systems that can take another context."""

    def __init__(self, connect: Callable[[], Awaitable[Channel]]) -> None:
        self._connect = connect
        self._spare = list[Channel]()
        self._is_closed = False

    async def take(self) -> Channel:
        return self._spare.pop() if self._spare else await self._connect()

    async def give_back(self, channel: Channel) -> None:
        if channel.is_broken or not channel.reusable or self._is_closed:
            await channel.close()
        else:
            self._spare.append(channel)

    async def close(self) -> None:
        self._is_closed = True
        while self._spare:
            await self._spare.pop().close()


class SystemMemory:
    """A memory behind a channel. It implements `Memory` of the reader `memory`."""

    def __init__(self, pool: ChannelPool) -> None:
        self._pool = pool
        self._channel: Channel | None = None
        self._added, self._has_size = 0, False
        self._dating = _Dating()
        self.found: list[str] | None = None

    async def add(self, text: str, session: str, time: str) -> None:
        await self._request("add", text=text, number=self._added, **self._dating.marks_of(text))
        self._added += 1

    async def answer(self, question: str, instructions: str) -> str | None:
        reply = await self._request("answer", question=question, instructions=instructions)
        assert self._channel is not None
        name, found = self._channel.name, reply.get("found")
        if found is not None and not isinstance(found, list):
            raise SystemFaultError(f"{name} replied with {type(found).__name__} as `found`: reply with a list of texts")
        self.found = None if found is None else [text_of(name, text, "found") for text in found]
        if reply.get("reply") is not None:
            return text_of(name, reply["reply"], "reply")
        if found is None:
            raise SystemFaultError(f"{name} replied to `answer` with neither `reply` nor `found`: reply with one")
        return None

    async def size(self) -> Message | None:
        """Return the bytes and entries that the system keeps, if its reply to `reset` said that it knows them."""
        if not self._has_size:
            return None
        return await self._request("size")

    async def close(self) -> None:
        if self._channel is not None:
            channel, self._channel = self._channel, None
            await self._pool.give_back(channel)

    async def _request(self, op: str, **fields: object) -> Message:
        if self._channel is None:
            self._channel = await self._pool.take()
            self._has_size = (await self._channel.request("reset")).get("size") is True
        return await self._channel.request(op, **fields)


_HEADING = re.compile(r"^Session with .+ on (\d{1,2}) (\w+) (\d{4})$", re.MULTILINE)
_TURN = re.compile(r"^(System|User|Assistant): ", re.MULTILINE)


class _Dating:
    """Finds the dates and speakers that the text itself states.

    >>> dating = _Dating()
    >>> dating.marks_of("Session with Nils on 3 May 2002\\nUser: My harp is in Elmford.")
    {'date': '2002-05-03', 'speaker': 'user'}
    >>> dating.marks_of("Assistant: Noted.\\nUser: Thanks.")
    {'date': '2002-05-03'}
    """

    def __init__(self) -> None:
        self._date = ""

    def marks_of(self, text: str) -> Mapping[str, str]:
        """Return the date and the speaker of a passage, each if it is the same for all of the passage."""
        marks = dict[str, str]()
        headings = list(_HEADING.finditer(text))
        dates = {_iso_date(*match.groups()) for match in headings}
        if not headings or text[: headings[0].start()].strip():
            dates.add(self._date)
        if len(dates) == 1 and (date := dates.pop()):
            marks["date"] = date
        if headings:
            self._date = _iso_date(*headings[-1].groups())
        body = text[headings[0].end() :] if len(headings) == 1 and not headings[0].start() else text
        turns = list(_TURN.finditer(body))
        if len(turns) == 1 and not body[: turns[0].start()].strip():
            marks["speaker"] = turns[0][1].lower()
        return marks


def _iso_date(day: str, month: str, year: str) -> str:
    return f"{year}-{MONTHS.index(month) + 1:02}-{int(day):02}" if month in MONTHS else ""
