"""Each export's own scorer on tasks that have several forms: the right reply scores 1, and a wrong one 0."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from carrara.cli.main import main
from carrara.export.harbor_verifier import verify
from carrara.export.harness import score_document
from carrara.export.kvpress_scores import score_reply
from carrara.export.nemo_gym_server import verdict
from carrara.export.reward import rewards
from carrara.export.verl_reward import compute_score
from carrara.items.item import Item, make
from carrara.runs.replies import read_results
from tests.helpers.server import reply as response

FORMS = [
    ("timeline", {"form": "text"}),
    ("timeline", {"form": "chat"}),
    ("rules", {"form": "text"}),
    ("rules", {"form": "chat"}),
    ("trajectory", {"form": "tools"}),
]


def _of_nemo_gym(item: Item, text: str) -> float:
    message = SimpleNamespace(type="message", role="assistant", content=text)
    answer = SimpleNamespace(error=None, status="completed", incomplete_details=None, usage=None, output=[message])
    return float(verdict(item.id, answer)["reward"])


SCORERS: Mapping[str, Callable[[Item, str], float]] = {
    "lm-eval": lambda item, text: score_document({"id": item.id, "prompts": ""}, [text])["score"],
    "kvpress": lambda item, text: score_reply(item.id, text).score,
    "nemo-gym": _of_nemo_gym,
    "TRL": lambda item, text: rewards([text], id=[item.id])[0],
    "verl": lambda item, text: float(compute_score("", text, "", {"id": item.id}, details=False)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("task", "params"), FORMS)
def test_the_right_reply_scores_1_and_a_wrong_one_0(task: str, params: dict[str, str], tmp_path: Path) -> None:
    items = [make(f"carrara/{task}", index=index, params=params, tokenizer="gpt2", length=4096) for index in range(6)]
    for item in items:
        for text, score in ((item.gold, 1.0), ("I like turtles", 0.0)):
            assert {name: scorer(item, text) for name, scorer in SCORERS.items()} == dict.fromkeys(SCORERS, score)
            (tmp_path / "item.json").write_text(json.dumps({"id": item.id}), "utf-8")
            (tmp_path / "answer.txt").write_text(text, "utf-8")
            assert verify(tmp_path, tmp_path / "answer.txt", tmp_path / "logs").score == score


@pytest.mark.parametrize(("task", "params"), [*FORMS[1:2], *FORMS[3:]])
def test_the_results_of_a_batch_are_scored(task: str, params: dict[str, str], tmp_path: Path) -> None:
    more = [
        "--lengths",
        "4k",
        "-n",
        "4",
        "--tokenizer",
        "gpt2",
        *(f"-p{name}={value}" for name, value in params.items()),
    ]
    assert main(["export", "batch", task, "--model", "m", "--out", str(tmp_path / "batch"), *more]) == 0
    requests = [json.loads(line) for line in (tmp_path / "batch/batch.jsonl").read_text("utf-8").splitlines()]
    golds = {
        item.id: item.gold
        for index in range(4)
        for item in [make(f"carrara/{task}", index=index, params=params, tokenizer="gpt2", length=4096)]
    }
    assert [request["custom_id"] for request in requests] == [*golds]
    results = list[dict[str, Any]]()
    for number, id in enumerate(golds):
        body = response(golds[id] if number % 2 else "I like turtles")
        results.append({"custom_id": id, "response": {"status_code": 200, "body": body}, "error": None})
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(result) + "\n" for result in results), "utf-8")
    assert main(["score", str(tmp_path / "results.jsonl"), "--model", "m", "--out", str(tmp_path / "run")]) == 0
    assert {result.id: result.score for result in read_results(tmp_path / "run")} == {
        id: float(number % 2) for number, id in enumerate(golds)
    }
