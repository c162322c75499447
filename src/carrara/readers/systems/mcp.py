"""The reader `mcp`: the tools of an MCP server are a memory.

    mcp:uvx my-memory,add=remember,answer=ask                          the server answers
    mcp:http://127.0.0.1:8000/mcp,add=store,search=recall,reset=clear  the model answers from what the server found

The official client speaks the protocol, which the extra `mcp` installs. A program is started anew for each context if
it has no tool that empties it.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import anyio

from carrara.readers.systems.channel import Channel, Message, one_line
from carrara.readers.systems.command import WORKERS
from carrara.readers.systems.http import check_address, check_key, make_client
from carrara.readers.systems.program import GRACE, Child, Program, SystemFaultError
from carrara.readers.systems.reader import SystemReader
from carrara.servers.secrets import mask
from carrara.util.errors import RunError, UsageError

if TYPE_CHECKING:
    from mcp import ClientSession

_TOOL = re.compile(r"(?P<name>[^()&]+)(?:\((?P<argument>[\w.]*)(?P<fixed>(?:&[\w.]+=[^()&]*)*)\))?")
"""The name of a tool, and in parentheses the name of the argument for the text, and values of other arguments."""
_PASSED_ON = ("number", "date", "speaker", "instructions")
"""Fields of requests that a tool gets if it has arguments of these names."""


@dataclass(frozen=True)
class McpReader(SystemReader):
    """The tools of an MCP server take in the context, and find or answer."""

    workers: int = 0
    """The most processes, each with one context at a time. A server at an address has one."""
    env: str = ""
    """The variables that a program inherits beside PATH, HOME and the like: NAME or NAME+NAME."""
    key: str = ""
    """The name of a variable whose value is sent to an address as a bearer token."""
    add: str = ""
    """The tool that takes in a passage: TOOL; TOOL(ARGUMENT) if several of its arguments are texts; or
    TOOL(ARGUMENT&NAME=VALUE) if it needs others."""
    answer: str = ""
    """The tool that answers a question."""
    search: str = ""
    """The tool that finds texts for a question. The model answers from them."""
    reset: str = ""
    """The tool that empties the memory."""

    name = "mcp"
    needs = "mcp:uvx my-memory,add=remember,answer=ask"

    def __post_init__(self) -> None:
        if not self.workers:
            object.__setattr__(self, "workers", 1 if self.is_address else WORKERS)
        super().__post_init__()
        if not self.add or bool(self.answer) == bool(self.search):
            raise UsageError("the reader mcp needs add=TOOL and one of answer=TOOL and search=TOOL, by their names")
        for tool in filter(None, (self.add, self.answer, self.search, self.reset)):
            if not _TOOL.fullmatch(tool):
                raise UsageError(f"the reader mcp: {tool!r} is no tool: write TOOL or TOOL(ARGUMENT&NAME=VALUE)")
        if not self.is_address:
            _ = self.program
            if self.key:
                raise UsageError("the reader mcp: key= is for an address; a program gets variables by env=NAME")
            return
        check_address(self.name, self.place, "mcp:http://127.0.0.1:8000/mcp")
        if not self.reset:
            raise UsageError("the reader mcp needs reset=TOOL for a server at an address, which empties its memory")
        if self.env or self.workers > 1:
            raise UsageError("the reader mcp: env= and workers= are for a program that it starts, not for an address")

    @cached_property
    def is_address(self) -> bool:
        """Whether the server has an address, so that no program is started."""
        return self.place.startswith(("http://", "https://"))

    @cached_property
    def program(self) -> Program:
        """The program that is the server."""
        return Program.parse(self.name, self.place, self.env)

    def ready(self) -> None:
        if find_spec("mcp") is None or not version("mcp").startswith("1."):
            raise UsageError("the reader mcp needs version 1 of the package mcp: pip install 'carrara[mcp]'")
        if self.is_address:
            check_key(self.name, self.key)
        else:
            self.program.check()

    @property
    def most_memories(self) -> int:
        return self.workers

    async def connect(self) -> Channel:
        child = None if self.is_address else await self.program.start()
        return McpChannel(self, child)


class McpChannel(Channel):
    """A session with an MCP server. A task of its own holds the session, which has to end in the task it began in."""

    def __init__(self, reader: McpReader, child: Child | None) -> None:
        super().__init__(str(reader.program) if child else f"the server {reader.place}", reader.seconds)
        self.reusable = bool(reader.reset)
        self._reader, self._child = reader, child
        self._session = asyncio.get_running_loop().create_future()
        self._tools = dict[str, Mapping[str, Any]]()
        self._fault: BaseException | None = None
        self._ending = asyncio.Event()
        self._task = asyncio.create_task(self._hold())

    async def _exchange(self, message: Message) -> Message:
        reader = self._reader
        match message["op"]:
            case "add":
                await self._call(reader.add, message, message["text"])
            case "answer" if reader.answer:
                return {"reply": "\n".join(await self._call(reader.answer, message, message["question"]))}
            case "answer":
                return {"found": await self._call(reader.search, message, message["question"])}
            case "reset" if reader.reset:
                await self._call(reader.reset, message)
            case _:
                await self._opened()
        return {}

    async def close(self) -> None:
        self._ending.set()
        if self._child:
            await self._child.end(0 if self.is_broken else GRACE)
        await asyncio.wait([self._task], timeout=GRACE)
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _call(self, setting: str, message: Message, text: str | None = None) -> list[str]:
        """Return the texts of a tool's result."""
        match = _TOOL.fullmatch(setting)
        assert match is not None
        session = await self._opened()
        if match["name"] not in self._tools:
            tools = ", ".join(sorted(self._tools)) or "none"
            raise UsageError(f"{self.name} has no tool {match['name']!r}; it has {tools}")
        schema = self._tools[match["name"]].get("properties") or {}
        arguments = {each: message[each] for each in _PASSED_ON if each in schema and each in message}
        for path, _, value in (pair.partition("=") for pair in (match["fixed"] or "").split("&")[1:]):
            _put(arguments, schema, path, value.replace("{number}", str(message.get("number", ""))))
        if text is not None and (schema or message["op"] == "add"):
            _put(arguments, schema, match["argument"] or self._text_argument(match["name"]), text)
        try:
            result = await session.call_tool(match["name"], arguments)
        except Exception as error:
            raise await self._describe(error) from None
        secrets = self._child.secrets if self._child else ()
        texts = [mask(block.text, secrets) for block in result.content if block.type == "text"]
        if result.isError:
            raise RunError(f"{self.name}: the tool {match['name']} replied with an error: {one_line(' '.join(texts))}")
        return texts

    def _text_argument(self, tool: str) -> str:
        """Return the one argument of a tool that may be the text.

        Raises:
            UsageError: There is none, or there are several.
        """
        properties: Mapping[str, Any] = self._tools[tool].get("properties") or {}
        texts = [each for each in properties if each not in _PASSED_ON and _takes_text(properties[each])]
        required = [each for each in texts if each in (self._tools[tool].get("required") or ())]
        if len(required or texts) != 1:
            raise UsageError(
                f"{self.name}: the tool {tool} has {len(required or texts) or 'no'} arguments that are texts "
                f"({', '.join(properties) or 'none at all'}): name one, such as {tool}(text)"
            )
        return (required or texts)[0]

    async def _opened(self) -> "ClientSession":
        """Return the session, once it has begun."""
        await asyncio.wait([self._session, self._task], return_when=asyncio.FIRST_COMPLETED)
        if not self._session.done():
            raise await self._describe(None)
        session: ClientSession = self._session.result()
        return session

    async def _describe(self, error: BaseException | None) -> RunError:
        """Return the error about a server that has not replied."""
        cause = self._fault or error
        if isinstance(cause, SystemFaultError):
            return cause
        words = await self._child.last_words() if self._child else ""
        return SystemFaultError(f"{self.name} is no MCP server, or broke its protocol: {_innermost(cause)}{words}")

    async def _hold(self) -> None:
        from mcp import ClientSession

        try:
            async with self._streams() as streams, ClientSession(*streams[:2]) as session:
                await session.initialize()
                cursor: str | None = ""
                while cursor is not None:
                    page = await session.list_tools(cursor or None)
                    self._tools |= {tool.name: tool.inputSchema for tool in page.tools}
                    cursor = page.nextCursor
                self._session.set_result(session)
                await self._ending.wait()
        except Exception as error:
            self._fault = self._fault or error

    def _streams(self) -> AbstractAsyncContextManager[Any]:
        if self._child:
            return self._stdio(self._child)
        from mcp.client.streamable_http import streamable_http_client

        client = make_client(self._reader.key, self._reader.seconds)
        return streamable_http_client(self._reader.place, http_client=client)

    @asynccontextmanager
    async def _stdio(self, child: Child) -> AsyncIterator[tuple[Any, Any]]:
        """Yield the streams of messages from and to a program. Its lines are bounded, which those of `mcp` are not."""
        from mcp.shared.message import SessionMessage
        from mcp.types import JSONRPCMessage

        into, received = anyio.create_memory_object_stream[Any](0)
        sent, out_of = anyio.create_memory_object_stream[Any](0)

        async def read() -> None:
            with into:
                try:
                    while True:
                        line = await child.read_line()
                        await into.send(SessionMessage(JSONRPCMessage.model_validate_json(line)))
                except SystemFaultError as error:
                    self._fault = error
                except ValueError:
                    shown = line.decode(errors="replace").strip()[:80]
                    self._fault = SystemFaultError(
                        f"{self.name} wrote {shown!r} to stdout, which is no message of MCP: write its logs to stderr"
                    )

        async def write() -> None:
            with out_of:
                async for message in out_of:
                    text = message.message.model_dump_json(by_alias=True, exclude_none=True)
                    await child.write(f"{text}\n".encode())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            tasks.start_soon(write)
            try:
                yield received, sent
            finally:
                tasks.cancel_scope.cancel()


