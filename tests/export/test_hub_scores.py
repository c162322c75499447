"""Replies to rows of an exported data set: their scores by their ids, and by the scorer that eval.yaml names."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from carrara.export.reward import score_completion
from tests.helpers.process import carrara
from tests.helpers.reward_replies import TASKS, Reply, carrara_scores, replies

LONGER = "longer number"
SPOILED = ("wrong", "retracted", "every option", "every word", "the text", "empty", "refusal")
"""Replies that state no answer, or a wrong one."""

Rows = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    folder = tmp_path_factory.mktemp("export") / "owner" / "mine"
    line = ["export", "datasets", TASKS, "--split", "train", "--lengths", "4k", "-n", "19", "--out", folder]
    carrara(*line, check=True)
    return folder


def loaded(folder: Path) -> Rows:
    """Return the rows by their ids, as the hub's library loads them."""
    datasets = pytest.importorskip("datasets", reason="`datasets` is not installed")
    names = datasets.get_dataset_config_names(str(folder))
    return {row["id"]: row for name in names for row in datasets.load_dataset(str(folder), name, split="4k")}


def text_scores(folder: Path, given: Sequence[Reply], rows: Rows) -> list[float]:
    """Return the scores by the scorer of eval.yaml, on the answers of the data set."""
    from inspect_ai.model import ChatMessageUser, ModelName, ModelOutput
    from inspect_ai.scorer import Target, match
    from inspect_ai.solver import TaskState

    tasks = json.loads((folder / "eval.yaml").read_text("utf-8"))["tasks"]
    given_args = {task["config"]: scorer["args"] for task in tasks for scorer in task["scorers"]}
    assert given_args["qa1"] == {"location": "end"}
    assert given_args["count"] == {"location": "end", "numeric": True}
    scorers = {config: match(**args) for config, args in given_args.items()}

    async def score(one: Reply) -> float:
        row = rows[one.id]
        output = ModelOutput.from_content("mine", one.text)
        asked = [ChatMessageUser(content="")]
        state = TaskState(ModelName("mockllm/mine"), one.id, 1, "", [*asked], output=output)
        config = one.id.partition("@")[0].rpartition("/")[2]
        found = await scorers[config](state, Target(row["answer"]))
        assert found is not None
        return float(found.value == "C")

    async def score_all() -> list[float]:
        return [await score(one) for one in given]

    return asyncio.run(score_all())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the libraries' own
def test_scores_by_the_ids_of_a_data_set_are_those_of_carrara_score(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200 replies, and some numbers that end as the right one does; beside them the scorer of eval.yaml."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    datasets = pytest.importorskip("datasets", reason="`datasets` is not installed")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hub")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    rows, given = loaded(folder), replies(200)
    assert {one.id for one in given} <= set(rows)
    given += [
        Reply(id, f"FINAL ANSWER: 1{rows[id]['answer']}", f"{LONGER} ({id.partition('@')[0]})")
        for id in rows
        if rows[id]["answer"].isdigit()
    ]
    ours = [score_completion(rows[one.id]["id"], one.text).score for one in given]
    assert ours == carrara_scores(given, tmp_path)
    texts = text_scores(folder, given, rows)
    by_kind: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for one, own, text in zip(given, ours, texts, strict=True):
        by_kind[one.kind].append((own, text, rows[one.id]["chance_level"]))
    for kind, found in by_kind.items():
        own, text, chance = (fmean(column) for column in zip(*found, strict=True))
        print(f"{kind:<42}{len(found):>4}{own:>8.3f}{text:>8.3f}{chance:>8.3f}")
        if kind in SPOILED or kind.startswith(LONGER):
            assert own <= chance, kind
    assert fmean(ours[n] for n, one in enumerate(given) if one.kind == "gold") == 1
