"""The logger `carrara`, which reports what happens while the library works.

A warning needs a user's attention; a record at INFO reports progress. Python prints warnings to stderr unless the
program configures logging; `logging.getLogger("carrara").setLevel("ERROR")` silences them. The command line prints
both.

A message names an option as in Python, in backquotes (`max_tokens=512`). The command line prints the flag instead.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.context import BaseContext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

logger = logging.getLogger("carrara")
if logger.level == logging.NOTSET:
    logger.setLevel(logging.WARNING)  # Inspect changes the level that it would inherit, for each evaluation

ONCE = "once"
"""An attribute of a record: a command prints the message once, because it holds for all tasks, lengths and files."""
SKIPPED = "skipped"
"""An attribute of a record: input was left out. A command continues, and exits with code 1."""


def warn_once(message: str) -> None:
    """Log a warning that a command prints once."""
    logger.warning(message, extra={ONCE: True})


def warn_skipped(message: str) -> None:
    """Log that input was left out. A command prints it once, and exits with code 1."""
    logger.warning(message, extra={ONCE: True, SKIPPED: True})


@contextmanager
def collect_records() -> Iterator[list[logging.LogRecord]]:
    """Collect the records that are logged within the block. No other handler receives them."""
    records: list[logging.LogRecord] = []
    handler = _Handler(records.append)
    propagate, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield records
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate


@contextmanager
def receive_records(context: BaseContext) -> Iterator["Queue[Any]"]:
    """Open a queue for the records of other processes, and log them here."""
    from logging.handlers import QueueListener

    queue = context.Queue()
    listener = QueueListener(queue, _Handler(logger.handle))
    listener.start()
    try:
        yield queue
    finally:
        listener.stop()
        queue.close()


def send_records(queue: "Queue[Any]", level: int) -> None:
    """Send all records of this process to the one that opened the queue."""
    from logging.handlers import QueueHandler

    logger.setLevel(level)
    logger.addHandler(QueueHandler(queue))
    logger.propagate = False


class _Handler(logging.Handler):
    """A handler that passes each record to a function."""

    def __init__(self, receive: Callable[[logging.LogRecord], object]) -> None:
        super().__init__()
        self._receive = receive

    def emit(self, record: logging.LogRecord) -> None:
        self._receive(record)
