"""Published predictions, scored anew from the command line, and the faults of the published metric."""

import csv
import json
from pathlib import Path

import pytest

from carrara.cli.main import main
from carrara.tasks.babilong._task import load_task
from carrara.types import Question
from tests.helpers.published import predictions

SCORE = ["score", "--published", "babilong"]
HEAD = "Unnamed: 0,target,output,question\n"
ROWS = [
    ("kitchen", "Mary is in the kitchen.", "Where is Mary? "),
    ("garden", "1. garden", "Where is Mary? "),  # a full stop ends the reply for the published metric
    ("garden", "kitchen or garden", "Where is Mary? "),
    ("office", "", "Where is Mary? "),
]
Capture = pytest.CaptureFixture[str]


def table(path: Path, rows: list[tuple[str, str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Unnamed: 0", "target", "output", "question"])
        writer.writerows([(number, *row) for number, row in enumerate(rows)])
    return path


def scored(capsys: Capture, *asked: str) -> dict[str, object]:
    assert main([*SCORE, *asked, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("task", "n", "paper", "own", "unparsed"),
    [(1, 1000, 690, 685, 118), (2, 999, 375, 375, 180), (3, 999, 269, 269, 68), (4, 999, 456, 495, 68),
     (5, 999, 696, 749, 35)],
)  # fmt: skip
def test_published_counts(task: int, n: int, paper: int, own: int, unparsed: int, capsys: Capture) -> None:
    """The published metric's counts, and ours; each reply on which the two differ was looked at."""
    file = predictions() / f"phi-3-mini-128k_qa{task}_4k.csv"
    found = scored(capsys, str(file), "--task", f"qa{task}")
    assert found == {
        "file": str(file), "task": f"qa{task}", "n": n, "paper": paper, "own": own, "unparsed": unparsed
    }  # fmt: skip
    assert scored(capsys, str(file)) == found  # the name tells the task


def test_numbers(tmp_path: Path, capsys: Capture) -> None:
    path = table(tmp_path / "model_qa1_0k.csv", ROWS)
    assert scored(capsys, str(path)) == {
        "file": str(path), "task": "qa1", "n": 4, "paper": 1, "own": 2, "unparsed": 2,
    }  # fmt: skip
    assert main([*SCORE, str(path)]) == 0
    shown = capsys.readouterr().out
    assert "25.0%" in shown
    assert "50.0%" in shown
    assert "2 of the 4 replies" in shown


def test_jsonl_says_the_same(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "qa1.jsonl"
    rows = [{"target": target, "output": output or None, "question": question} for target, output, question in ROWS]
    path.write_text("".join(json.dumps(row) + "\n\n" for row in rows), "utf-8")
    found = scored(capsys, str(path))
    assert (found["n"], found["paper"], found["own"], found["unparsed"]) == (4, 1, 2, 2)


def test_things_in_any_order(tmp_path: Path, capsys: Capture) -> None:
    path = table(tmp_path / "x.csv", [("apple,milk", "the milk and an apple", "What is Mary carrying? ")])
    found = scored(capsys, str(path), "--task", "8")
    assert (found["paper"], found["own"]) == (1, 1)


def test_what_pandas_takes_for_empty(tmp_path: Path, capsys: Capture) -> None:
    """The published metric was given an empty reply, in which `None` holds no `no`; as a reply it may be an answer."""
    ask = "Is Mary in the garden? "
    path = table(tmp_path / "qa6.csv", [("no", "None", ask), ("no", "nan", ask), ("no", "no", ask)])
    assert scored(capsys, str(path))["paper"] == 1
    path = table(tmp_path / "qa7.csv", [("none", "None", "How many objects is Mary carrying? ")])
    assert scored(capsys, str(path))["own"] == 1
    path = tmp_path / "qa6.jsonl"
    path.write_text(json.dumps({"target": "no", "output": "None", "question": ask}), "utf-8")
    assert scored(capsys, str(path))["paper"] == 1


def test_targets_in_any_case(tmp_path: Path, capsys: Capture) -> None:
    rows = [("Garden", "garden", "Where is Mary?"), ("GARDEN ", "the Garden", "Where is Mary?")]
    found = scored(capsys, str(table(tmp_path / "qa1.csv", rows)))
    assert (found["paper"], found["own"]) == (2, 2)


def test_cells_may_be_long(tmp_path: Path, capsys: Capture) -> None:
    limit = csv.field_size_limit()
    path = table(tmp_path / "qa1.csv", [("garden", "so " * 200_000 + "the answer is the garden", "Where is Mary? ")])
    assert scored(capsys, str(path))["own"] == 1
    assert csv.field_size_limit() == limit


def test_a_byte_order_mark_and_line_ends_of_windows(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "qa1.csv"
    path.write_bytes(b'\xef\xbb\xbftarget,output,question\r\ngarden,"garden\r\n\r\nyes",Where is Mary? \r\n')
    assert scored(capsys, str(path))["own"] == 1


WRONG: dict[str, tuple[str, str | bytes | None, list[str], str]] = {
    "no file": ("qa1.csv", None, [], "there is no file"),
    "an empty file": ("qa1.csv", "", [], "no predictions"),
    "no such column": ("qa1.csv", "target,reply,question\ngarden,garden,Where?\n", [], "no column 'output'"),
    "too few fields": ("qa1.csv", HEAD + "0,garden,garden\n", [], "qa1.csv:2: the row has 3 fields"),
    "a broken quote": ("qa1.csv", HEAD + '0,garden,"gar"den,x\n', [], "qa1.csv:2"),
    "no text": ("qa1.csv", b"\xff\xfe\x00garden", [], "not UTF-8"),
    "no name of a task": ("x.csv", HEAD, [], "--task qa1"),
    "an unknown task": ("x.csv", HEAD, ["--task", "qa21"], "qa1 to qa20"),
    "another task": ("qa1.csv", HEAD + "0,yes,yes,Is Mary in the garden?\n", [], "is no question of qa1: mend the row"),
    "a question of no task": ("qa1.csv", HEAD + "0,garden,garden,What is the capital of France?\n", [], "qa1.csv:2"),
    "an answer to nothing": ("qa1.csv", HEAD + "0,park,park,Where is Mary?\n", [], "'park' is no answer to qa1's"),
    "a list": ("qa1.json", '[{"target": "garden", "output": "x", "question": "x"}]', [], "qa1.json:1: a list, and no"),
    "no JSON": ("qa1.jsonl", "{", [], "qa1.jsonl:1: not a line of JSON"),
    "no question": ("qa1.jsonl", '{"target": "garden", "output": "garden"}\n', [], "'question' is none"),
    "a deep line": ("qa1.jsonl", "[" * 100_000, [], "qa1.jsonl:1"),
    "a file to write to": ("qa1.csv", HEAD, ["--out", "x"], "--out"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_files_are_one_sentence(wrong: str, tmp_path: Path, capsys: Capture) -> None:
    name, content, more, said = WRONG[wrong]
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main([*SCORE, str(path), *more]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("carrara: ")
    assert captured.err.count("\n") == 1
    assert said in captured.err


@pytest.mark.parametrize("option", [["--task", "qa1"], ["--json"]])
def test_options_of_published_predictions_alone(option: list[str], tmp_path: Path, capsys: Capture) -> None:
    assert main(["score", str(table(tmp_path / "qa1.csv", ROWS)), *option]) == 2
    assert "--published" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("task", "reply", "target", "question", "counts"),
    [
        (7, "none", "none", "How many objects is Mary carrying?", False),  # `none` holds `one`
        (7, "one", "one", "How many objects is Mary carrying?", True),
        (6, "I do not know", "no", "Is Mary in the garden?", True),  # `no` is in `not` and `know`
        (6, "Yes, Mary is not in the kitchen", "yes", "Is Mary in the garden?", False),
        (8, "milk, apple", "apple,milk", "What is Mary carrying?", True),
        (8, "apple", "apple,milk", "What is Mary carrying?", False),
        (8, "apple,milk,football", "apple,milk", "What is Mary carrying?", False),
        (19, "s, w", "s,w", "How do you go from the garden to the office?", False),
        (19, "s,w", "s,w", "How do you go from the garden to the office?", True),
        (1, "1. garden", "garden", "Where is Mary?", False),
        (1, "Let me see. The answer is garden", "garden", "Where is Mary?", False),
        (1, "garden or kitchen", "garden", "Where is Mary?", False),
        (3, "Before the kitchen it was in the garden", "garden", "Where was the apple before the kitchen? ", True),
        (15, "mice", "mouse", "What is emily afraid of?", False),
        (15, "cats", "cat", "What is emily afraid of?", True),
        (5, "Fred gave it", "Fred", "Who gave the milk?", True),
    ],
)
def test_its_faults(task: int, reply: str, target: str, question: str, counts: bool) -> None:
    assert load_task(task).paper_scores(reply, Question(question, target, (), 0.0)) == {"paper": counts}


PLACES = frozenset({"bathroom", "bedroom", "garden", "hallway", "kitchen", "office"})
LABELS = {
    **dict.fromkeys((1, 2, 3, 4, 11, 12, 13), PLACES),
    **dict.fromkeys((6, 9, 17, 18), frozenset({"yes", "no"})),
    5: frozenset({"bill", "fred", "jeff", "mary", "apple", "football", "milk"}),
    7: frozenset({"none", "one", "two", "three"}),
    8: frozenset({"apple", "football", "milk", "nothing"}),
    10: frozenset({"yes", "no", "maybe"}),
    14: frozenset({"bedroom", "cinema", "kitchen", "office", "park", "school"}),
    15: frozenset({"cat", "mouse", "sheep", "wolf"}),
    16: frozenset({"gray", "green", "white", "yellow"}),
    19: frozenset(f"{a},{b}" for a in "nsew" for b in "nsew" if {a, b} not in ({"n", "s"}, {"e", "w"})),
    20: frozenset({"bedroom", "garden", "kitchen", "bored", "hungry", "thirsty", "tired"}),
}
"""Those that the published metric looks for."""


@pytest.mark.parametrize("task", LABELS)
def test_the_official_words_make_the_published_labels(task: int) -> None:
    assert load_task(task).official_labels == LABELS[task]
