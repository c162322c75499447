"""The recorded replies of the demo; `.ci/run` runs all of it."""

import re
from pathlib import Path

from carrara.operations.demo import PRESET, RECORDED, TASKS, add_recorded
from carrara.report.page import render
from carrara.results.summary import Summary
from carrara.runs.presets import PRESETS
from carrara.runs.replies import read_results
from carrara.util.data import read_packed


def test_recorded_replies_are_scored_and_say_where_they_come_from(tmp_path: Path) -> None:
    add_recorded(tmp_path)
    results = read_results(tmp_path)
    assert len({result.model for result in results}) >= 2
    assert {result.task for result in results} == {*PRESETS[PRESET].selection.split(",")} >= {*TASKS}
    assert {result.tokenizer for result in results} == {PRESETS[PRESET].tokenizer}
    for model in {result.model for result in results}:
        scores = [result.score for result in results if result.model == model and not result.length]
        assert 0.2 < sum(scores) / len(scores)
    [*recorded] = {result.settings[RECORDED] for result in results}
    assert all(re.match(r"\d{4}-\d\d-\d\d, \S+\.gguf \(SHA-256 [0-9a-f]{64}\), ", words) for words in recorded)
    assert all(words.partition(",")[0] in render(Summary(results), "demo") for words in recorded)


def test_the_package_stays_small() -> None:
    assert len(read_packed(RECORDED)) < 100_000
