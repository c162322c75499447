"""The chance levels that are kept are those that the tests have."""

from pathlib import Path

import pytest

from carrara.cli.main import main
from carrara.items import item as item_module
from carrara.items import registry
from carrara.items.item_id import ItemId
from carrara.verify import chance_levels

TASKS = registry.names()
MINE = """
from carrara.tasks.michelangelo.latent_list import LatentList

class Mine(LatentList):
    title = "Mine"
"""


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(2)
def test_a_kept_chance_level_is_the_computed_one(task: str) -> None:
    """Whoever changes a chance level writes them anew: `make chance-levels`."""
    assert chance_levels.stored_levels()[f"{task}@{registry.load(task).version}"] == chance_levels.compute_level(task)


def test_chance_levels_of_all_tests_are_kept_and_no_others() -> None:
    assert list(chance_levels.stored_levels()) == [f"{task}@{registry.load(task).version}" for task in TASKS]


def no_world(item_id: ItemId) -> None:
    raise AssertionError(f"a listing has no need of {item_id}")


def test_a_listing_draws_no_world(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(item_module, "questions_of", no_world)
    assert main(["tasks"]) == 0
    assert "babilong/qa1 " in capsys.readouterr().out


def test_a_test_of_ones_own_is_computed_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, file = tmp_path / "mine", tmp_path / "chance_levels.txt"
    folder.mkdir()
    (folder / "lists.py").write_text(MINE, "utf-8")
    monkeypatch.setenv("CARRARA_TASKS", str(folder))
    assert (
        chance_levels.chance_level_of("mine/lists") == chance_levels.compute_level("mine/lists", chance_levels.FEW) > 0
    )
    monkeypatch.setattr(chance_levels, "FILE", file)
    monkeypatch.setattr(chance_levels, "compute_level", lambda name, instances=0: 0.25)
    assert chance_levels.chance_level_of("mine/lists") == 0.25
    chance_levels.main()
    assert file.read_text("utf-8").splitlines() == [f"{task}@{registry.load(task).version} 0.2500" for task in TASKS]


def test_a_version_that_is_not_kept_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chance_levels, "stored_levels", lambda: {"babilong/qa17@1": 0.9})
    assert chance_levels.chance_level_of("babilong/qa17") == 0.5
