"""Parallel work gives the results of sequential work."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from carrara.util.errors import RunError, UsageError
from carrara.util.log import logger
from carrara.util.parallel import parallel_map
from carrara.util.quantities import read_length


def test_what_comes_of_each_job_in_order() -> None:
    assert list(parallel_map(read_length, ["1k", "5", "2k", "0"])) == [1024, 5, 2048, 0]
    assert list(parallel_map(read_length, [])) == []


def test_errors_arrive_as_they_are() -> None:
    with pytest.raises(UsageError, match="many"):
        list(parallel_map(read_length, ["1k", "many"]))


def test_a_process_that_ends_is_a_sentence() -> None:
    with pytest.raises(RunError, match="short of memory"):
        list(parallel_map(os._exit, [1, 1]))


def test_what_other_processes_tell_is_told_here(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("carrara.util.parallel.count_cores", lambda: 2)
    assert list(parallel_map(logger.warning, ["1 is done", "2 is done"])) == [None, None]
    assert sorted(record.getMessage() for record in caplog.records) == ["1 is done", "2 is done"]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks into /proc")
def test_workers_end_with_whom_they_work_for() -> None:
    """Even where it is killed, and can tell them nothing."""
    asks = "import time; from carrara.util.parallel import parallel_map; list(parallel_map(time.sleep, [600, 600]))"
    parent = subprocess.Popen([sys.executable, "-c", asks])
    workers: set[int] = set()
    while len(workers) < 2:
        assert parent.poll() is None
        time.sleep(0.2)
        workers = {pid for pid in _children(parent.pid) if "resource_tracker" not in _command(pid)}
    time.sleep(1.0)  # they are at work
    parent.kill()
    parent.wait()
    for _ in range(100):
        if not any(_command(pid) for pid in workers):
            return
        time.sleep(0.1)
    raise AssertionError("workers go on, and nobody waits for them")


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _command(pid: int) -> str:
    """How a process was started; nothing of one that has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
