"""SIGTERM stops a command as Ctrl-C does."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from carrara.cli.main import main
from carrara.cli.stopping import stoppable

SCRIPT = """
import os, signal, time
from multiprocessing import get_context
from carrara.cli.stopping import stoppable, stopped_code

if __name__ == "__main__":
    handler = signal.{handler}
    signal.signal(signal.SIGINT, handler)
    child = get_context("spawn").Process(target=time.sleep, args=(600,))
    child.start()
    try:
        with stoppable():
            if handler == signal.SIG_IGN:
                os.kill(os.getpid(), signal.SIGINT)  # it stays ignored
                time.sleep(0.1)
            print(stopped_code())
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(600)
    except KeyboardInterrupt:
        print(stopped_code())
    child.join()
    print(child.exitcode)
    print(signal.getsignal(signal.SIGINT) is handler, signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
    print(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
"""


LOST = """
import os, signal, time
from carrara.cli.stopping import stoppable

class Interrupted:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)

try:
    with stoppable():
        Interrupted()
        time.sleep(600)
except KeyboardInterrupt:
    print("stopped")
"""


def test_an_interrupt_that_python_drops_is_repeated() -> None:
    """As in a destructor, or in a callback while modules are imported."""
    ended = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, check=True, timeout=300)
    assert (ended.stdout, ended.stderr) == ("stopped\n", "")


@pytest.mark.parametrize("handler", ["default_int_handler", "SIG_IGN"])
def test_sigterm_is_an_interrupt(handler: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(handler=handler))
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, timeout=300)
    assert ended.stdout.splitlines() == ["130", "143", "-15", "True True", "set()"]


def test_a_program_that_has_a_handler_keeps_it() -> None:
    seen = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
    try:
        with stoppable():
            os.kill(os.getpid(), signal.SIGTERM)
        assert seen == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_command_leaves_no_handler_behind() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    assert main(["tasks", "latent_list"]) == 0
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


HANGING = """
import ctypes, signal, sys
from carrara.cli import stopping

signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background are started without it
stopping.GRACE = 0.1
libc, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(256)
with stopping.stoppable():
    print("ready", flush=True)
    for _ in range(2):
        libc.pthread_mutex_lock(mutex)  # the second call never returns, and no handler of Python runs
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_a_process_that_hangs(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", HANGING], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)  # until it hangs
        while process.poll() is None:  # two signals at once would be one
            process.send_signal(number)
            time.sleep(0.2)
        assert process.returncode == 128 + number


FORKED = """
import os, signal
from carrara.cli import stopping

stopping.GRACE = 0.1
with stopping.stoppable():
    for _ in range(3):
        if not (child := os.fork()):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.kill(os.getpid(), signal.SIGTERM)
            os._exit(7)
        os.waitpid(child, 0)
    print("goes on")
"""


def test_the_signals_of_a_forked_process_are_its_own() -> None:
    ended = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=True, timeout=300)
    assert ended.stdout == "goes on\n"
