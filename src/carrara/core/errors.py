"""The errors that a user is meant to see, and kinds of them that can be dealt with.

Each message is one sentence that names the input and the mend: "no tokenizer is called 'o20k'; did you mean o200k?".
The command line prints it without a traceback and exits with the code given here. Anything else that escapes is a bug.
A setting is named as Python has it, in backquotes (`max_tokens=512`); the command line writes the flag instead.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class CarraraError(Exception):
    """Carrara cannot do what it was asked for, and says why."""


class UsageError(CarraraError):
    """Carrara was asked for something that cannot be: exit code 2."""


class RunError(CarraraError):
    """What was asked for is sound, but doing it failed: exit code 1."""


class PluginError(RunError):
    """The code of a test that is not part of the package raised an exception, or returned what it should not."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        """What Inspect writes into its log, in place of the exception's repr."""


class Unreachable(UsageError):
    """No prompt of this world has exactly the length asked for."""

    def __init__(self, message: str, part: str = "") -> None:
        super().__init__(message)
        self.part = part
        """What of a grid does not fit, for one message about many worlds: `32 roles take 1,934 tokens at least`."""

    def __reduce__(self) -> tuple[type["Unreachable"], tuple[str, str]]:
        """From another process it comes as it was."""
        return type(self), (str(self), self.part)


class Dry(UsageError):
    """A stream of filler has nothing left: it was asked for more than there is."""


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


class Unsuited(Exception):
    """Raised where a task returns something of another type than it should; the message says which."""
