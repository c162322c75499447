"""Handling of SIGTERM, which service managers and job schedulers send: it stops a command as Ctrl-C does.

Python runs handlers of signals in its main thread. If that waits for something that never comes, such as a native
thread that died for lack of memory, no handler runs. So a second signal ends the process from a thread of its own.
"""

import os
import signal
import socket
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

_INTERRUPTED = 128 + signal.SIGINT
_TERMINATED = 128 + signal.SIGTERM

GRACE = 5.0
"""Seconds between a second signal and the end of a process that did not stop."""

_SOON = 0.05
"""Seconds until a signal is repeated, when the code that dropped it has ended."""

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
        with _end_at_second_signal() as repeats, _repeat_lost_interrupts(repeats):
            yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def _repeat_lost_interrupts(repeats: list[int]) -> Iterator[None]:
    """Interrupt again where Python drops a `KeyboardInterrupt`: in a destructor, or in a callback of an import.

    Args:
        repeats: Gets an element for each repeated signal, which does not count as a second one.
    """
    before = sys.unraisablehook

    def hook(dropped: "sys.UnraisableHookArgs") -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):
            before(dropped)
            return
        repeats.append(signal.SIGINT)
        threading.Timer(_SOON, os.kill, (os.getpid(), signal.SIGINT)).start()

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


@contextmanager
def _end_at_second_signal() -> Iterator[list[int]]:
    """End the process if it has not stopped some seconds after a second signal of one kind.

    Signals in the list that it yields do not count.
    """
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    has_ended, repeats = threading.Event(), list[int]()

    def watch() -> None:
        received = Counter[int]()  # the handler of SIGTERM raises a SIGINT, too
        with receiver:
            while number := receiver.recv(1):  # C code writes the number of each signal
                received[number[0]] += 1
                interrupts = received[signal.SIGINT] - len(repeats)
                if max(interrupts, received[signal.SIGTERM]) >= 2 and not has_ended.wait(GRACE):
                    os._exit(_TERMINATED if received[signal.SIGTERM] else _INTERRUPTED)

    threading.Thread(target=watch, daemon=True, name="signals").start()
    try:
        yield repeats
    finally:
        has_ended.set()
        signal.set_wakeup_fd(before)
        sender.close()


def _leave_to_parent() -> None:
    """Keep the signals of a forked process from counting as signals of its parent."""
    if threading.current_thread() is threading.main_thread():
        signal.set_wakeup_fd(-1)


os.register_at_fork(after_in_child=_leave_to_parent)


def _interrupt(number: int, frame: object) -> None:
    global _code
    _code = _TERMINATED
    if "multiprocessing" in sys.modules:  # Ctrl-C reaches all processes of a command, SIGTERM one
        for child in sys.modules["multiprocessing"].active_children():
            child.terminate()
    if signal.SIGINT not in signal.sigpending():
        signal.raise_signal(signal.SIGINT)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
