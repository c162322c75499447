"""The example in docs/new-task.md is a whole test: executed here as it stands there."""

import re
from pathlib import Path

import pytest

from tests import process
from tests.process import Ended

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    code = re.findall(r"```python\n(.*?)```", (DOCS / "new-task.md").read_text("utf-8"), re.DOTALL)
    assert len(code) == 1
    tests = tmp_path / "mytests"
    tests.mkdir()
    (tests / "harbour.py").write_text(code[0], "utf-8")
    return tests


def carrara(folder: Path, *asked: str) -> Ended:
    return process.carrara(*asked, env={"CARRARA_TASKS": str(folder)})


def test_the_example_is_found_and_passes_the_audit(folder: Path) -> None:
    listed = carrara(folder, "tasks", "mytests")
    assert "mytests/harbour" in listed.stdout, listed.stderr
    audited = carrara(folder, "audit", "mytests", "-n", "20", "--lengths", "0,1k,4k")
    assert audited.returncode == 0, audited.stdout + audited.stderr
    assert "BREACH" not in audited.stdout


def test_a_wrong_gold_answer_is_found(folder: Path) -> None:
    file = folder / "harbour.py"
    file.write_text(file.read_text("utf-8").replace("World(5000 +", "World(5001 +"), "utf-8")
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


def test_it_has_fewer_than_thirty_five_lines(folder: Path) -> None:
    assert len((folder / "harbour.py").read_text("utf-8").splitlines()) < 35


@pytest.mark.slow
def test_a_parameter_with_several_values_is_dealt_and_sliced_by(folder: Path, tmp_path: Path) -> None:
    run = carrara(
        *(folder, "run", "harbour", "-p", "changes=1,8", "--model", "carrara/oracle", "--lengths", "0", "-n", "6"),
        *("--out", str(tmp_path / "run")),
    )
    assert run.returncode == 0, run.stderr
    shown = carrara(folder, "report", str(tmp_path / "run"), "--json")
    assert shown.returncode == 0, shown.stderr
    for value in ("1", "8"):
        told = carrara(folder, "show", "harbour", "-p", f"changes={value}")
        assert len(re.findall("crates are (?:landed|shipped)", told.stdout)) == int(value)
    wrong = carrara(folder, "show", "harbour", "-p", "changes=8,8")
    assert wrong.returncode == 2
    assert "changes takes one value or several different ones" in wrong.stderr


@pytest.mark.parametrize("code", ["import nothing_of_this_name", "x = 1", "def broken(:"])
def test_a_file_that_is_no_test_is_named(folder: Path, code: str) -> None:
    (folder / "other.py").write_text(code, "utf-8")
    listed = carrara(folder, "tasks", "other")
    assert listed.returncode == 2
    assert "other.py" in listed.stderr
    assert "Traceback" not in listed.stderr


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("changes: int = 4", "changes: int", "parameter changes needs a default"),
        ("    answer = Number(guess=(3000, 7000))\n", "", "Harbour does not say its answer"),
    ],
)
def test_what_a_test_does_not_say_is_told(folder: Path, old: str, new: str, told: str) -> None:
    file = folder / "harbour.py"
    file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")
    shown = carrara(folder, "show", "harbour")
    assert shown.returncode == 2
    assert told in shown.stderr
    assert "Traceback" not in shown.stderr
