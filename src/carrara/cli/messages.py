"""Messages of the library on stderr, with command-line flags in place of the names of options."""

import logging
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from carrara.util.log import ONCE, SKIPPED, logger

if TYPE_CHECKING:
    from cyclopts import App

_OPTION = re.compile(r"`([a-z_]+)(?:=([^`]*))?`")
_COMMAND: ContextVar["tuple[App, Sequence[str]] | None"] = ContextVar("command", default=None)
"""The command that is running, and its flags."""


def in_flags(message: str, flags: Mapping[str, str], rare: Sequence[str] = ()) -> str:
    """Return a message with flags in place of option names in backquotes. Rare settings stand in a file.

    >>> flags = {"max_tokens": "--max-tokens", "allow_large": "--allow-large"}
    >>> in_flags("`max_tokens=512` has room, and `allow_large=True` too; `carrara tasks` lists them", flags)
    '--max-tokens 512 has room, and --allow-large too; `carrara tasks` lists them'
    >>> in_flags("`within=True` makes lengths hold the answer too", flags, ["within"])
    '`within=True` (in the file of --config) makes lengths hold the answer too'
    """

    def flag(match: re.Match[str]) -> str:
        name, value = match[1], match[2]
        if name in rare and value is not None and f": {name}: " not in message:  # which names the file already
            return f"{match[0]} (in the file of --config)"
        if name not in flags:
            return match[0]
        return flags[name] if value in (None, "True") else f"{flags[name]} {value}"

    return _OPTION.sub(flag, message)


def words_given() -> Sequence[str]:
    """Return the arguments of the running command line. Empty if none is running."""
    running = _COMMAND.get()
    return running[1] if running else ()


def _flags() -> dict[str, str]:
    """Return the flags and arguments of the command that is running, by the names of its settings."""
    running = _COMMAND.get()
    if running is None:
        return {}
    app, tokens = running
    for command in app.parse_commands(tokens)[1]:
        app = command
    if app.default_command is None:
        return {}
    arguments = app.assemble_argument_collection()
    return {argument.field_info.name: argument.name for argument in arguments}


def _rare_settings() -> Sequence[str]:
    """Return the settings of the command that is running that are no flags."""
    from carrara.cli.commands import COMMANDS

    name = next(iter(words_given()), "")
    commands = [group[name] for group in COMMANDS.values() if name in group]
    return [setting for command in commands for setting in getattr(command, "rare", ())]


def say(message: str) -> None:
    """Print a message to stderr. It may contain names from other people's files, so control characters are replaced."""
    from carrara.util.sanitize import visible

    shown = in_flags(message, _flags(), _rare_settings()) if "`" in message else message
    print(f"carrara: {visible(shown)}", file=sys.stderr)


class _Handler(logging.Handler):
    """A log handler that prints the library's messages during one command, and prints repeated messages only once."""

    def __init__(self) -> None:
        super().__init__()
        self._printed: set[str] = set()
        self.skipped = False
        """Whether some input was left out."""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        self.skipped |= getattr(record, SKIPPED, False)
        if getattr(record, ONCE, False):
            if message in self._printed:
                return
            self._printed.add(message)
        say(message)


@contextmanager
def messages_on_stderr(app: "App | None" = None, tokens: Sequence[str] = ()) -> Iterator[_Handler]:
    """Print the library's log messages, and keep other handlers from printing them.

    Args:
        app: The command line, if one is running.
        tokens: The arguments of the command line.
    """
    handler, before = _Handler(), (logger.level, logger.propagate)
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    logger.propagate = False
    token = _COMMAND.set((app, tokens) if app else None)
    try:
        yield handler
    finally:
        _COMMAND.reset(token)
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]
