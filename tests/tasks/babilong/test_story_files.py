"""The audit of official bAbI files: what agrees, what the text leaves open, and files that are not in the format."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara.cli.main import main
from carrara.tasks.babilong._story_files import stories_name
from carrara.tasks.published_rows import remembered_path
from carrara.tasks.table_files import file_hash
from carrara.util.errors import UsageError
from tests.helpers import published

Capture = pytest.CaptureFixture[str]
STORY = """\
1 Mary moved to the bathroom.
2 John went to the hallway.
3 Where is Mary? \tbathroom\t1
4 Mary went to the garden.
5 Where is Mary? \tgarden\t4
1 John went to the office.
2 Where is John? \toffice\t1
"""


def write(folder: Path, text: str, name: str = "qa1_single-supporting-fact_test.txt") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_what_agrees(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path, STORY)
    write(tmp_path, "1 Mary got the milk.\n2 Where is the milk?\tgarden\t1\n", "qa2_two_train.txt")
    write(tmp_path, "no story", "readme.txt")
    assert main(["audit", "--babi", str(tmp_path), "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["file"], first["task"], first["questions"]) == ("qa1_single-supporting-fact_test.txt", 1, 3)
    assert (first["answers"], first["undecided"], first["supports"], first["in_order"]) == (3, 0, 3, 3)
    assert (second["task"], second["answers"], second["undecided"], second["wrong"]) == (2, 0, 1, [])


def test_an_answer_that_disagrees_fails(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path, STORY.replace("\tgarden\t4", "\toffice\t1"))
    assert main(["audit", "--babi", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert "story 1: Where is Mary? The file says 'office', its text 'garden'" in captured.err
    [row] = [line.split() for line in captured.out.splitlines() if line.startswith("qa1")]
    assert row[1:] == ["qa1", "3", "2", "0", "0", "2", "2", "2"]


def test_supports_agree_as_sets_and_in_order(tmp_path: Path, capsys: Capture) -> None:
    text = "1 Mary went to the garden.\n2 Mary dropped the milk.\n3 Where is the milk?\tgarden\t{}\n"
    write(tmp_path, text.format("2 1") + text.format("1 2") + text.format("1"), "qa2_two_test.txt")
    assert main(["audit", "--babi", str(tmp_path), "--json"]) == 0
    [found] = json.loads(capsys.readouterr().out)
    assert (found["answers"], found["supports"], found["in_order"]) == (3, 2, 1)


def test_what_is_not_understood_fails(tmp_path: Path, capsys: Capture) -> None:
    strange = STORY.replace("2 John went to the hallway.", "2 Blargh the wug.").replace(
        "Where is John?", "Foo bar baz?"
    )
    strange += "1 Wolves are afraid of cats.\n2 What is wolf afraid of?\tcat\t1\n"
    path = write(tmp_path, strange)
    assert main(["audit", "--babi", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert [line.split(": ")[1] for line in captured.err.splitlines()] == [f"{path}:{line}" for line in (2, 7, 9)]
    [row] = [line.split() for line in captured.out.splitlines() if line.startswith("qa1")]
    assert row[1:6] == ["qa1", "4", "2", "0", "3"]
    assert main(["audit", "--babi", str(tmp_path), "--json"]) == 1
    [found] = json.loads(capsys.readouterr().out)
    assert len(found["not_understood"]) == 3


BROKEN = {
    "an ID that is left out": ("1 Mary went to the garden.\n3 John went to the office.\n", ":2:"),
    "no ID": ("Mary went to the garden.\n", ":1:"),
    "a blank line": ("1 Mary went to the garden.\n\n2 Mary went to the office.\n", ":2:"),
    "a question without support": ("1 Mary went to the garden.\n2 Where is Mary?\tgarden\n", ":2:"),
    "support by what comes later": ("1 Where is Mary?\tgarden\t2\n2 Mary went to the garden.\n", ":1:"),
    "support by a question": (
        "1 Mary went to the garden.\n2 Where is Mary?\tgarden\t1\n3 Where is Mary?\tx\t2\n",
        ":3:",
    ),
    "an empty file": ("", "empty"),
    "a file without questions": ("1 Mary went to the garden.\n", "no questions"),
    "no text": ("\xff", "UTF-8"),
}


@pytest.mark.parametrize("wrong", BROKEN)
def test_a_file_that_is_not_in_the_format(wrong: str, tmp_path: Path, capsys: Capture) -> None:
    text, said = BROKEN[wrong]
    path = tmp_path / "qa1_x_test.txt"
    path.write_bytes(text.encode("latin-1"))
    assert main(["audit", "--babi", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"carrara: {path}")
    assert captured.err.count("\n") == 1
    assert said in captured.err


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["audit"], "--babi"),
        (["audit", "latent_list", "--babi", "."], "leave TASKS out"),
        (["audit", "-n", "3", "--lengths", "4k", "--babi", "."], "leave --lengths and -n out"),
        (["audit", "--babi", "."], "no bAbI files"),
    ],
)
def test_wrong_use(
    asked: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, STORY, "qa21_more_test.txt")
    assert main(asked) == 2
    assert said in capsys.readouterr().err


def test_the_official_files(capsys: Capture) -> None:
    assert main(["audit", "--babi", str(published.official()), "--json"]) == 0
    found = {row["task"]: row for row in json.loads(capsys.readouterr().out)}
    assert sorted(found) == list(range(1, 21))
    for task, row in found.items():
        decided = 999 if task == 5 else 1000
        supports = 902 if task == 18 else decided
        assert (row["questions"], row["answers"], row["undecided"]) == (1000, decided, 1000 - decided)
        assert (row["supports"], row["in_order"]) == (supports, supports)
        assert row["not_understood"] == []
        assert row["suffice"] == (214 if task == 3 else decided)  # of a thing on its way more is told


# --- as instances, in the place of simulated ones ---

OTHER = """\
1 Sandra moved to the kitchen.
2 Where is Sandra?\tkitchen\t1
3 Sandra went to the garden.
4 Where is Sandra?\tgarden\t3
"""


def test_official_stories_are_hidden_in_any_text(tmp_path: Path) -> None:
    write(tmp_path, STORY)
    write(tmp_path, OTHER, "qa1_single-supporting-fact_train.txt")
    task = carrara.load("qa1", stories=str(tmp_path))
    found = [task.item("300", index=index, tokenizer="gpt2") for index in range(3)]
    assert all(item.prompt.tokens == 300 for item in found)
    asked = [(item.question.ask, item.gold.rpartition(" ")[2]) for item in found]
    assert sorted(asked) == [("Where is John?", "office"), ("Where is Mary?", "bathroom"), ("Where is Mary?", "garden")]
    [garden] = [item for item in found if item.gold.endswith("garden")]
    assert "Mary moved to the bathroom." in garden.text
    assert "Mary went to the garden." in garden.text
    assert {task.item(0, index=n, split="train").gold.rpartition(" ")[2] for n in range(2)} == {"kitchen", "garden"}
    orders = {tuple(task.item(0, index=n, seed=seed).question.ask for n in range(3)) for seed in range(8)}
    assert len(orders) > 1
    assert carrara.item(found[0].id).text == found[0].text
    assert carrara.audit(task, lengths="0,300", n=3, tokenizer="gpt2").breaches == []


def test_files_are_remembered_once(tmp_path: Path) -> None:
    """Writing to the disk cache takes milliseconds, more than an item of 4k tokens."""
    write(tmp_path, STORY)
    remembered = remembered_path(stories_name(str(tmp_path)))
    written = remembered.stat()
    stories_name(str(tmp_path))
    assert remembered.stat().st_ino == written.st_ino
    moved = tmp_path.rename(tmp_path.with_name("moved"))
    assert remembered_path(stories_name(str(moved))) == remembered
    assert remembered.stat().st_ino != written.st_ino


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"index": 3}, "3 questions"),
        ({"split": "train"}, "no qa1_…_train.txt"),
    ],
)
def test_what_files_do_not_have_is_told(asked: dict[str, Any], message: str, tmp_path: Path) -> None:
    write(tmp_path, STORY)
    with pytest.raises(UsageError, match=re.escape(message)):
        carrara.load("qa1", stories=str(tmp_path)).item(0, **asked)
    with pytest.raises(UsageError, match="vocab and sound"):
        carrara.load("qa1", stories=str(tmp_path), sound=True)
    with pytest.raises(UsageError, match="there is no folder nowhere"):
        carrara.load("qa1", stories="nowhere").item(0)


def test_a_file_that_changed_is_told(tmp_path: Path) -> None:
    write(tmp_path, STORY)
    path = write(tmp_path, OTHER.replace("Sandra", "Daniel"), "qa1_single-supporting-fact_train.txt")
    item = carrara.load("qa1", stories=str(tmp_path)).item(0)
    path.write_text(OTHER, "utf-8")
    file_hash.cache_clear()  # as another process would see it
    with pytest.raises(UsageError, match="is gone or has changed"):
        carrara.item(item.id.replace("test-", "train-"))
