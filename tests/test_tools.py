"""Tests on several Python versions, and the measurement of coverage."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tools import coverage, pythons
from tools.coverage import Lines

# --- tools/pythons.py ---


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


# --- tools/coverage.py ---


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a package of twenty lines in one commit."""
    package = tmp_path / coverage.PACKAGE
    package.mkdir(parents=True)
    (package / "a.py").write_text("".join(f"a{n} = {n}\n" for n in range(20)))
    (tmp_path / "README.md").write_text("A\n")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "One")
    monkeypatch.setattr(coverage, "CHECKOUT", tmp_path)
    monkeypatch.setattr(coverage, "MEASURED", tmp_path / ".coverage.json")
    monkeypatch.setattr(coverage, "RESULT", tmp_path / "coverage.txt")
    return tmp_path


def add_lines(checkout: Path, count: int) -> None:
    """Put lines before the first one, and change a file that is not in the package."""
    file = checkout / coverage.PACKAGE / "a.py"
    file.write_text("".join(f"new{n} = {n}\n" for n in range(count)) + file.read_text())
    (checkout / "README.md").write_text("B\nC\n")


def save_measured(checkout: Path, executed: Sequence[int], missing: Sequence[int]) -> None:
    files = {f"{coverage.PACKAGE}/a.py": {"executed_lines": list(executed), "missing_lines": list(missing)}}
    (checkout / ".coverage.json").write_text(json.dumps({"files": files}))


@pytest.mark.parametrize("is_committed", [True, False])
def test_new_lines_are_those_since_a_commit(is_committed: bool, checkout: Path) -> None:
    git(checkout, "branch", "base")
    add_lines(checkout, 10)
    if is_committed:
        git(checkout, "commit", "-q", "-a", "-m", "Two")
    assert coverage.new_lines(checkout, "base") == {f"{coverage.PACKAGE}/a.py": set(range(1, 11))}
    assert coverage.default_base(checkout) == "HEAD"
    git(checkout, "update-ref", "refs/remotes/origin/main", "base")
    assert coverage.default_base(checkout) == "origin/main"
    with pytest.raises(SystemExit, match="there is no commit elsewhere"):
        coverage.new_lines(checkout, "elsewhere")


def test_new_lines_below_nine_tenths_fail(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add_lines(checkout, 10)
    save_measured(checkout, range(1, 10), [10, 30])
    coverage.main(["--measured"])
    assert "Tests run 90.0% of 10 new lines; 90% are required." in capsys.readouterr().out
    save_measured(checkout, range(1, 9), [9, 10, 30])
    with pytest.raises(SystemExit) as ended:
        coverage.main(["--measured", "--base", "main"])
    assert ended.value.code == 1
    assert f"Tests run 80.0% of 10 new lines; 90% are required.\nNot run:\n  {coverage.PACKAGE}/a.py: 9-10\n" in (
        capsys.readouterr().out
    )


def test_old_lines_do_not_count(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_measured(checkout, [], range(1, 21))
    coverage.main(["--measured"])
    assert "No line of the package is new." in capsys.readouterr().out


def test_the_report_has_the_shares_of_folders_and_the_least_tested_files() -> None:
    files = {
        "src/carrara/util/a.py": Lines(frozenset(range(9)), frozenset({9})),
        "src/carrara/util/b/c.py": Lines(frozenset(range(5)), frozenset(range(5, 10))),
        "src/carrara/d.py": Lines(frozenset(), frozenset()),
    }
    assert coverage.report(files).splitlines() == [
        "Quick tests run 70.0% of 20 lines of the package.",
        "",
        "folder          files    lines  not run      run",
        "(top)               1        0        0        -",
        "util                2       20        6    70.0%",
        "",
        "Files with the most lines that were not run:",
        "",
        "    5    50.0%  src/carrara/util/b/c.py",
        "    1    90.0%  src/carrara/util/a.py",
        "    0        -  src/carrara/d.py",
    ]


def test_failing_tests_fail_the_measurement(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def run(*arguments: str, check: bool = True) -> int:
        calls.append(arguments)
        return int(arguments[0] == "run")

    monkeypatch.setattr(coverage, "_coverage", run)
    save_measured(checkout, range(1, 21), [])
    with pytest.raises(SystemExit, match="pytest ended with 1"):
        coverage.main([])
    assert [call[0] for call in calls] == ["erase", "run", "combine", "json"]
    assert calls[1] == ("run", "-m", "pytest", "-m", "not slow")
    assert (checkout / "coverage.txt").read_text().startswith("Quick tests run 100.0% of 20 lines")


def test_nothing_is_judged_before_it_was_measured(checkout: Path) -> None:
    with pytest.raises(SystemExit, match="nothing was measured yet"):
        coverage.main(["--measured"])
