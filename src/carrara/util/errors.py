"""Errors that users see.

Each message is one sentence that names the input and the remedy: "no tokenizer is called 'o20k'; did you mean o200k?".
The command line prints it without a traceback and exits with the code given here. Any other exception is a bug.
A message names a setting as Python does, in backquotes (`max_tokens=512`); the command line writes the flag instead.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class CarraraError(Exception):
    """The base class of the errors that Carrara raises on purpose."""


class UsageError(CarraraError):
    """An argument is wrong or missing. The command line exits with code 2."""


class RunError(CarraraError):
    """The arguments are right, but the work failed. The command line exits with code 1."""


class PluginError(RunError):
    """The code of a task that is not part of Carrara raised an exception, or returned a wrong type."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        """The text that Inspect writes into its log, in place of the exception's repr."""


class LengthError(UsageError):
    """No prompt of this instance has exactly the requested length."""

    def __init__(self, message: str, part: str = "") -> None:
        super().__init__(message)
        self.part = part
        """The reason without the name of the item, for one message about many: `32 roles take over 1,934 tokens`."""

    def __reduce__(self) -> tuple[type["LengthError"], tuple[str, str]]:
        """Keep `part` when another process raised the error."""
        return type(self), (str(self), self.part)


class ExhaustedError(UsageError):
    """A stream of filler, words or drafts has nothing left."""


def nearest(word: str, options: Iterable[str], most: int = 3) -> str:
    """Return the end of a message about an unknown name: at most so many similar names, or nothing.

    >>> nearest("o20k", ["gpt2", "cl100k", "o200k"])
    '; did you mean o200k?'
    >>> nearest("Qwen", ["qwen3", "qwen2", "gpt2"])
    '; did you mean qwen3 or qwen2?'
    >>> nearest("zebra", ["gpt2"])
    ''
    """
    by_lower = {option.lower(): option for option in options}
    close = [by_lower[match] for match in get_close_matches(word.lower(), by_lower, n=most, cutoff=0.5)]
    if not close:
        return ""
    *others, last = close
    return f"; did you mean {', '.join(others)}{' or ' if others else ''}{last}?"


class InvalidTaskError(Exception):
    """A task returned a value of a wrong type. The message names it."""
