"""What is exported is loaded by the programs that it is for, says what the items say, and comes back as replies."""

import errno
import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from carrara.export import hub, shards
from carrara.export.config import CANARY, CARD, ExportConfig
from carrara.export.hub import fill_recipe
from carrara.items.item import item_of
from carrara.items.prompt import fingerprint
from carrara.types import Message
from carrara.util.errors import RunError
from tests.helpers.process import carrara

RECIPES = ["--lengths", "0,4k,8k,16k", "--recipes-from", "8k"]
SELECTION = ["sync/graph,qa1,mrcr", "--tokenizer", "gpt2", "-n", "3"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    folder = tmp_path_factory.mktemp("export") / "owner" / "mine"
    carrara("export", "datasets", *SELECTION, *RECIPES, "--out", folder, check=True)
    return folder


def messages_of(row: dict[str, Any]) -> list[Message]:
    if "context" in row:
        return [Message("user", row["context"] + row["question"])]
    return [*(Message(**message) for message in row["messages"]), Message("user", row["question"])]


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "hub")
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)


@pytest.mark.slow
@pytest.mark.usefixtures("offline")
@pytest.mark.filterwarnings("ignore")  # the library's own
def test_the_hubs_library_loads_it(folder: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="`datasets` is not installed")
    found = datasets.get_dataset_config_names(str(folder))
    assert found == ["graph", "graph-recipes", "qa1", "qa1-recipes", "mrcr", "mrcr-recipes"]
    seen = []
    for config in found:
        splits = datasets.load_dataset(str(folder), config)
        assert list(splits) == (["8k", "16k"] if config.endswith("-recipes") else ["0", "4k"])
        for rows in splits.values():
            for row in rows:
                item = item_of(row["id"])
                if config.endswith("-recipes"):
                    assert not {"context", "messages", "question"} & set(row)
                    row = fill_recipe(row)
                assert messages_of(row) == item.messages()
                assert row["sha256"] == fingerprint(item.messages())
                assert (row["answer"], row["tokens"]) == (item.gold, item.prompt.tokens)
                seen.append(row["id"])
    assert len(seen) == len(set(seen)) == 4 * (3 * 3 + 3 + 3)


def test_a_recipe_of_other_bytes_is_not_filled(folder: Path) -> None:
    [path] = (folder / "data" / "qa1-recipes").glob("8k-*.parquet")
    row = pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()[0]
    with pytest.raises(RunError, match="renders to other bytes than its recipe says"):
        fill_recipe(row | {"sha256": "0" * 64})


def test_recipes_are_rendered_by_generate(folder: Path, tmp_path: Path) -> None:
    [path] = (folder / "data" / "graph-recipes").glob("8k-*.parquet")
    carrara("generate", path, "--render", "--out", tmp_path, check=True)
    found = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text("utf-8").splitlines()]
    assert [row["id"] for row in found] == _ids(folder / "data" / "graph-recipes", "8k")
    assert [Message(**message) for message in found[0]["messages"]] == item_of(found[0]["id"]).messages()
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    ended = carrara("generate", tmp_path / "broken.parquet", "--out", tmp_path)
    assert ended.returncode == 2
    assert "broken.parquet is not a file of item_ids" in ended.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("offline")
