"""Errors that users see.

Each message is one sentence that names the input and the remedy: "no tokenizer is called 'o20k'; did you mean o200k?".
The command line prints it without a traceback and exits with a code that depends on the class. Any other exception is a
bug. A message names an option as in Python, in backquotes (`max_tokens=512`). The command line prints the flag instead.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from errno import EDQUOT, ENOSPC

from carrara.util.unicode import replace_surrogates


class CarraraError(Exception):
    """The base class of the errors that Carrara raises on purpose. The message is one sentence with the remedy.

    Examples:
        >>> import carrara
        >>> try:
        ...     carrara.load("passkeys")
        ... except carrara.CarraraError as error:
        ...     print(error)
        no task is called 'passkeys'; did you mean passkey...
    """


class UsageError(CarraraError):
    """An argument is wrong or missing. The command line exits with code 2.

    Examples:
        >>> import carrara
        >>> carrara.item("qa1", "4q")
        Traceback (most recent call last):
        carrara.util.errors.UsageError: '4q' is not a length; write tokens as 0, 1000, 4k (4,096) or 1M (1,048,576)
    """


class RunError(CarraraError):
    """The arguments are right, but the work failed. The command line exits with code 1.

    Examples:
        >>> import carrara
        >>> issubclass(RunError, carrara.CarraraError)
        True
    """


class PluginError(RunError):
    """The code of a task that is not part of Carrara raised an exception, or returned a wrong type.

    Args:
        message: The sentence that the user sees: the task, its method, and the exception.

    Examples:
        >>> issubclass(PluginError, RunError)
        True
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        """The text that Inspect writes into its log, in place of the exception's repr."""


class LengthError(UsageError):
    """No prompt of this instance has exactly the requested length.

    Args:
        message: The sentence that the user sees.
        part: The reason without the name of the item.

    Examples:
        >>> import carrara
        >>> try:
        ...     carrara.item("latent_list", 100, tokenizer="gpt2")
        ... except LengthError as error:
        ...     print("too short")
        too short
    """

    def __init__(self, message: str, part: str = "") -> None:
        super().__init__(message)
        self.part = part
        """The reason without the name of the item, for one message about many: `32 roles take over 1,934 tokens`."""

    def __reduce__(self) -> tuple[type["LengthError"], tuple[str, str]]:
        """Keep `part` if another process raised the error."""
        return type(self), (str(self), self.part)


class ExhaustedError(UsageError):
    """A stream of filler, words or drafts has nothing left."""


def os_error_text(error: OSError) -> str:
    """Return the message about an error of the operating system.

    >>> os_error_text(PermissionError(13, "Permission denied", "/etc/runs"))
    '/etc/runs cannot be opened or written: Permission denied; give another file or folder'
    """
    remedy = "make room" if error.errno in (ENOSPC, EDQUOT) else "give another file or folder"
    return f"{error.filename or 'a file'} cannot be opened or written: {error.strerror or error}; {remedy}"


LONGEST_TEXT = 2000
"""The most characters of the text of an exception in others' code. Inspect formats tracebacks in a time that grows with
the square of such texts."""


def describe_exception(error: BaseException) -> str:
    """Return the type and the text of an exception in others' code, shortened if it is long.

    >>> describe_exception(ValueError("no weights")), len(describe_exception(ValueError("x" * 10_000)))
    ('ValueError: no weights', 2013)
    """
    text = _text_of(error)
    return f"{type(error).__name__}: {text[:LONGEST_TEXT]}{'…' if len(text) > LONGEST_TEXT else ''}"


def has_long_text(error: BaseException) -> bool:
    """Return whether an exception, or one that led to it, has too long a text for a traceback."""
    return any(len(_text_of(cause)) > LONGEST_TEXT for cause in (error, error.__cause__, error.__context__) if cause)


def _text_of(error: BaseException) -> str:
    try:
        return replace_surrogates(str(error))
    except Exception:
        return "it has no text"


def nearest(word: str, options: Iterable[str], most: int = 3) -> str:
    """Return the end of a message about an unknown name: a few similar names, or nothing.

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
