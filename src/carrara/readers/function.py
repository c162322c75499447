"""The reader `function`: a function of the user's own, `async (context, question, model) -> str`."""

import inspect
import sys
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from carrara.readers.reader import Reader, ReaderFunction, ReaderModel, Reading
from carrara.util.errors import UsageError

if TYPE_CHECKING:
    from carrara.readers.context import ReaderContext

_FUNCTIONS: dict[str, ReaderFunction] = {}
"""The functions that this process was given, by name."""


@dataclass(frozen=True)
class FunctionReader(Reader):
    """A function reads the context."""

    function: ReaderFunction = field(compare=False)
    place: str = ""
    """The name of the function, or its module and name."""

    name = "function"

    @classmethod
    def parse(cls, options: str) -> "FunctionReader":
        return cls(_FUNCTIONS.get(options) or load_object(options, "a function of (context, question, model)"), options)

    @classmethod
    def of(cls, function: ReaderFunction) -> "FunctionReader":
        """Return the reader that a function is. Its name finds it again in this process."""
        if not inspect.iscoroutinefunction(function):
            raise UsageError(f"{function!r} is no reader: give an `async def` with (context, question, model)")
        place = getattr(function, "__qualname__", type(function).__name__).replace("<locals>.", "")
        _FUNCTIONS[place] = function
        return cls(function, place)

    def __str__(self) -> str:
        return f"{self.name}:{self.place}"

    async def read(self, context: "ReaderContext", question: str, model: ReaderModel) -> str | Reading:
        reply = await self.function(context, question, model)
        if not isinstance(reply, str | Reading):
            raise UsageError(f"the reader {self} returned {type(reply).__name__}: return a text or a `Reading`")
        return reply


def load_object(place: str, meaning: str) -> Any:
    """Return what `package.module:name` names. Modules in the current folder are found too."""
    module, colon, name = place.partition(":")
    if not colon or not module or not name:
        raise UsageError(f"{place!r} does not name {meaning}: write package.module:name")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return getattr(import_module(module), name)
    except ImportError as error:
        raise UsageError(f"{place} cannot be imported: {error}") from None
    except AttributeError:
        raise UsageError(f"{module} has no {name}") from None
