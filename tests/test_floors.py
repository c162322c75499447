"""The floors that are kept are those that the tests have."""

from pathlib import Path

import pytest

from carrara import registry
from carrara.cli.main import main
from carrara.core.recipe import Recipe
from carrara.prompt import items
from carrara.proof import floors

TASKS = registry.names()
MINE = """
from carrara.suites.michelangelo.latent_list import LatentList

class Mine(LatentList):
    title = "Mine"

task = Mine()
"""


@pytest.mark.parametrize("task", TASKS)
def test_a_kept_floor_is_the_computed_one(task: str) -> None:
    """Whoever changes a floor writes them anew: `make floors`."""
    assert floors.kept()[f"{task}@{registry.load(task).version}"] == floors.computed(task)


def test_floors_of_all_tests_are_kept_and_no_others() -> None:
    assert list(floors.kept()) == [f"{task}@{registry.load(task).version}" for task in TASKS]


def no_world(recipe: Recipe) -> None:
    raise AssertionError(f"a listing has no need of {recipe}")


def test_a_listing_draws_no_world(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(items, "questions_of", no_world)
    assert main(["tasks"]) == 0
    assert "babilong/qa1 " in capsys.readouterr().out


def test_a_test_of_ones_own_is_computed_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, file = tmp_path / "mine", tmp_path / "floors.txt"
    folder.mkdir()
    (folder / "lists.py").write_text(MINE, "utf-8")
    monkeypatch.setenv("CARRARA_TASKS", str(folder))
    assert floors.floor_of("mine/lists") == floors.computed("mine/lists") > 0
    monkeypatch.setattr(floors, "_KEPT", file)
    monkeypatch.setattr(floors, "computed", lambda name: 0.25)
    assert floors.floor_of("mine/lists") == 0.25
    floors.main()
    assert file.read_text("utf-8").splitlines() == [f"{task}@{registry.load(task).version} 0.2500" for task in TASKS]


def test_a_version_that_is_not_kept_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(floors, "kept", lambda: {"babilong/qa17@1": 0.9})
    assert floors.floor_of("babilong/qa17") == 0.5
