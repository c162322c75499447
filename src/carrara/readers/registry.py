"""The readers by name."""

from collections.abc import Mapping
from importlib import import_module

from carrara.constants import WHOLE
from carrara.readers.function import FunctionReader
from carrara.readers.reader import Reader, ReaderFunction
from carrara.util.errors import UsageError, nearest

READERS: Mapping[str, str] = {
    WHOLE: "carrara.readers.one_prompt:Whole",
    "none": "carrara.readers.one_prompt:ClosedBook",
    "evidence": "carrara.readers.one_prompt:Evidence",
    "retrieval": "carrara.readers.retrieval.reader:RetrievalReader",
    "notes": "carrara.readers.notes:Notes",
    "compact": "carrara.readers.compact:Compact",
    "search": "carrara.readers.search:Search",
    "repl": "carrara.readers.repl.reader:Repl",
    "agent": "carrara.readers.agent:AgentReader",
    "memory": "carrara.readers.memory:MemoryReader",
    "function": "carrara.readers.function:FunctionReader",
}
"""The readers by name, each with the class that implements it."""


def reader_of(given: "str | Reader | ReaderFunction") -> Reader:
    """Return a reader for what a user gave: its name, the reader itself, or a function."""
    if isinstance(given, Reader):
        return given
    if isinstance(given, str):
        return parse_reader(given)
    if not callable(given):
        raise UsageError(f"{given!r} is no reader: give its name, such as 'notes:chunk=4k', or an async function")
    return FunctionReader.of(given)


def parse_reader(text: str) -> Reader:
    """Return the reader that a text names.

    Args:
        text: The name, and settings after a colon: `whole`, `retrieval:sentences,by=bm25`, `notes:chunk=4k,blind`.

    Returns:
        The reader.

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
    found: type[Reader] = getattr(import_module(module), kind)
    return found.parse(options)
