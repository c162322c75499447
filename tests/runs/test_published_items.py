"""Published items, run as they are; the published grid; what a data set is like; files to fine-tune with."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara.cli.main import main
from carrara.items import registry
from carrara.items.item import contexts, make, rebuild
from carrara.runs.config import RunConfig
from carrara.runs.presets import preset_of
from carrara.tasks import published_rows
from carrara.util.errors import UsageError
from tests.helpers.inspect_warnings import LEFT_OPEN

pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed: `make env-all` installs it")
pq: Any = pytest.importorskip("pyarrow.parquet")

ROWS = 5


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the shape of the published data: JSON at two lengths, Parquet at one of them."""
    folder = tmp_path_factory.mktemp("official")
    for name, length in (("0k", 0), ("4k", 4096)):
        (folder / name).mkdir()
        for task in ("qa1", "qa2", "qa8"):
            rows = []
            for index in range(ROWS):
                item = make(f"babilong/{task}", length=length, index=index, split="train", tokenizer="gpt2")
                context = item.text.rpartition("<context> ")[2].partition(" </context>")[0]
                rows.append({"input": context, "question": f"{item.question.ask} ", "target": item.gold})
            if task == "qa8":
                pq.write_table(pa.Table.from_pylist(rows), folder / name / "qa8-00000-of-00001.parquet")
            else:
                (folder / name / f"{task}.json").write_text(json.dumps(rows), "utf-8")
    (folder / "dataset_info.json").write_text("{}", "utf-8")
    return folder


def planned(official: Path, tasks: str = "babilong", **settings: Any) -> RunConfig:
    """Return the settings of a run of published items."""
    fixed = {"out": "unused", "tokenizer": "gpt2", "published": f"babilong:{official}"}
    return RunConfig(tasks, "carrara/oracle", **{**fixed, **settings})


