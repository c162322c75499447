"""Tasks for lm-evaluation-harness: what the harness reads of them, and that it scores replies as we do."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from carrara.export import harness
from carrara.items.item import item_of
from tests.helpers.process import carrara

LINE = ["export", "lm-eval", "qa1,sync/graph", "--lengths", "0,1k", "-n", "2", "--tokenizer", "gpt2"]


class Loader(yaml.SafeLoader):  # type: ignore[misc]
    pass


Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.load(path.read_text("utf-8"), Loader)
    return found


def test_tasks_name_what_they_hold(tmp_path: Path) -> None:
    pytest.importorskip("datasets", reason="`datasets` is not installed")
    carrara(*LINE, "--out", tmp_path, check=True)
    group = read(tmp_path / "carrara.yaml")
    assert group["task"] == ["carrara_qa1_0", "carrara_qa1_1k", "carrara_graph_0", "carrara_graph_1k"]
    task = read(tmp_path / "carrara_graph_1k.yaml")
    for function in (task["custom_dataset"], task["process_results"]):
        module, _, name = function.rpartition(".")
        assert module == "carrara.export.harness"
        assert callable(getattr(harness, name))
    rows = list(harness.load(**task["metadata"])["test"])
    assert len(rows) == 2 * 3
    for row in rows:
        item = item_of(row["id"])
        assert (row["prompt"], row["gold"]) == (item.text, item.gold)
        assert harness.score_document(row, [item.gold]) == {"score": 1.0, "answers_read": 1.0}
        assert harness.score_document(row, ["I like turtles"]) == {"score": 0.0, "answers_read": 0.0}


def test_a_base_model_is_asked_how_likely_the_answer_is(tmp_path: Path) -> None:
    carrara("export", "lm-eval", "qa1", "-n", "1", "--style", "base", "--out", tmp_path, check=True)
    generated, likely = read(tmp_path / "carrara_qa1_0.yaml"), read(tmp_path / "carrara_qa1_0_likelihood.yaml")
    assert generated["generation_kwargs"]["until"] == ["\n"]
    assert likely["output_type"] == "loglikelihood"
    assert likely["metadata"] == generated["metadata"]


@pytest.mark.slow  # importing the harness takes ten seconds
@pytest.mark.skipif(not find_spec("lm_eval"), reason="lm-evaluation-harness is not installed: `pip install lm-eval`")
@pytest.mark.filterwarnings("ignore")  # the harness' own
def test_the_harness_runs_them(tmp_path: Path) -> None:
    import lm_eval
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    carrara(*LINE, "--out", tmp_path / "chat", check=True)
    carrara("export", "lm-eval", "qa1", "-n", "2", "--style", "base", "--out", tmp_path / "base", check=True)

    class Right(LM):  # type: ignore[misc,unused-ignore]
        def generate_until(self, requests: list[Any], **_: object) -> list[str]:
            return [f"It must be this. {one.doc['gold']}" for one in requests]

        def loglikelihood(self, requests: list[Any], **_: object) -> list[tuple[float, bool]]:
            return [(-0.1, one.args[1] == f" {one.doc['gold']}") for one in requests]

        def loglikelihood_rolling(self, requests: list[Any], **_: object) -> list[float]:
            raise AssertionError

    for folder, tasks in (("chat", 4), ("base", 2)):
        manager = TaskManager(include_path=str(tmp_path / folder))
        found = lm_eval.simple_evaluate(model=Right(), tasks=["carrara"], task_manager=manager, bootstrap_iters=0)
        rows = {name: row for name, row in found["results"].items() if name != "carrara"}
        assert len(rows) == tasks
        for name, row in rows.items():
            assert row["acc,none" if name.endswith("likelihood") else "score,none"] == 1.0, name
