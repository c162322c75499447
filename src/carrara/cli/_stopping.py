"""Handling of SIGTERM, which service managers and job schedulers send: it stops a command as Ctrl-C does."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_INTERRUPTED = 128 + signal.SIGINT
_TERMINATED = 128 + signal.SIGTERM

_code = _INTERRUPTED


def stopped_code() -> int:
    """Return the exit code of a command that was stopped: 130 by Ctrl-C, 143 by SIGTERM."""
    return _code


@contextmanager
def stoppable() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C until the block ends, unless the calling program has its own handler.

    Where Ctrl-C is ignored, as in background jobs of a script, it is blocked instead: asyncio ends its tasks in order
    only where it may set a handler.
    """
    global _code
    _code = _INTERRUPTED
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _interrupt(number: int, frame: object) -> None:
    global _code
    _code = _TERMINATED
    if "multiprocessing" in sys.modules:  # Ctrl-C reaches all processes of a command, SIGTERM one
        for child in sys.modules["multiprocessing"].active_children():
            child.terminate()
    if signal.SIGINT not in signal.sigpending():
        signal.raise_signal(signal.SIGINT)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
