"""The example in docs/new-task.md is a whole test: executed here as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    code = re.findall(r"```python\n(.*?)```", (DOCS / "new-task.md").read_text("utf-8"), re.DOTALL)
    assert len(code) == 1
    tests = tmp_path / "mytests"
    tests.mkdir()
    (tests / "harbour.py").write_text(code[0], "utf-8")
    return tests


def carrara(folder: Path, *asked: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "carrara", *asked],
        env={**os.environ, "CARRARA_TASKS": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_example_is_found_and_passes_the_audit(folder: Path) -> None:
    listed = carrara(folder, "tasks", "mytests")
    assert "mytests/harbour" in listed.stdout, listed.stderr
    audited = carrara(folder, "audit", "mytests", "-n", "20", "--lengths", "0,1k,4k")
    assert audited.returncode == 0, audited.stdout + audited.stderr
    assert "BREACH" not in audited.stdout


def test_a_wrong_gold_answer_is_found(folder: Path) -> None:
    file = folder / "harbour.py"
    file.write_text(file.read_text("utf-8").replace("gold = 5000 +", "gold = 5001 +"), "utf-8")
    audited = carrara(folder, "audit", "mytests", "-n", "3", "--lengths", "0")
    assert audited.returncode == 1
    assert "BREACH  oracle" in audited.stdout
    assert "gold" in audited.stderr


def test_an_update_that_does_not_count_is_found(folder: Path) -> None:
    file = folder / "harbour.py"
    file.write_text(file.read_text("utf-8").replace("* dice.between(1, 500)", "* dice.between(0, 1)"), "utf-8")
    audited = carrara(folder, "audit", "mytests", "-n", "6", "--lengths", "0")
    assert audited.returncode == 1
    assert "BREACH  needs" in audited.stdout


@pytest.mark.parametrize("code", ["import nothing_of_this_name", "x = 1", "def broken(:"])
def test_a_file_that_is_no_test_is_named(folder: Path, code: str) -> None:
    (folder / "other.py").write_text(code, "utf-8")
    listed = carrara(folder, "tasks", "other")
    assert listed.returncode == 2
    assert "other.py" in listed.stderr
    assert "Traceback" not in listed.stderr


def test_a_test_made_of_parts_passes_the_audit_in_fewer_than_sixty_lines(tmp_path: Path) -> None:
    [code] = re.findall(r"```python\n(.*?)```", (DOCS / "composing.md").read_text("utf-8"), re.DOTALL)
    assert len(code.splitlines()) < 60
    tests = tmp_path / "mytests"
    tests.mkdir()
    (tests / "custody.py").write_text(code, "utf-8")
    audited = carrara(tests, "audit", "mytests", "-n", "20", "--lengths", "0,1k,4k")
    assert audited.returncode == 0, audited.stdout + audited.stderr
    assert "BREACH" not in audited.stdout
    assert "left out" not in audited.stderr