def _put(arguments: dict[str, Any], schema: Mapping[str, Any], path: str, value: str) -> None:
    """Put a value into the arguments of a tool. A list gets it as its one entry.

    >>> objects = {"type": "array", "items": {"properties": {"texts": {"type": "array"}}}}
    >>> arguments = {}
    >>> for path, value in ("items.texts", "Mary left."), ("items.name", "3"), ("top", "3"):
    ...     _put(arguments, {"items": objects, "top": {"type": "integer"}}, path, value)
    >>> arguments
    {'items': [{'texts': ['Mary left.'], 'name': '3'}], 'top': 3}
    """
    name, _, rest = path.partition(".")
    kind: Mapping[str, Any] = schema.get(name, {"type": "string"})
    is_list = kind.get("type") == "array"
    if rest:
        inner = arguments.setdefault(name, [{}] if is_list else {})
        properties = (kind.get("items", {}) if is_list else kind).get("properties", {})
        _put(inner[0] if is_list else inner, properties, rest, value)
    elif is_list:
        arguments[name] = [value]
    else:
        arguments[name] = value
        if not _takes_text(kind):
            with suppress(ValueError):
                arguments[name] = json.loads(value)


def _takes_text(schema: Mapping[str, Any]) -> bool:
    """Return whether an argument is a text, or a list of texts."""
    kinds = [schema, *schema.get("anyOf", ())]
    return any(
        kind.get("type") == "string" or (kind.get("type") == "array" and kind.get("items", {}).get("type") == "string")
        for kind in kinds
    )


def _innermost(error: BaseException | None) -> str:
    """Return what an error says, without the groups around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return one_line(error) if error else "it has ended"
