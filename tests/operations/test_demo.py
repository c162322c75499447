"""The recorded replies of the demo; `.ci/run` runs all of it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from carrara.operations.demo import PRESET, REPLIES, TASKS, add_recorded
from carrara.report.page import render
from carrara.results.result import RECORDED
from carrara.results.summary import Summary
from carrara.runs.presets import PRESETS
from carrara.runs.replies import read_results
from carrara.util.data import read_packed

CHECKOUT = Path(__file__).parents[2]
README = (CHECKOUT / "README.md").read_text("utf-8")


def test_recorded_replies_are_scored_and_say_where_they_come_from(tmp_path: Path) -> None:
    add_recorded(tmp_path)
    results = read_results(tmp_path)
    assert len({result.model for result in results}) >= 2
    assert {result.task for result in results} == {*PRESETS[PRESET].selection.split(",")} >= {*TASKS}
    assert {result.tokenizer for result in results} == {PRESETS[PRESET].tokenizer}
    for model in {result.model for result in results}:
        scores = [result.score for result in results if result.model == model and not result.length]
        assert sum(scores) / len(scores) > 0.2
    [*recorded] = {result.settings[RECORDED] for result in results}
    assert all(re.match(r"\d{4}-\d\d-\d\d, \S+\.gguf \(SHA-256 [0-9a-f]{64}\), ", words) for words in recorded)
    assert all(words.partition(",")[0] in render(Summary(results), "demo") for words in recorded)


def test_the_package_stays_small() -> None:
    assert len(read_packed(REPLIES)) < 100_000


# --- the commands of README.md, in environments of their own ---


def run(words: list[str], folder: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ended = subprocess.run(words, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert not folder.exists() or (folder / "report.html").stat().st_size > 50_000


@pytest.mark.integration
def test_the_command_for_uv(tmp_path: Path) -> None:
    if not shutil.which("uvx"):
        pytest.skip("uv is not installed")
    words = next(line for line in README.splitlines() if line.startswith("uvx ")).replace("'", "").split()
    run([*words, "-n", "1", "--out", str(tmp_path / "demo")], tmp_path / "demo")
    assert (tmp_path / "demo").exists()


@pytest.mark.integration
def test_the_commands_for_pip(tmp_path: Path) -> None:
    assert "\npip install '.[demo]'\ncarrara demo\n" in README
    programs = tmp_path / "venv" / "bin"
    run([sys.executable, "-m", "venv", str(programs.parent)], tmp_path / "none")
    run([str(programs / "pip"), "install", "-q", "--disable-pip-version-check", ".[demo]"], tmp_path / "none")
    run([str(programs / "carrara"), "demo", "-n", "1", "--out", str(tmp_path / "demo")], tmp_path / "demo")
    assert (tmp_path / "demo").exists()
