"""What people should know of work that goes on, as records of the logger `carrara`.

Nobody hears them unless he listens: the command line does, and so does Inspect's. A setting is named as Python has it,
in backquotes (`max_tokens=512`); the command line writes the flag instead.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import BaseContext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

LOG = logging.getLogger("carrara")
LOG.setLevel(logging.WARNING)  # its own: the one that it would inherit, Inspect sets anew for every evaluation
LOG.addHandler(logging.NullHandler())

ONCE = "once"
"""The attribute of a record that is a warning, and no news: as true of the next test, length or file as of this one."""


SKIPPED = "skipped"
"""The attribute of a record that names input that was left out: the command goes on, and ends with exit code 1."""


def tell(what: str) -> None:
    LOG.warning("%s", what)


def tell_once(what: str) -> None:
    LOG.warning("%s", what, extra={ONCE: True})


def tell_skipped(what: str) -> None:
    """Say, once, what input was left out."""
    LOG.warning("%s", what, extra={ONCE: True, SKIPPED: True})


@contextmanager
def told() -> Iterator[list[str]]:
    """What is told within it, kept and told to nobody else."""
    said: list[str] = []
    keeping = _Kept(said)
    heard, LOG.propagate = LOG.propagate, False
    LOG.addHandler(keeping)
    try:
        yield said
    finally:
        LOG.removeHandler(keeping)
        LOG.propagate = heard


@contextmanager
def overheard(context: BaseContext) -> Iterator["Queue[Any]"]:
    """A queue for other processes: what they tell into it, this one tells."""
    from logging.handlers import QueueListener

    queue = context.Queue()
    listener = QueueListener(queue, _Again())
    listener.start()
    try:
        yield queue
    finally:
        listener.stop()
        queue.close()


def tell_into(queue: "Queue[Any]") -> None:
    """Have all that this process tells be told by the one that started it."""
    from logging.handlers import QueueHandler

    LOG.addHandler(QueueHandler(queue))
    LOG.propagate = False


class _Kept(logging.Handler):
    def __init__(self, said: list[str]) -> None:
        super().__init__()
        self._said = said

    def emit(self, record: logging.LogRecord) -> None:
        self._said.append(record.getMessage())


class _Again(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        LOG.handle(record)