@pytest.mark.usefixtures("collected")
@pytest.mark.filterwarnings("ignore")
def test_inspect_runs_it(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `inspect eval hf/owner/mine` does, with the folder in the hub's place."""
    pytest.importorskip("datasets", reason="`datasets` is not installed")
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    rows = json.loads((folder / "eval.yaml").read_text())["tasks"]
    monkeypatch.chdir(folder.parents[1])
    monkeypatch.setattr("huggingface_hub.hf_hub_download", lambda **_: str(folder / "eval.yaml"))
    golds = {fingerprint(item_of(one).messages()): item_of(one).gold for one in _ids(folder)}

    def reply(given: Any, *_: object) -> ModelOutput:
        prompt = [Message(one.role, one.text) for one in given]
        output = ModelOutput.from_content("mine", f"So it is this. {golds[fingerprint(prompt)]}")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # or else it would be counted
        return output

    for name in ("qa1_4k", "graph_0", "mrcr_4k"):
        assert name in {row["id"] for row in rows}
        model = get_model("mockllm/model", custom_outputs=reply)
        [log] = evaluate(f"hf/owner/mine/{name}", model=model, log_dir=str(tmp_path), display="none")
        assert log.status == "success", log.error
        assert log.results
        assert log.results.scores[0].metrics["accuracy"].value == 1.0, name


def _ids(folder: Path, split: str = "") -> list[str]:
    from pyarrow.parquet import read_table

    return [
        id
        for path in sorted(folder.rglob(f"{split}*.parquet"))
        for id in read_table(path, columns=["id"])["id"].to_pylist()
    ]


@pytest.mark.skipif(not find_spec("mlcroissant"), reason="mlcroissant is not installed: `pip install mlcroissant`")
@pytest.mark.filterwarnings("ignore")
def test_croissant_is_valid_and_read(folder: Path) -> None:
    from mlcroissant import Dataset

    found = Dataset(jsonld=str(folder / "croissant.json"))
    for records in found.metadata.record_sets:
        for row in found.records(records.id):
            named = {name.rpartition("/")[2]: value for name, value in row.items()}
            assert item_of(named["id"].decode()).gold == named["answer"].decode()


def test_the_card_says_how_and_what_for(folder: Path) -> None:
    said = (folder / "README.md").read_text()
    command = "sync/graph,qa1,mrcr --tokenizer gpt2 -n 3 --lengths 0,4k,8k,16k --recipes-from 8k --out mine"
    assert f"carrara export datasets {command}" in said
    assert "rows = recipes.map(fill_recipe)" in said
    assert CANARY in said
    assert "license: apache-2.0" in said
    assert str(folder.parent) not in said
    for name in ("eval.yaml", "croissant.json"):
        assert CANARY in (folder / name).read_text()
    tasks = json.loads((folder / "eval.yaml").read_text())["tasks"]
    assert [scorer["args"] for scorer in tasks[0]["scorers"]] == [{"location": "end"}]


def test_a_row_group_holds_some_contexts_and_each_is_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a reader of the first row loads a part of the file, and questions on one context still share it."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    monkeypatch.setattr(shards, "GROUP", 8 << 10)
    config = ExportConfig("sync/graph", lengths="4k", n=5, tokenizer="gpt2", out=tmp_path, workers=1)
    hub.write(config)
    [path] = tmp_path.rglob("*.parquet")
    file = parquet.ParquetFile(path)
    groups = [
        set(file.read_row_group(number, columns=["context_id"])["context_id"].to_pylist())
        for number in range(file.num_row_groups)
    ]
    assert [len(group) for group in groups] == [2, 2, 1]
    assert len(set.union(*groups)) == 5
    first = file.metadata.row_group(0)
    [texts] = [column for column in map(first.column, range(first.num_columns)) if column.path_in_schema == "context"]
    assert texts.total_uncompressed_size < 1.1 * 2 * len(item_of(_ids(tmp_path)[0]).text)  # 6 rows share 2 texts


# --- requests ---


def test_batches_go_out_and_come_back(tmp_path: Path) -> None:
    line = ["export", "batch", *SELECTION, "--lengths", "4k", "--model", "some/model", "--out", tmp_path]
    carrara(*line, check=True)
    requests = [json.loads(text) for text in (tmp_path / "batch.jsonl").read_text().splitlines()]
    assert len(requests) == 3 * 3 + 3 + 3
    results = []
    for number, request in enumerate(requests):
        item = item_of(request["custom_id"])
        assert [Message(**message) for message in request["body"]["messages"]] == item.messages()
        assert request["body"]["model"] == "some/model"
        said: dict[str, Any] = {"role": "assistant", "content": item.gold}
        ended = "stop"
        if number == 1:
            ended = "length"
        if number == 2:
            said = {"role": "assistant", "content": None, "refusal": "I'd rather not."}
        body = {
            "model": "some/model",
            "choices": [{"message": said, "finish_reason": ended}],
            "usage": {"prompt_tokens": 4096, "completion_tokens": 9},
        }
        response: dict[str, Any] | None = {"status_code": 200, "body": body}
        error = None
        if number == 3:
            response, error = None, {"code": "batch_expired", "message": "it took too long"}
        results.append({"id": f"batch_{number}", "custom_id": item.id, "response": response, "error": error})
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in reversed(results)))
    given = ["score", tmp_path / "results.jsonl", "--model", "acme/one"]
    carrara(*given, "--out", tmp_path / "scores.jsonl", check=True)
    scores = {row["id"]: row for row in map(json.loads, (tmp_path / "scores.jsonl").read_text().splitlines())}
    assert [scores[row["custom_id"]]["status"] for row in results[:4]] == ["ok", "truncated", "refused", "error"]
    assert {scores[row["custom_id"]]["score"] for row in results[4:]} == {1.0}
    assert not any("model" in row for row in scores.values())  # all of them are the one's that was named


