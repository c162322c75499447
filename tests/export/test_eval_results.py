"""Results for a model's repository on the hub, read by the hub's own library."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml, parse_eval_result_entries

import carrara
from carrara.cli.main import main
from carrara.export.eval_results import eval_results
from carrara.results.result import Result
from carrara.util.errors import UsageError
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.published_sets import graphwalks, jsonl, longbench2
from tests.helpers.results import reply

pytestmark = LEFT_OPEN


def entries_in(file: Path) -> list[EvalResultEntry]:
    """Return the entries of a file, which the library writes as they were."""
    rows = yaml.safe_load(file.read_text("utf-8"))
    entries = parse_eval_result_entries(rows)
    assert eval_result_entries_to_yaml(entries) == rows
    return entries


@pytest.mark.usefixtures("collected")
def test_an_entry_is_a_task_of_the_exported_data_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All questions of a task at a length are one task of its `eval.yaml`, whose mean they have together."""
    pytest.importorskip("pyarrow")
    asked = ["--lengths", "0,2k", "-n", "10", "--tokenizer", "o200k"]
    assert main(["export", "datasets", "qa1,sync/graph", *asked, "--out", str(tmp_path / "set")]) == 0
    run, file = tmp_path / "run", tmp_path / "carrara.yaml"
    assert main(["run", "qa1,sync/graph", *asked, "--model", "carrara/majority", "--out", str(run)]) == 0
    command = ["report", str(run), "--eval-results", str(file), "--dataset", "lab/set"]
    assert main(command) == 0
    assert main(command) == 0  # its own file is written again
    assert str(file) in capsys.readouterr().out
    entries = {entry.task_id: entry for entry in entries_in(file)}
    tasks = yaml.safe_load((tmp_path / "set" / "eval.yaml").read_text("utf-8"))["tasks"]
    assert entries.keys() == {task["id"] for task in tasks}
    results = carrara.read(run)
    for task_id, entry in entries.items():
        task, length = task_id.split("_")
        own = [one.score for one in results.where(length=length) if one.task.split("/")[1].partition(":")[0] == task]
        assert len(own) == (30 if task == "graph" else 10)
        assert entry.value == pytest.approx(sum(own) / len(own), abs=5e-5)
        assert entry.dataset_id == "lab/set"
        assert f"n = {len(own)}, 95 % interval 0." in str(entry.notes)
        assert f"Carrara {carrara.__version__}, " in str(entry.notes)
    file.write_text("- mine\n")
    assert main(command) == 2
    assert file.read_text() == "- mine\n"


@pytest.mark.usefixtures("collected")
def test_a_published_set_has_its_own_name_and_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARRARA_CACHE", str(tmp_path / "cache"))
    files: dict[str, Sequence[dict[str, Any]]] = {
        "graphwalks": [graphwalks(n, "parents") for n in range(12)],
        "longbench2": [longbench2(n) for n in range(12)],
    }

    def wrong(prompt: str) -> str:
        return "FINAL ANSWER: no idea\nFinal Answer: []"

    for name, rows in files.items():
        place = f"{name}:{jsonl(tmp_path / f'{name}.jsonl', rows)}"
        task = {"graphwalks": "graphwalks-parents", "longbench2": "longbench-v2"}[name]
        carrara.run(task, wrong, published=place, tokenizer="o200k", out=tmp_path / name)
        file = tmp_path / f"{name}.yaml"
        assert main(["report", str(tmp_path / name), "--eval-results", str(file)]) == 0
        [entry] = entries_in(file)
        results = carrara.read(tmp_path / name)
        scores = [one.scores[name] for one in results]
        assert entry.value == pytest.approx(sum(scores) / len(scores), abs=5e-5)
        assert entry.dataset_id == {"graphwalks": "openai/graphwalks", "longbench2": "THUDM/LongBench-v2"}[name]
        assert entry.task_id.startswith(task)
        assert f"score: {name}" in str(entry.notes)
        assert "n = 12" in str(entry.notes)
    assert entries_in(tmp_path / "graphwalks.yaml")[0].value == 0.25  # three of twelve rows have no right node


def results(n: int = 10, **more: Any) -> list[Result]:
    return [reply(k, float(k % 2), task="babilong/qa1", length=4096, **more) for k in range(n)]


@pytest.mark.parametrize(
    ("replies", "dataset", "missing", "message"),
    [
        (results(9), "a/b", "", "the mean of qa1_4k rests on 9 contexts, and at least 10 are published"),
        ([*results(), replace(results(11)[10], status="error")], "a/b", "", "1 of 11 requests of qa1_4k failed"),
        ([*results(), replace(results(11)[10], status="shortened")], "a/b", "", "1 of 11 requests of qa1_4k were cut"),
        (results(status="overflow"), "a/b", "", r"the mean of qa1_4k is none \(overflow\)"),
        (results(status="error"), "a/b", "", "10 of 10 requests of qa1_4k failed"),
        (results(), "", "", "not known which data set of the hub has babilong/qa1: give `dataset`, as OWNER/NAME"),
        (results(), "b", "", "`dataset=b` names no data set of the hub"),
        (results(), "../b", "", r"`dataset=\.\./b` names no data set of the hub"),
        (results(), "a/..", "", "names no data set of the hub"),
        (results(), "a/b..c", "", "names no data set of the hub"),
        (results(), "ä/b", "", "names no data set of the hub"),
        (results(), "a/b", "PARTIAL: 1 of 2", "not complete is not published: PARTIAL: 1 of 2"),
        ([*results(), *results(model="other")], "a/b", "", r"results of 2 models or settings \(m, other\)"),
        ([*results(), *results(params="facts=3")], "a/b", "", "the items of qa1_4k have 2 settings"),
    ],
)
def test_what_is_not_fit_to_be_published_is_refused(
    replies: list[Result], dataset: str, missing: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        eval_results(replies, dataset, missing)
    assert len(eval_results(results(), "a/b", "")) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dataset", "a/b"], "--dataset is written into the file of --eval-results, and there is none: name it"),
        (["--eval-results", "x.yaml", "--by", "view"], "none for labels: leave --by out"),
        (["--eval-results", "x.yaml", "--dataset", "a/b", "--out", "./x.yaml"], "--eval-results and the page are both"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    carrara.run("qa1", "carrara/oracle", n=2, out=tmp_path)
    assert main(["report", str(tmp_path), *options]) == 2
    assert message in capsys.readouterr().err
    assert not Path("x.yaml").exists()