def jobs_of(official: Path, tasks: str = "babilong", **settings: Any) -> list[tuple[str, int]]:
    return [(job.first.task, job.first.length) for job in planned(official, tasks, **settings).jobs]


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_published_items_are_run_as_they_are(official: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    results = carrara.run(
        "babilong", "carrara/oracle", published=f"babilong:{official}", tokenizer="gpt2", out=tmp_path
    )
    assert "dataset_info.json is left out" in caplog.text
    assert Counter((result.task, result.length, result.score) for result in results) == {
        (f"published/babilong-{task}", length, 1.0): ROWS for task in ("qa1", "qa2", "qa8") for length in (0, 4096)
    }


def test_a_published_item_is_rebuilt_from_its_id(official: Path) -> None:
    job = next(job for job in planned(official, "qa1").jobs if job.first.length == 4096)
    item = rebuild(str(job.first))
    row = json.loads((official / "4k" / "qa1.json").read_text("utf-8"))[0]
    assert f"<context> {row['input']} </context>" in item.text
    assert item.gold == row["target"]
    assert item.question.ask == row["question"].strip()
    assert item.survey.tokens == item.prompt.tokens  # its own length, not one that was woven


def test_parts_of_published_data_can_be_chosen(official: Path) -> None:
    [job] = planned(official, "qa2", lengths="4k", n=3).jobs
    assert (job.first.task, job.first.length, job.instances) == ("published/babilong-qa2", 4096, 3)
    for part in ("4k", "4k/qa1.json"):
        jobs = jobs_of(official, "qa1", published=f"babilong:{official / part}")
        assert jobs == [("published/babilong-qa1", 4096)]


@pytest.mark.parametrize(
    ("selection", "source", "more", "complaint"),
    [
        ("qa3", "babilong:{}", {}, "no file of qa3"),
        ("babilong", "sync:{}", {}, "is none of babilong:DIR"),
        ("babilong", "babilong:{}/nowhere", {}, "there is no folder"),
        ("babilong", "babilong:{}", {"params": {"haystack": "letters"}}, "as they are: leave out haystack"),
        ("qa1", "babilong:{}", {"params": {"vocab": "fresh"}}, "as they are: leave out vocab"),
        ("babilong", "babilong:{}", {"seed": 7}, "`seed` draws other items"),
        ("babilong", "babilong:{}", {"split": "train"}, "`split` draws other items"),
    ],
)
def test_what_cannot_be_run_is_refused(
    official: Path, selection: str, source: str, more: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(UsageError, match=complaint):
        planned(official, selection, published=source.format(official), **more)


GOOD = {"input": "Mary went to the garden.", "question": "Where is Mary? ", "target": "garden"}
OTHER = {"input": "John went to the office.", "question": "Where is John? ", "target": "office"}


def gold_answers(folder: Path, **more: Any) -> list[str]:
    """The answers to everything that a folder has for qa1, as a run would ask it."""
    jobs = planned(folder, "qa1", **more).jobs
    return [item.gold for job in jobs for context in contexts(job.first, job.instances) for item in context.items]


def write_rows(path: Path, *rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(rows)), path)
    else:
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        text = "\n".join(lines) if path.suffix.lower() == ".jsonl" else f"[{','.join(lines)}]"
        path.write_text(text, "utf-8")
    return path


def test_what_is_not_there_is_told(official: Path, caplog: pytest.LogCaptureFixture) -> None:
    planned(official, "qa1,qa3,qa4", lengths="0,4k,8k")
    assert "has no file of qa3, qa4 at 0, 4k; of qa1, qa3, qa4 at 8k: left out" in caplog.text
    planned(official, "qa1,qa2,qa3,qa4")
    assert "has no file of qa3, qa4: left out" in caplog.text
    caplog.clear()
    planned(official, "qa1,qa2", lengths="4k")
    assert "has no file" not in caplog.text


def test_a_preset_chooses_tests_and_lengths_of_published_items(
    official: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert jobs_of(official, "paper:babilong:qa1,qa2") == [
        (f"published/babilong-{task}", length) for task in ("qa1", "qa2") for length in (0, 4096)
    ]
    assert "qa1, qa2 at 1k, 2k, 8k" in caplog.text


def test_the_published_grid() -> None:
    found = preset_of("paper:babilong")
    assert found is not None
    preset, selection = found
    instances = {(task, s.length): s.instances for task in registry.select(selection) for s in preset.sizes(task, None)}
    assert len(instances) == 20 * 13
    first_five = registry.select("qa1,qa2,qa3,qa4,qa5")
    assert instances == {
        (task, length): 1000 if task in first_five and length <= 32768 else 100 for task, length in instances
    }
    assert preset_of("paper:babilong:qa2,qa7") == (preset, "qa2,qa7")
    assert preset_of("babilong") is None
    with pytest.raises(UsageError, match="is not part of paper:babilong"):
        preset_of("paper:babilong:latent_list")


@pytest.mark.parametrize(
    "name", ["QA1_4K.JSON", "qa1/4k.jsonl", "data/qa1_4k-0.PARQUET", "babilong-1k-samples/4k/qa1.json"]
)
def test_names_of_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    write_rows(path.with_suffix(path.suffix.lower()), GOOD).rename(path)
    assert gold_answers(tmp_path, lengths="4k") == ["garden"]


def test_files_that_are_left_out_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_rows(tmp_path / "4k" / "qa1.json", GOOD)
    for name in ("qa2.csv", "qa3.json.gz", "notes.txt"):
        (tmp_path / "4k" / name).write_text("")
    (tmp_path / ".cache" / "4k").mkdir(parents=True)
    (tmp_path / ".cache" / "4k" / "qa4.json").write_text("")
    assert gold_answers(tmp_path) == ["garden"]
    assert "qa2.csv and 1 more are left out: what is read ends in .json" in caplog.text


@pytest.mark.parametrize("other", ["4k/qa1.jsonl", "4k/qa1.parquet", "copy/4k/qa1.json"])
def test_no_item_counts_twice(other: str, tmp_path: Path) -> None:
    write_rows(tmp_path / "4k/qa1.json", GOOD, OTHER)
    write_rows(tmp_path / other, GOOD, OTHER)
    with pytest.raises(UsageError, match="hold the same rows: leave one of them"):
        gold_answers(tmp_path)


def test_parts_of_one_file_are_read_together(tmp_path: Path) -> None:
    write_rows(tmp_path / "qa1/4k-00000-of-00002.parquet", GOOD, OTHER)
    write_rows(
        tmp_path / "qa1/4k-00001-of-00002.parquet",
        OTHER,
        GOOD | {"target": "Garden", "input": "Mary is in the garden."},
    )
    assert gold_answers(tmp_path) == ["garden", "office", "office", "garden"]


BROKEN: dict[str, tuple[str, str | dict[str, object], str]] = {
    "JSON that is cut off": ("qa1.json", "[{", "qa1.json"),
    "a row without its fields": ("qa1.json", '[{"input": "x"}]', "qa1.json"),
    "no list": ("qa1.json", "{}", "qa1.json"),
    "brackets in brackets": ("qa1.json", "[" * 200_000, "qa1.json"),
    "brackets in brackets in a line": ("qa1.jsonl", "[" * 200_000, "qa1.jsonl:1"),
    "half a character": ("qa1.json", json.dumps([GOOD, GOOD | {"input": "\ud800"}]), "row 1 of"),
    "a target that is none": ("qa1.json", {"target": "banana"}, "'banana' is no answer to qa1's"),
    "an empty target": ("qa1.json", {"target": ""}, "row 1 of"),
    "a question of no task": ("qa1.json", {"question": "How are you?"}, "'How are you?' is no question of qa1"),
    "a question of another task": ("qa1.json", {"question": "Is Mary in the garden?"}, "no question of qa1"),
    "null": ("qa1.json", {"target": None}, "row 1 of"),
    "null in Parquet": ("qa1.parquet", {"target": None}, "row 1 of"),
}


@pytest.mark.parametrize("wrong", BROKEN)
def test_rows_that_cannot_be_asked_are_named(wrong: str, tmp_path: Path) -> None:
    name, content, complaint = BROKEN[wrong]
    path = tmp_path / "4k" / name
    if isinstance(content, str):
        path.parent.mkdir()
        path.write_text(content, "utf-8")
    else:
        write_rows(path, GOOD, GOOD | content)
    with pytest.raises(UsageError) as refused:
        gold_answers(tmp_path)
    assert complaint in str(refused.value)
    assert str(path) in str(refused.value)


def test_parquet_holds_texts(tmp_path: Path) -> None:
    write_rows(tmp_path / "4k" / "qa1.parquet", GOOD | {"target": 3})
    with pytest.raises(UsageError, match=r"row 0 of .* has no text for its target"):
        gold_answers(tmp_path)


@pytest.mark.parametrize("name", ["qa1.json", "qa1.jsonl", "qa1.parquet"])
def test_a_file_that_is_too_large_is_refused_unread(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path / "4k" / name, GOOD)
    with (tmp_path / "4k" / name).open("ab") as file:
        file.truncate(9 << 30)
    monkeypatch.setattr(published_rows, "file_hash", lambda path: pytest.fail("it is hashed"))
    with pytest.raises(UsageError, match=r"cannot be read: it has .* part it into several files"):
        gold_answers(tmp_path)


def test_lines_end_at_line_feeds_alone(tmp_path: Path) -> None:
    write_rows(
        tmp_path / "4k" / "qa1.jsonl", GOOD | {"input": "It was late.\u2028\x85 Mary went to the garden."}, OTHER
    )
    assert gold_answers(tmp_path) == ["garden", "office"]


def test_the_commonest_answer_of_published_items(official: Path) -> None:
    from carrara.verify.reference import majority

    job = planned(official, "qa1", lengths="4k").jobs[0]
    items = [item for context in contexts(job.first, job.instances) for item in context.items]
    golds = [item.gold for item in items]
    assert {golds.count(majority(item, [])) for item in items} == {max(map(golds.count, golds))}


def test_stats_describe_a_data_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "qa4,qa7", "-n", "200", "--lengths", "0,4k", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    four, seven = found["tasks"]
    assert four["facts"] == {"least": 2, "mean": 2.0, "greatest": 2}
    assert seven["evidence"]["greatest"] > 2
    assert sum(share for _, share in seven["answers"]) == pytest.approx(1)
    assert 3400 < found["tokens"]["4096"]["gpt2"] < 4096
    assert found["tokens"]["4096"]["characters"] > found["tokens"]["4096"]["words"] > found["tokens"]["0"]["words"]
    assert main(["describe", "qa4", "-n", "2", "--lengths", "4k", "--tokenizer", "o200k,words", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["tokens"]["4096"]) == ["o200k", "words"]
    assert main(["describe", "qa1,qa3", "-n", "2", "--lengths", "20"]) == 2
    assert "none of these tasks has an instance of 20 tokens" in capsys.readouterr().err
    assert main(["describe", "qa1", "--tokenizer", "words"]) == 2
    assert "--tokenizer words cannot begin with words" in capsys.readouterr().err


def test_files_to_fine_tune_with(tmp_path: Path) -> None:
    asked = ["generate", "qa1", "--lengths", "1k", "-n", "4", "--finetune", "--out", str(tmp_path)]
    assert main(asked) == 2  # the test split
    assert main([*asked, "--split", "train"]) == 0
    lines = [json.loads(line) for line in (tmp_path / "finetune.jsonl").read_text("utf-8").splitlines()]
    assert len(lines) == 4
    for index, line in enumerate(lines):
        item = make("babilong/qa1", length=1024, index=index, split="train")
        assert line == {
            "messages": [
                {"role": "user", "content": item.text},
                {"role": "assistant", "content": item.gold},
            ]
        }
    assert main([*asked, "--split", "train", "--style", "base"]) == 0
    first = json.loads((tmp_path / "finetune.jsonl").read_text("utf-8").splitlines()[0])
    assert set(first) == {"prompt", "completion"}
    assert first["prompt"].endswith("\nFINAL ANSWER:")