@pytest.mark.parametrize(
    "row",
    [
        {"response": None},
        {"response": 5},
        {"response": {"body": []}},
        {"response": {"body": {"choices": {}}}},
        {"response": {"body": {"choices": [None]}}},
        {"response": {"body": {"choices": [{"message": None, "text": None}]}}, "error": "x"},
    ],
)
def test_a_broken_result_is_an_error_of_its_item(row: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps({"custom_id": "babilong/qa1@5/test-0-0.0/0/chat/gpt2", **row}) + "\n")
    ended = carrara("score", path, check=True)
    assert json.loads(ended.stdout)["status"] == "error"


def test_base_requests_end_where_the_answer_does(tmp_path: Path) -> None:
    carrara("export", "batch", "qa1", "-n", "1", "--style", "base", "--model", "m", "--out", tmp_path, check=True)
    [request] = map(json.loads, (tmp_path / "batch.jsonl").read_text().splitlines())
    item = item_of(request["custom_id"])
    assert request["url"] == "/v1/completions"
    assert request["body"]["prompt"] == item.text
    assert request["body"]["max_tokens"] == item.question.budget
    assert request["body"].get("stop", []) == list(item.prompt.template.stop)


@pytest.mark.parametrize(("model", "sampled"), [("gpt-4o", {"temperature": 0}), ("o3-mini", {})])
def test_chat_requests_say_what_their_model_takes(model: str, sampled: dict[str, Any], tmp_path: Path) -> None:
    """OpenAI's models that think refuse a temperature, and `max_tokens`."""
    line = ["export", "batch", "qa1", "-n", "1", "--model", model, "--max-tokens", "99", "--out", tmp_path]
    carrara(*line, check=True)
    [request] = map(json.loads, (tmp_path / "batch.jsonl").read_text().splitlines())
    settings = {name: value for name, value in request["body"].items() if name not in ("model", "messages")}
    assert settings == {"max_completion_tokens": 99, **sampled}


def test_loads_have_the_prompts_of_items(tmp_path: Path) -> None:
    carrara(
        "export", "serving", "qa1", "--lengths", "2k", "-n", "2", "--tokenizer", "gpt2", "--out", tmp_path, check=True
    )
    ours = [item_of(f"babilong/qa1@5/test-0-{instance}.0/2048/chat/gpt2").text for instance in range(2)]
    vllm = [json.loads(text) for text in (tmp_path / "vllm.jsonl").read_text().splitlines()]
    sglang = [json.loads(text) for text in (tmp_path / "sglang.jsonl").read_text().splitlines()]
    assert [row["prompt"] for row in vllm] == ours == [row["conversations"][0]["content"] for row in sglang]
    assert all(row["output_tokens"] >= 1 for row in vllm)
    assert CANARY in (tmp_path / "README.md").read_text()


def test_a_full_disk_leaves_no_part_of_a_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of it would be taken for somebody else's, and the next export be refused."""
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    hub.write(ExportConfig("qa1", n=1, out=tmp_path))
    cards = {name: (tmp_path / name).read_bytes() for name in (CARD, hub.EVAL, hub.CROISSANT)}

    def fail(number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for write in (hub.write, lambda config: [str(config.write_card("More."))]):
        with monkeypatch.context() as full:
            full.setattr("os.fsync", fail)
            with pytest.raises(OSError, match="No space left"):
                write(ExportConfig("qa1", n=1, out=tmp_path))
        assert {name: (tmp_path / name).read_bytes() for name in cards} == cards
        hub.write(ExportConfig("qa1", n=1, out=tmp_path))
