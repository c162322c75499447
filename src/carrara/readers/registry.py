"""The readers by name."""

from collections.abc import Mapping
from importlib import import_module

from carrara.constants import WHOLE
from carrara.readers.function import FunctionReader
from carrara.readers.reader import Reader, ReaderFunction
from carrara.util.errors import UsageError, nearest

READERS: Mapping[str, str] = {
    WHOLE: "carrara.readers.retrieval.reader:Whole",
    "none": "carrara.readers.retrieval.reader:ClosedBook",
    "evidence": "carrara.readers.retrieval.reader:Evidence",
    "retrieval": "carrara.readers.retrieval.reader:RetrievalReader",
    "notes": "carrara.readers.notes:Notes",
    "compact": "carrara.readers.compact:Compact",
    "summaries": "carrara.readers.summaries:Summaries",
    "search": "carrara.readers.search:Search",
    "repl": "carrara.readers.repl.reader:Repl",
    "agent": "carrara.readers.agent:AgentReader",
    "memory": "carrara.readers.memory:MemoryReader",
    "command": "carrara.readers.systems.command:CommandReader",
    "http": "carrara.readers.systems.http:HttpReader",
    "mcp": "carrara.readers.systems.mcp:McpReader",
    "cli": "carrara.readers.systems.cli:CliReader",
    "function": "carrara.readers.function:FunctionReader",
}
"""The readers by name, each with the class that implements it."""


def reader_of(reader: "str | Reader | ReaderFunction") -> Reader:
    """Return a reader for what a user gave: its name, the reader itself, or a function."""
    if isinstance(reader, Reader):
        return reader
    if isinstance(reader, str):
        return parse_reader(reader)
    if not callable(reader):
        raise UsageError(f"{reader!r} is no reader: give its name, such as 'notes:chunk=4k', or an async function")
    return FunctionReader.of(reader)


def parse_reader(text: str) -> Reader:
    """Return the reader that a text names.

    Args:
        text: The name, and settings after a colon: `whole`, `retrieval:sentences,by=bm25`, `notes:chunk=4k,blind`.

    Raises:
        UsageError: There is no such reader, or a setting is wrong.

    Examples:
        >>> str(parse_reader("notes:size=512"))
        'notes:chunk=4k,size=512'
    """
    name, _, options = text.strip().partition(":")
    if name not in READERS:
        raise UsageError(f"there is no reader {name!r}{nearest(name, READERS)}; there are {', '.join(READERS)}")
    module, _, kind = READERS[name].partition(":")
    reader_class: type[Reader] = getattr(import_module(module), kind)
    return reader_class.parse(options)
