"""The reader `command`: a program reads requests from its stdin, one a line, and writes replies to its stdout.

command:./my-memory --stdio
command:docker run -i --mount "type=bind,source=/data,target=/data" my-memory,chunk=512,env=MY_API_KEY
"""

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from carrara.readers.systems.channel import Channel, Message, parse_reply
from carrara.readers.systems.program import GRACE, Child, Program
from carrara.readers.systems.reader import SystemReader
from carrara.servers.secrets import mask

WORKERS = 4
"""The most processes of a system, unless the user gives another number."""


@dataclass(frozen=True)
class CommandReader(SystemReader):
    """A program takes in the context, and answers."""

    workers: int = WORKERS
    """The most processes. Each has one context at a time."""
    env: str = ""
    """The variables that it inherits beside PATH, HOME and the like: NAME or NAME+NAME."""

    name = "command"
    needs = "command:./my-memory"

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.program

    def ready(self) -> None:
        self.program.check()

    @property
    def most_memories(self) -> int:
        return self.workers

    @cached_property
    def program(self) -> Program:
        """The program and the variables that it inherits."""
        return Program.parse(self.name, self.place, self.env)

    async def connect(self) -> Channel:
        return CommandChannel(await self.program.start(), self.seconds)


class CommandChannel(Channel):
    """The stdin and stdout of a program."""

    def __init__(self, child: Child, seconds: int) -> None:
        super().__init__(child.name, seconds)
        self._child = child

    async def _exchange(self, message: Message) -> Message:
        line = json.dumps(message, ensure_ascii=False) + "\n"
        # It may reply before it has read all, or write so much that it reads no more.
        writing = asyncio.create_task(self._child.write(line.encode(errors="replace")))
        try:
            reply = await self._child.read_line()
            await writing
        finally:
            writing.cancel()
            with suppress(asyncio.CancelledError):
                await writing
        if self._child.secrets:
            reply = mask(reply.decode(errors="surrogateescape"), self._child.secrets).encode(errors="surrogateescape")
        return parse_reply(self.name, reply, message, " to stdout")

    async def close(self) -> None:
        await self._child.end(0 if self.is_broken else GRACE)
