"""RULER's own samples, run as they are: their bytes, their scores, the table, and files that are none."""

import re
from pathlib import Path

import pytest

import carrara
from carrara.items.grading import grade
from carrara.items.item import Item, context_of, make
from carrara.results.ruler import TASKS, ruler_rows
from carrara.runs.config import RunConfig
from carrara.util.errors import UsageError
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.ruler_files import NAMES, samples_of, write_samples

BUDGETS = {"vt": 30, "cwe": 120, "fwe": 50, "qa_1": 32, "qa_2": 32}
"""The tokens that RULER lets a model generate; 128 in its other tasks."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_samples(tmp_path_factory.mktemp("ruler"))


def items_of(folder: Path, tasks: str = "paper:ruler") -> dict[tuple[str, int], Item]:
    """Return the first item of each of RULER's tasks and lengths, as a run of the samples in a folder asks it."""
    config = RunConfig(tasks, "carrara/oracle", out="unused", tokenizer="gpt2", published=f"ruler:{folder}")
    firsts = [job.first for job in config.jobs]
    return {(first.task.removeprefix("published/ruler-"), first.length): context_of(first).items[0] for first in firsts}


@LEFT_OPEN
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


@pytest.mark.parametrize("task", TASKS)
def test_wrong_names_are_taken_off_our_score_alone(task: str, folder: Path) -> None:
    item = items_of(folder)[task, 4096]
    wrong = {"vt": "ZZZZZ", "cwe": "ash", "fwe": "lkjhgf", "niah": "7654321", "qa": "no"}[task.partition("_")[0]]
    if task.endswith("_3"):
        wrong = "1aa03600-4d15-4a3b-b5a4-64a7a0a56c0f"
    names = NAMES[task][:1] if task.startswith("qa_") else NAMES[task]
    both = grade(item.task, item.question, " ".join([*names, wrong]))
    assert both.scores["ruler"] == 1.0
    assert both.score == pytest.approx(0.0 if len(names) == 1 else 1 - 1 / len(names))
    assert grade(item.task, item.question, wrong).scores["ruler"] == 0.0
    assert item.question.budget == BUDGETS.get(task, 128)


@pytest.mark.parametrize(
    ("task", "reply", "score"),
    [("vt", "abcde and FGHIJ", 2 / 5), ("qa_1", "it was IDA", 1.0), ("qa_1", "", 0.0)],
)
def test_the_share_of_references_is_rulers_score(task: str, reply: str, score: float, folder: Path) -> None:
    item = items_of(folder)[task, 4096]
    assert grade(item.task, item.question, reply).scores["ruler"] == score


def test_a_length_that_no_path_names_is_that_of_the_samples(tmp_path: Path) -> None:
    assert {length for _, length in items_of(write_samples(tmp_path, length="data"))} == {4096}


def test_a_part_of_the_tasks_is_run(folder: Path) -> None:
    assert list(items_of(folder, "classic/vt,classic/qa_1")) == [("qa_1", 4096), ("vt", 4096)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "validation.jsonl:1: not a row of JSON"),
        ('{"input": 1, "outputs": ["a"]}', "validation.jsonl:1: not a row of JSON"),
        ('{"input": "a", "outputs": "a"}', "validation.jsonl:1: not a row of JSON"),
        ('{"input": "\\ud800", "outputs": ["a"]}', "validation.jsonl:1: not a row of JSON"),
        ('{"input": "a", "outputs": []}', "its outputs are no texts"),
        ('{"input": "a", "outputs": [""]}', "its outputs are no texts"),
        ("", "have no samples of vt at 4096"),
    ],
)
def test_a_file_of_another_kind_is_named(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "4096" / "vt" / "validation.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=re.escape(message)):
        items_of(tmp_path, "classic/vt")


def test_samples_of_two_models_are_refused(tmp_path: Path) -> None:
    for model in ("one", "two"):
        write_samples(tmp_path / model)
    write_samples(tmp_path / "one", "8192")
    with pytest.raises(UsageError, match="samples of the same task and length"):
        items_of(tmp_path)
    assert {length for _, length in items_of(tmp_path / "one")} == {4096, 8192}


def test_what_is_no_folder_of_samples_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        items_of(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="has no samples of RULER's"):
        items_of(tmp_path)
    (tmp_path / "vt").mkdir()
    (tmp_path / "vt" / "validation.jsonl").write_text('{"input": "a", "outputs": ["a"]}\n', "utf-8")
    with pytest.raises(UsageError, match="names no length"):
        items_of(tmp_path)
    with pytest.raises(UsageError, match="RULER has no task 'vt_2'"):
        make("published/ruler-vt_2", length=4096)
