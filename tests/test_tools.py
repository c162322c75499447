"""Tests on several Python versions."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tools import pythons


def fake_python(path: Path, version: str = "", has_venv: bool = True) -> Path:
    """A program that answers like a Python of a version, or one that does not start."""
    path.parent.mkdir(parents=True, exist_ok=True)
    answer = f"printf '%s\\n' {path} {version} {int(has_venv)}" if version else "exit 127"
    path.write_text(f"#!/bin/sh\n{answer}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any Python."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'first'}{os.pathsep}{tmp_path / 'second'}")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    return tmp_path


def test_pythons_are_found_on_the_path_and_among_those_of_pyenv(machine: Path) -> None:
    debian = fake_python(machine / "second" / "python3", "3.11.2")
    fake_python(machine / "first" / "python3.11")  # a shim of pyenv
    fake_python(machine / "second" / "python3.11", "3.11.2")
    later = fake_python(machine / "pyenv" / "versions" / "3.13.0" / "bin" / "python3", "3.13.0")
    sooner = fake_python(machine / "pyenv" / "versions" / "3.11.10" / "bin" / "python3", "3.11.10")
    fake_python(machine / "pyenv" / "versions" / "3.10.1" / "bin" / "python3", "3.10.1")
    assert [one.path for one in pythons.interpreters()] == [debian, sooner, later]


def test_this_python_is_found() -> None:
    found = pythons._inspect(Path(sys.executable))
    assert found is not None
    assert found.version == ".".join(map(str, sys.version_info[:3]))


def test_each_python_has_a_line_with_its_closing_line(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, version, has_venv in (("a", "3.11.2", False), ("b", "3.12.1", True), ("c", "3.13.0", True)):
        fake_python(machine / "pyenv" / "versions" / name / "bin" / "python3", version, has_venv)
    monkeypatch.setattr(pythons, "make_python", lambda interpreter: interpreter.path)
    ends = {"b": (0, "3 passed in 1.00s"), "c": (1, "1 failed, 2 passed in 1.00s")}
    given = []

    def run_tests(python: Path, arguments: Sequence[str]) -> tuple[int, str]:
        given.append(list(arguments))
        return ends[python.parts[-3]]

    monkeypatch.setattr(pythons, "run_tests", run_tests)
    with pytest.raises(SystemExit) as ended:
        pythons.main([])
    assert ended.value.code == 1
    assert given == [["-m", "not slow"]] * 2
    shown = capsys.readouterr().out.replace(str(machine / "pyenv" / "versions"), "").splitlines()[-5:]
    assert shown == [
        "Python 3.11.2 (/a/bin/python3): skipped, it has no venv or ensurepip (Debian: python3-venv)",
        "Python 3.12.1 (/b/bin/python3): passed: 3 passed in 1.00s",
        "Python 3.13.0 (/c/bin/python3): failed: 1 failed, 2 passed in 1.00s",
        "Python 3.11: not found",
        "Python 3.14: not found",
    ]
    ends["c"] = (0, "3 passed in 1.00s")
    pythons.main(["tests/test_bytes.py"])
    assert given[-1] == ["tests/test_bytes.py"]


def test_a_machine_without_pythons_is_an_error(machine: Path) -> None:
    with pytest.raises(SystemExit, match="no Python could be tested"):
        pythons.main([])


@pytest.mark.parametrize(
    ("line", "closing"),
    [
        ("57 passed, 1 skipped in 6.62s", "57 passed, 1 skipped in 6.62s"),
        ("== 1 failed, 3 passed in 400.01s (0:06:40) ==", "1 failed, 3 passed in 400.01s (0:06:40)"),
        ("no tests ran in 0.01s", "no tests ran in 0.01s"),
        ("12 slow cases were left out: `make test-all` runs them too.", ""),
        ("tests/test_bytes.py ....", ""),
    ],
)  # fmt: skip
def test_the_closing_line_of_pytest_is_recognised(line: str, closing: str) -> None:
    assert pythons.closing_line(line) == closing


def test_tests_run_without_the_settings_of_whoever_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$PYTHONPATH$*"\necho "2 passed in 0.10s"\nexit 3\n')
    python.chmod(0o755)
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    assert pythons.run_tests(python, ["tests/x.py"]) == (3, "2 passed in 0.10s")
