"""RULER's own samples, run as they are: their bytes, their scores, the table, and files that are none."""

import json
import re
from pathlib import Path

import pytest

import carrara
from carrara.items.grading import grade
from carrara.items.item import Item, make
from carrara.results.ruler import TASKS, ruler_rows
from carrara.tasks.classic._ruler_items import BUDGETS, PREFIX, ruler_score, sources
from carrara.tasks.published_rows import remember_files
from carrara.util.errors import UsageError
from tests.helpers.process import carrara as command
from tests.helpers.process import in_file
from tests.helpers.ruler_files import NAMES, samples_of, write_samples

LEFT_OPEN = pytest.mark.filterwarnings(
    # streams that Inspect leaves open at the end of an evaluation, and Python comes upon later
    "ignore::ResourceWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_samples(tmp_path_factory.mktemp("ruler"))


def item_of(folder: Path, task: str, index: int = 0) -> Item:
    params = {"data": remember_files(sources(folder))}
    return make(f"{PREFIX}{task}", length=4096, index=index, params=params, tokenizer="gpt2")


def test_the_names_are_rulers() -> None:
    assert tuple(BUDGETS) == TASKS == tuple(task for task in TASKS if task in NAMES)


@LEFT_OPEN
@pytest.mark.slow
@pytest.mark.usefixtures("collected")
def test_samples_are_run_as_they_are(folder: Path, tmp_path: Path) -> None:
    sent: list[str] = []

    def right(prompt: str) -> str:
        sent.append(prompt)
        task = re.sub(r".* of (\w+)\. Answer: ", r"\1", prompt, flags=re.DOTALL)
        return NAMES[task][0] if task.startswith("qa_") else ", ".join(NAMES[task])

    found = carrara.run("paper:ruler", right, out=tmp_path, published=f"ruler:{folder}", lengths="4k", tokenizer="gpt2")
    rows = [row for task in NAMES for row in samples_of(task)]
    assert sorted(sent) == sorted(row["input"] + row["answer_prefix"] for row in rows)
    assert {(result.score, result.scores["ruler"], result.status) for result in found} == {(1.0, 1.0, "ok")}
    own, theirs = ruler_rows(list(found))
    assert own.model.endswith("(RULER's samples)")
    assert (own.missing, own.means, theirs.means) == ([], {4096: 1.0}, {4096: 1.0})


@pytest.mark.parametrize("task", NAMES)
def test_wrong_names_are_taken_off_our_score_alone(task: str, folder: Path) -> None:
    item = item_of(folder, task)
    wrong = {"vt": "ZZZZZ", "cwe": "ash", "fwe": "lkjhgf", "niah": "7654321", "qa": "no"}[task.partition("_")[0]]
    if task.endswith("_3"):
        wrong = "1aa03600-4d15-4a3b-b5a4-64a7a0a56c0f"
    names = NAMES[task][:1] if task.startswith("qa_") else NAMES[task]
    both = grade(item.task, item.question, " ".join([*names, wrong]))
    assert both.scores["ruler"] == 1.0
    assert both.score == pytest.approx(0.0 if len(names) == 1 else 1 - 1 / len(names))
    assert grade(item.task, item.question, wrong).scores["ruler"] == 0.0
    assert item.question.budget == BUDGETS[task]


def test_the_share_of_references_is_rulers_score() -> None:
    assert ruler_score("vt", "abcde and FGHIJ", NAMES["vt"]) == 2 / 5
    assert ruler_score("qa_1", "it was IDA", NAMES["qa_1"]) == 1.0
    assert ruler_score("qa_1", "", NAMES["qa_1"]) == 0.0


def test_a_length_that_no_path_names_is_that_of_the_samples(tmp_path: Path) -> None:
    folder = write_samples(tmp_path, length="data")
    assert {source.length for source in sources(folder)} == {4096}


def test_a_part_of_the_tasks_is_run(folder: Path, tmp_path: Path) -> None:
    asked = (
        "run",
        "classic/vt,classic/qa_1",
        *in_file(tmp_path / "file", published=f"ruler:{folder}"),
        "--model",
        "carrara/majority",
    )
    ended = command(*asked, "--tokenizer", "gpt2", "--json", "--out", tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert [row["task"] for row in json.loads(ended.stdout)] == [f"{PREFIX}qa_1", f"{PREFIX}vt"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "validation.jsonl:1: not a row of JSON with input and outputs"),
        ('{"input": 1, "outputs": ["a"]}', "validation.jsonl:1: not a row of JSON with input and outputs"),
        ('{"input": "a", "outputs": "a"}', "validation.jsonl:1: not a row of JSON with input and outputs"),
        ('{"input": "\\ud800", "outputs": ["a"]}', "validation.jsonl:1: not a row of JSON with input and outputs"),
        ('{"input": "a", "outputs": []}', "its outputs are no texts"),
        ('{"input": "a", "outputs": [""]}', "its outputs are no texts"),
        ('{"input": "a", "outputs": ["\\ud800"]}', "its outputs are no texts"),
        ("", "have no samples of vt at 4096"),
    ],
)
def test_a_file_of_another_kind_is_named(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "4096" / "vt" / "validation.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=re.escape(message)):
        item_of(tmp_path, "vt")


def test_samples_of_two_models_are_refused(tmp_path: Path) -> None:
    for model in ("one", "two"):
        write_samples(tmp_path / model)
    write_samples(tmp_path / "one", "8192")
    with pytest.raises(UsageError, match="have samples of the same task and length: give a folder with one of them"):
        sources(tmp_path)
    assert {source.length for source in sources(tmp_path / "one")} == {4096, 8192}


def test_what_is_no_folder_of_samples_is_told(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        sources(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="has no samples of RULER's"):
        sources(tmp_path)
    with pytest.raises(UsageError, match="have 2 rows, and none numbered 2"):
        item_of(folder, "vt", 2)
    (tmp_path / "vt").mkdir()
    (tmp_path / "vt" / "validation.jsonl").write_text('{"input": "a", "outputs": ["a"]}\n', "utf-8")
    with pytest.raises(UsageError, match="names no length: put it into a folder such as 4096/vt"):
        sources(tmp_path)
    with pytest.raises(UsageError, match="RULER has no task 'vt_2'"):
        make(f"{PREFIX}vt_2", length=4096)
