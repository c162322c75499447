"""The options that name a reader, for every command that asks a model or estimates what that costs."""

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Annotated

from attrs import frozen
from cyclopts import Group

from carrara.constants import WHOLE
from carrara.options import text
from carrara.readers.reader import Reader, ReaderFunction
from carrara.readers.registry import READERS, reader_of
from carrara.util.errors import UsageError

_NEXT_READER = re.compile(rf""""[^"]*"|'[^']*'|(?P<comma>,)(?=\s*(?:{"|".join(READERS)})(?:[:,]|$))""")
"""A comma after which the name of another reader stands, or a text in quotes, in which no comma is meant. Other commas
divide the settings of one reader."""


ReaderLike = str | Iterable[str] | Reader | ReaderFunction
"""A reader by its name, several by their names, or a reader itself."""


@frozen(kw_only=True, slots=False)
class ReaderOptions:
    """How the context of an item reaches the model."""

    group = Group("Reader", sort_key=35)
    reader: Annotated[ReaderLike, text("READER", shows_default=True, joins=True)] = WHOLE
    """How the context reaches the model: whole, none (closed book), evidence, retrieval:sentences,top=5,
    notes:chunk=4k,size=1k, compact:window=32k, summaries:FILE, search:calls=20, repl:sandbox=docker, agent:NAME,
    memory:MODULE:CLASS, command:COMMAND, http:URL, mcp:COMMAND,add=TOOL,answer=TOOL, cli:COMMAND or
    function:MODULE:NAME. `carrara run` and `plan` take several."""

    @property
    def setting_of_reader(self) -> str:
        """The reader as results name it among their settings. Empty for `whole`."""
        return "" if self.context_reader.is_whole else str(self.context_reader)

    @cached_property
    def context_reader(self) -> Reader:
        """The reader that these options name."""
        return reader_of(self._one_reader())

    def _one_reader(self) -> str | Reader | ReaderFunction:
        if isinstance(self.reader, Reader) or callable(self.reader):
            return self.reader
        if not isinstance(self.reader, Iterable):
            raise UsageError(f"{self.reader!r} is no reader: give its name, such as 'notes:chunk=4k', or a function")
        names = split_readers(self.reader if isinstance(self.reader, str) else ",".join(map(str, self.reader)))
        if len(names) != 1:
            raise UsageError(f"`reader={self.reader}` does not name one reader: give one, or run each by itself")
        return names[0]


def split_readers(text: str) -> list[str]:
    """Return the readers that a text names, separated by commas.

    Examples:
        >>> split_readers("whole,notes:chunk=4k,size=1k,search")
        ['whole', 'notes:chunk=4k,size=1k', 'search']
        >>> split_readers("command:./m --try 'none,whole',command:./m")
        ["command:./m --try 'none,whole'", 'command:./m']
    """
    ends = [match.start() for match in _NEXT_READER.finditer(text) if match["comma"]]
    names = [text[start:end].strip(", ") for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
    return list(dict.fromkeys(filter(None, names)))
