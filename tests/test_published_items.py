"""Published items, run as they are; the published grid; what a data set is like; files to fine-tune with."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from carrara import suites
from carrara.cli import main
from carrara.commands.run import arguments, planned
from carrara.errors import UsageError
from carrara.items import make, rebuild
from carrara.presets import PRESETS, preset_of
from carrara.suites.babilong._babilong import Babilong

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


def run(*asked: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "carrara.cli", "run", *map(str, asked), "--tokenizer", "gpt2", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )


def test_published_items_are_run_as_they_are(official: Path, tmp_path: Path) -> None:
    ended = run("babilong", "--published", f"babilong:{official}", "--model", "carrara/oracle", "--out", tmp_path)
    assert ended.returncode == 0, ended.stderr
    rows = json.loads(ended.stdout)
    assert "dataset_info.json is left out" in ended.stderr
    assert [(row["test"], row["length"]) for row in rows] == [
        (f"published/babilong-{task}", length) for task in ("qa1", "qa2", "qa8") for length in (0, 4096)
    ]
    assert {(row["n"], row["mean"]) for row in rows} == {(ROWS, 1.0)}


def test_a_published_item_is_rebuilt_from_its_id(official: Path) -> None:
    args = _planned(official)
    job = next(job for job in args.jobs if job.first.task.endswith("qa1") and job.first.length == 4096)
    item = rebuild(str(job.first))
    row = json.loads((official / "4k" / "qa1.json").read_text("utf-8"))[0]
    assert f"<context> {row['input']} </context>" in item.text
    assert item.gold == row["target"]
    assert item.question.ask == row["question"].strip()
    assert item.survey.tokens == item.prompt.tokens  # its own length, not one that was woven


def test_parts_of_published_data_can_be_chosen(official: Path) -> None:
    jobs = _planned(official, "qa2", "--lengths", "4k", "-n", "3").jobs
    assert [(job.first.task, job.first.length, job.worlds) for job in jobs] == [("published/babilong-qa2", 4096, 3)]


@pytest.mark.parametrize(
    ("selection", "source", "more", "complaint"),
    [
        ("qa3", "babilong:{}", [], "no file of qa3"),
        ("babilong", "mrcr:{}", [], "is not babilong:DIR"),
        ("babilong", "babilong:{}/nowhere", [], "there is no folder"),
        ("babilong", "babilong:{}", ["-p", "haystack=letters"], "haystack cannot be chosen"),
    ],
)
def test_what_cannot_be_run_is_refused(
    official: Path, selection: str, source: str, more: list[str], complaint: str
) -> None:
    with pytest.raises(UsageError, match=complaint):
        _planned(official, selection, "--published", source.format(official), *more)


def test_broken_published_files_are_refused(official: Path, tmp_path: Path) -> None:
    for name, content in (("qa1.json", "[{"), ("qa1.json", '[{"input": "x"}]'), ("qa1.json", "{}")):
        folder = tmp_path / "4k"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(content, "utf-8")
        ended = run("qa1", "--published", f"babilong:{tmp_path}", "--model", "carrara/oracle", "--out", tmp_path / "r")
        assert ended.returncode == 2
        assert str(folder / name) in ended.stderr
        assert "Traceback" not in ended.stderr


def _planned(official: Path, *more: str):  # type: ignore[no-untyped-def]
    from argparse import ArgumentParser

    parser = ArgumentParser()
    arguments(parser)
    given = list(more) if more and not more[0].startswith("-") else ["babilong", *more]
    if "--published" not in given:
        given += ["--published", f"babilong:{official}"]
    return planned(parser.parse_args([*given, "--model", "carrara/oracle", "--out", "unused", "--tokenizer", "gpt2"]))


def test_the_published_grid() -> None:
    found = preset_of("paper:babilong")
    assert found is not None
    preset, selection = found
    jobs = [(test, *size) for test in suites.select(selection) for size in preset.sizes(test, None)]
    assert len(jobs) == 20 * 13
    assert {worlds for test, length, worlds in jobs if test in suites.select("qa1,qa5") and length <= 32768} == {1000}
    assert {worlds for test, length, worlds in jobs if test == "babilong/qa6" or length > 32768} == {100}
    assert preset_of("paper:babilong:qa2,qa7") == (preset, "qa2,qa7")
    with pytest.raises(UsageError, match="is not part of paper:babilong"):
        preset_of("paper:babilong:latent_list")
    assert preset_of("babilong") is None
    assert PRESETS["paper:babilong"].params_beside(["screen=true", "haystack=x"]) == [
        "background=all",
        "repeat=true",
        "screen=true",
        "haystack=x",
    ]


def test_stats_describe_a_data_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "qa4,qa7", "-n", "200", "--lengths", "0,4k", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    four, seven = found["tests"]
    assert four["updates"] == {"least": 2, "mean": 2.0, "greatest": 2}
    assert seven["support"]["greatest"] > 2
    assert sum(share for _, share in seven["answers"]) == pytest.approx(1)
    assert 3400 < found["tokens"]["4096"]["gpt2"] < 4096
    assert found["tokens"]["4096"]["characters"] > found["tokens"]["4096"]["words"] > found["tokens"]["0"]["words"]
    assert main(["stats", "qa4", "-n", "20"]) == 0
    assert "17.7%" in capsys.readouterr().out


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
    assert first["prompt"].endswith("Answer:")
    assert isinstance(suites.load("babilong/qa1"), Babilong)
