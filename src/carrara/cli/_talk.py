"""What the library tells and refuses, said on stderr in the words of the command line."""

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from carrara.core.talk import LOG, ONCE, SKIPPED

_SHORT = {"params": "-p", "n": "-n", "model_args": "-M", "any_size": "--yes"}
_LONG = (
    "alias",
    "babi",
    "base_url",
    "batch",
    "budget",
    "by",
    "cot",
    "engine",
    "lengths",
    "max_tokens",
    "order",
    "out",
    "price",
    "prompts",
    "published",
    "retrieve",
    "shard",
    "seed",
    "split",
    "style",
    "task",
    "tokenizer",
    "top_k",
    "within",
)
_FLAGS = _SHORT | {name: f"--{name.replace('_', '-')}" for name in _LONG}
_SETTING = re.compile(rf"`({'|'.join(_FLAGS)})(?:=([^`]*))?`")


def in_flags(message: str) -> str:
    """A message with the flags in place of the settings that it names.

    >>> in_flags("`max_tokens=512` has room, and `within=True` too; `carrara tasks` lists them")
    '--max-tokens 512 has room, and --within too; `carrara tasks` lists them'
    """
    return _SETTING.sub(lambda found: _flag(found[1], found[2]), message)


def _flag(name: str, value: str | None) -> str:
    return _FLAGS[name] if value in (None, "True") else f"{_FLAGS[name]} {value}"


def say(message: str) -> None:
    """Print a message to stderr. Names in it may be a stranger's: control characters are shown as signs."""
    from carrara.results.report.visible import visible

    print(f"carrara: {visible(in_flags(message))}", file=sys.stderr)


class _Saying(logging.Handler):
    """Of one command, which says once what need not be said again."""

    def __init__(self) -> None:
        super().__init__()
        self._said: set[str] = set()
        self.skipped = False
        """Whether some input was left out."""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        self.skipped |= getattr(record, SKIPPED, False)
        if getattr(record, ONCE, False):
            if message in self._said:
                return
            self._said.add(message)
        say(message)


@contextmanager
def talking() -> Iterator[_Saying]:
    """Within it all that the library tells is said, and by nobody else."""
    handler, before = _Saying(), LOG.propagate
    LOG.addHandler(handler)
    LOG.propagate = False
    try:
        yield handler
    finally:
        LOG.removeHandler(handler)
        LOG.propagate = before
