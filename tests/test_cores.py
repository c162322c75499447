"""Work on all cores comes out as it would on one."""

import os

import pytest

from carrara.core.cores import on_all
from carrara.core.errors import RunError, UsageError
from carrara.core.lengths import read_length
from carrara.core.talk import tell


def test_what_comes_of_each_job_in_order() -> None:
    assert list(on_all(read_length, ["1k", "5", "2k", "0"])) == [1024, 5, 2048, 0]
    assert list(on_all(read_length, [])) == []


def test_errors_arrive_as_they_are() -> None:
    with pytest.raises(UsageError, match="many"):
        list(on_all(read_length, ["1k", "many"]))


def test_a_process_that_ends_is_a_sentence() -> None:
    with pytest.raises(RunError, match="short of memory"):
        list(on_all(os._exit, [1, 1]))


def test_what_other_processes_tell_is_told_here(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("carrara.core.cores.cores", lambda: 2)
    assert list(on_all(tell, ["1 is done", "2 is done"])) == [None, None]
    assert sorted(record.getMessage() for record in caplog.records) == ["1 is done", "2 is done"]
