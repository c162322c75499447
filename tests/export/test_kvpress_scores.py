"""Scores in kvpress: those of `carrara score`, and its own pipeline with a tiny model that has learned nothing."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from carrara.export.kvpress_scores import calculate_metrics, score_reply
from carrara.items.item import make
from carrara.util.errors import UsageError
from tests.helpers.own_environment import environment, with_checkout
from tests.helpers.reward_replies import carrara_scores, replies


def test_scores_are_those_of_carrara_score(tmp_path: Path) -> None:
    given = replies(60)
    scores = carrara_scores(given, tmp_path)
    assert [score_reply(one.id, one.text).score for one in given] == scores
    assert 0 < sum(scores) < len(scores)
    found = calculate_metrics({"id": [one.id for one in given], "predicted_answer": [one.text for one in given]})
    mean = sum(one["score"] * one["n"] for name, one in found.items() if name != "mean") / len(given)
    assert mean == pytest.approx(sum(scores) / len(scores))
    assert found["mean"]["n"] == 60


def test_metrics_are_by_task_and_by_length() -> None:
    items = [make(task, length=length) for length in (0, 1024) for task in ("babilong/qa1", "classic/niah")]
    ids, texts = [one.id for one in items], [*(one.gold for one in items[:3]), None]
    found = calculate_metrics({"id": ids, "predicted_answer": texts})
    assert list(found) == [
        *("babilong/qa1, 0", "classic/niah, 0", "mean, 0"),
        *("babilong/qa1, 1k", "classic/niah, 1k", "mean, 1k"),
    ]
    assert found["mean, 0"] == {"score": 1, "answers_read": 1, "chance_level": pytest.approx(1 / 12), "n": 2}
    assert found["classic/niah, 1k"] == {
        "score": 0,
        "answers_read": 0,
        "chance_level": pytest.approx(0),
        "n": 1,
    }
    json.dumps(found)
    short = calculate_metrics({"id": ids[:2], "predicted_answer": texts[:2]})
    assert list(short) == ["babilong/qa1", "classic/niah", "mean"]


def test_the_reply_of_a_base_model_ends_at_a_stop_text() -> None:
    item = make("babilong/qa1", style="base")
    more = f" {item.gold}\n</example>\nQuestion: Where is John?\nFINAL ANSWER: nowhere"
    assert score_reply(item.id, more).score == 1
    assert score_reply(item.id, f"\n{item.gold}").status == "empty"


def test_a_table_without_ids_is_refused() -> None:
    with pytest.raises(UsageError, match="no column `id`"):
        calculate_metrics({"predicted_answer": ["x"]})
    with pytest.raises(UsageError, match="not an item's id"):
        calculate_metrics({"id": ["x"], "predicted_answer": ["x"]})
    with pytest.raises(UsageError, match="'nan' is not an item's id"):
        calculate_metrics({"id": [float("nan")], "predicted_answer": ["x"]})


@pytest.mark.integration  # PyTorch, and an environment of its own
@pytest.mark.parametrize("style", ["chat", "base"])
def test_the_pipeline_reads_the_prompts_and_its_replies_are_scored(style: str, tmp_path: Path) -> None:
    python = environment("kvpress")
    settings = {**os.environ, "PYTHONPATH": with_checkout(), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    settings["HF_HOME"] = str(tmp_path / "cache")
    ended = subprocess.run(
        [python, "-m", "tests.helpers.kvpress_pipeline", tmp_path, style],
        capture_output=True,
        text=True,
        check=False,
        env=settings,
        cwd=tmp_path,
    )
    assert not ended.returncode, ended.stderr
    found = json.loads(ended.stdout.splitlines()[-1])
    assert found["rows"] == found["same"] > 0
    assert found["contexts"] == found["prefills"] < found["rows"] if style == "chat" else found["contexts"]
    for metrics in found["metrics"].values():
        assert metrics["mean"]["n"] == found["rows"]
        assert metrics["mean"]["score"] <= 1
    assert found["perfect"]["mean"]["score"] == 1
    assert found["compressed"] == found["tokens"] // 2
