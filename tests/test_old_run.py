"""A run's folder that an earlier version made (tests/old_run, by the code of commit 2cdc1da) is reported still."""

import json
import re
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

import carrara
from carrara.cli.main import main
from carrara.core.recipe import Recipe

OLD = Path(__file__).parent / "old_run"


def test_it_is_reported_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = copytree(OLD, tmp_path / "old")
    assert main(["report", str(folder)]) == 0
    rows = re.findall(r"^carrara/chance +(\S+) +(\S+) +(\S+)", capsys.readouterr().out, re.M)
    assert rows == [
        ("babilong/qa1", "0", "0.333"),
        ("babilong/qa1", "1k", "0.333"),
        ("michelangelo/latent_list", "0", "0.333"),
        ("michelangelo/latent_list", "1k", "0.333"),
    ]
    assert len(carrara.read(OLD)) == 12


def test_what_has_to_be_built_again_says_which_version_made_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of another version than today's, whichever that is."""
    recipe = Recipe.parse(carrara.read(OLD)[0].id)
    other = str(replace(recipe, version=carrara.item(recipe.task).recipe.version + 1))
    with pytest.raises(carrara.CarraraError, match=f"is of version .* of {recipe.task}"):
        carrara.item(other)
    (tmp_path / "replies.jsonl").write_text(json.dumps({"id": other, "reply": "x"}) + "\n", "utf-8")
    assert main(["score", str(tmp_path / "replies.jsonl")]) == 2
    assert f"of {recipe.task}, and this is version" in capsys.readouterr().err
