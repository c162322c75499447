"""What a hostile stranger might send (benchmarks/hostile_files.py): each kind is refused, left out or named."""

import re
import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks import hostile_files

import carrara
from carrara.cli.main import main
from carrara.results.result import FactTrace, ReadingCost
from carrara.runs.log_files import header, samples
from carrara.runs.replies import check_result, steps_of
from tests.helpers.inspect_warnings import LEFT_OPEN

pytestmark = [LEFT_OPEN, pytest.mark.usefixtures("collected")]

KINDS = {kind.name: kind for kind in hostile_files.KINDS}
QUICK = [*hostile_files.FILES, *hostile_files.READ]
"""Those that could hang or take much memory."""
CASES = [
    pytest.param(kind, id=kind.name, marks=() if kind in QUICK else pytest.mark.slow) for kind in hostile_files.KINDS
]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("hostile_files") / "honest"
    hostile_files.honest(out)
    return out


@pytest.fixture
def in_time() -> Iterator[None]:
    """Interrupt what waits for a pipe or a device: such a task fails instead of hanging."""

    def late(number: int, template: object) -> None:
        raise TimeoutError("it hangs")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(hostile_files.PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("in_time")
@pytest.mark.parametrize("kind", CASES)
@pytest.mark.sampled(13)
def test_a_hostile_file_is_refused_left_out_or_named(
    kind: hostile_files.Kind,
    honest: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hostile_files, "BOMB", 200 << 20)
    monkeypatch.chdir(tmp_path)
    sent = tmp_path / "sent"
    shutil.copytree(honest, sent)
    kind.change(sent)
    code = main([part.format(sent=sent, honest=honest) for part in kind.command])
    out, err = capsys.readouterr()
    assert (code, bool(re.search(kind.expected, err + out))) == (kind.code, True), err[-2000:]


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("in_time")
@pytest.mark.parametrize("name", ["a log that is a pipe", "a log of no bytes", "a header of 4.3 GB"])
def test_a_run_sets_a_damaged_log_aside(
    name: str, honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hostile_files, "BOMB", 200 << 20)
    sent = tmp_path / "sent"
    shutil.copytree(honest, sent)
    KINDS[name].change(sent)
    hostile_files.honest(sent)
    assert len(carrara.read(sent)) == 30
    assert len(list((sent / "logs").glob("*.damaged"))) == 1


FACT = FactTrace(0, 0.5, "used")


@pytest.mark.parametrize(
    "change",
    [
        {"facts": (replace(FACT, place="x"),)},  # type: ignore[arg-type]
        {"facts": (replace(FACT, place=7.0),)},
        {"facts": (replace(FACT, call="x"),)},  # type: ignore[arg-type]
        {"facts": (replace(FACT, text=5),)},  # type: ignore[arg-type]
        {"reading": ReadingCost("x", 1)},  # type: ignore[arg-type]
        {"reading": ReadingCost(-1, 1)},
        {"money": "x"},
    ],
)
def test_a_reading_that_no_run_writes_is_refused(change: dict[str, object], honest: Path) -> None:
    result = replace(carrara.read(honest)[0], reading=ReadingCost(1, 9), facts=(FACT,))
    check_result(result)
    with pytest.raises(ValueError, match=r"place|range|validation error"):
        check_result(replace(result, **change))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [-1, 1 << 60, 10**400, 1.5, float("inf"), "9", None, [1], True])
@pytest.mark.parametrize("name", ["sent", "input"])
def test_counts_of_requests_that_no_run_writes_are_refused(name: str, value: object) -> None:
    with pytest.raises(ValueError, match="out of range"):
        steps_of({"steps": [{"sent": 700, "input": 720, name: value}]})


def test_a_log_that_another_shard_removed_is_not_a_damaged_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        header(tmp_path / "gone.eval")
    with pytest.raises(FileNotFoundError):
        list(samples(tmp_path / "gone.eval"))
