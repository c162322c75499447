"""Submissions to a leaderboard: replies are graded again and held to the asked items; models are kept apart."""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara.cli.main import main
from carrara.items.item import Item, item_of, make
from carrara.items.item_id import ItemId
from carrara.results.result import ItemSource
from carrara.results.scores import stat
from carrara.runs import asked_items
from carrara.runs.asked_items import read_items
from carrara.runs.replies import read_replies
from carrara.runs.rescoring import submission
from carrara.runs.rescoring.scored import Scorer, ScorerConfig
from carrara.runs.rescoring.submission import Submission, read_submission
from carrara.util.errors import LengthError
from carrara.util.files import Limit
from tests.helpers.inspect_warnings import LEFT_OPEN

Capture = pytest.CaptureFixture[str]
Row = dict[str, Any]
N = 6


@pytest.fixture(scope="module")
def items() -> list[Item]:
    """Items of three tasks, one of which sizes itself and one of which asks several questions on each instance."""
    return [
        made.context.item(question)
        for task in ("babilong/qa1", "minerva/membership", "sync/graph")
        for length in (0, 1024)
        for index in range(N)
        for made in [make(task, length=length, index=index, tokenizer="gpt2")]
        for question in range(len(made.context.questions))
    ]


def right(items: Sequence[Item], model: str = "lab/right", **more: Any) -> list[Row]:
    return [{"id": item.id, "reply": item.gold, "model": model, **more} for item in items]


def written(path: Path, rows: Iterable[Row]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def asked(items: Sequence[Item]) -> list[ItemId]:
    return [item.item_id for item in items]


def only(found: Sequence[Submission]) -> Submission:
    [one] = found
    return one


def source(path: Path, items: Sequence[Item] | None = None) -> ItemSource:
    return only(read_submission(path, None if items is None else asked(items))).source


def test_replies_are_graded_here(items: list[Item], tmp_path: Path) -> None:
    """Scores that a file states do not count."""
    rows = [row | {"score": 1.0, "reply": row["reply"] if i % 2 else "FINAL ANSWER: x"}
            for i, row in enumerate(right(items))]  # fmt: skip
    found = only(read_submission(written(tmp_path / "a.jsonl", rows), asked(items)))
    assert stat(found.results).mean == 0.5
    assert (found.source.replies, found.source.graded, found.source.asked) == (len(items),) * 3
    assert (found.source.fault, found.source.remarks) == ("", "")


def test_models_of_one_file_are_kept_apart(items: list[Item], tmp_path: Path) -> None:
    """What a model does not reply to, or fails to, counts as wrong."""
    picked = right(items[::2], "lab/picker")
    picked[0] |= {"status": "error", "reply": ""}
    rows = [*right(items), *picked]
    found = {one.source.models: one for one in read_submission(written(tmp_path / "a.jsonl", rows), asked(items))}
    assert found["lab/right"].source.remarks == ""
    assert found["lab/picker"].source.lacking == len(items) // 2 + 1
    assert stat(found["lab/picker"].results).mean == pytest.approx(0.5 - 1 / len(items))
    assert stat(found["lab/picker"].results).chance_level == stat(found["lab/right"].results).chance_level


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that is right now and then."""
    out = tmp_path_factory.mktemp("sent") / "run"

    def guess(prompt: str) -> str:
        return "FINAL ANSWER: kitchen"

    carrara.run("qa1", guess, out=out, lengths="0,1k", n=15, tokenizer="gpt2")
    return out


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_a_folder_is_graded_here(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores, tasks, lengths and right answers that a log states do not count."""
    results = carrara.read(run_folder)
    honest = only(read_submission(run_folder))
    assert (honest.source.graded, honest.source.asked, honest.source.lacking) == (30, 30, 0)
    assert [(one.id, one.score, one.status, one.length) for one in honest.results] == [
        (one.id, one.score, one.status, one.length) for one in results
    ]
    replies = read_replies(run_folder)
    changes: Row = {"score": 1.0, "status": "refused", "length": 131072, "task": "babilong/qa3", "chance_level": 0.0}
    changed = [replace(one, result=replace(one.result, **changes, scores={"paper": 1.0})) for one in replies]
    monkeypatch.setattr(submission, "read_replies", lambda _: changed)
    again = only(read_submission(run_folder))
    assert [vars(one) | {"gold": ""} for one in again.results] == [vars(one) | {"gold": ""} for one in honest.results]


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_what_a_folder_lacks_of_its_plan_counts_as_wrong(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = stat(only(read_submission(run_folder)).results).mean
    right_alone = [one for one in read_replies(run_folder) if one.result.score]
    monkeypatch.setattr(submission, "read_replies", lambda _: right_alone)
    found = only(read_submission(run_folder))
    assert found.source.lacking == 30 - len(right_alone)
    assert stat(found.results).mean == pytest.approx(honest)
    monkeypatch.setattr("carrara.runs.manifest.read", lambda _: [])
    assert stat(only(read_submission(run_folder)).results).mean == 1


def test_other_items_do_not_count(items: list[Item], tmp_path: Path) -> None:
    other = [make("babilong/qa1", index=index, seed=5, tokenizer="gpt2") for index in range(4)]
    rows = [*right(other), *right(items[:N])]
    found = only(read_submission(written(tmp_path / "a.jsonl", rows), asked(items[:N])))
    assert {result.id for result in found.results} == {item.id for item in items[:N]}
    path = written(tmp_path / "b.jsonl", right(other))
    assert source(path, items).fault == "none of its 4 replies is to an item that was asked"


def test_a_model_may_count_with_its_own_tokenizer(items: list[Item], tmp_path: Path) -> None:
    """And answers each item once: the first of two replies counts."""
    mine = [item_of(one.id.replace("/gpt2", "/o200k")) for one in items]
    wrong = right(items)
    found = only(read_submission(written(tmp_path / "a.jsonl", right(mine)), asked(items)))
    assert (found.source.lacking, stat(found.results).mean) == (0, 1)
    for first, second in ((wrong, right(mine)), (right(mine), wrong)):
        twice = [*({**row, "reply": ""} for row in first), *second]
        found = only(read_submission(written(tmp_path / "b.jsonl", twice), asked(items)))
        assert (len(found.results), stat(found.results).mean) == (len(items), 0)


HOSTILE: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "it has no replies"),
    "binary": (b"\x00\xff\xfe" * 1000, "it has no replies (line 1: not UTF-8"),
    "deep": (b'{"id": ' + b"[" * 100_000, "it has no replies (line 1: not a line of JSON"),
    "deep replies": (b'{"id": "x", "reply": ' + b"[" * 900 + b"]" * 900 + b"}", "none of its 1 reply can be graded"),
    "a number of many digits": (b'{"id": ' + b"9" * 10_000 + b"}", "it has no replies"),
    "an id that is none": (b'{"id": "x", "reply": "y"}', "none of its 1 reply can be graded (line 1: 'x' is not"),
    "a model that is none": (b'{"id": "x", "reply": "y", "model": "a\\nb"}', "it has no replies (line 1: a line has"),
    "a task that is not here": (
        b'{"id": "acme/secret@1/test-0-0.0/0/chat/gpt2", "reply": "y"}',
        "none of its 1 reply can be graded (line 1: ",
    ),
    "an older version": (
        b'{"id": "babilong/qa1@1/test-0-0.0/0/chat/gpt2", "reply": "y"}',
        "an id of version 1 of babilong/qa1",
    ),
    "a file in a parameter": (
        b'{"id": "babilong/qa1@5;haystack=/etc/passwd/test-0-0.0/0/chat/gpt2", "reply": "y"}',
        "none of its 1 reply can be graded",
    ),
    "an endless length": (
        b'{"id": "michelangelo/latent_list@1/test-0-0.0/1073741824/chat/gpt2", "reply": "y"}',
        "none of its 1 reply can be graded",
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_refused_in_one_sentence(what: str, tmp_path: Path) -> None:
    data, reason = HOSTILE[what]
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    found = source(path)
    assert reason in found.fault
    assert "\n" not in found.fault
    assert len(found.fault) < 1000


def test_hostile_lines_take_nothing_from_others(items: list[Item], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("carrara.runs.rescoring.lines.LONGEST", 1 << 16)
    path = written(tmp_path / "a.jsonl", right(items))
    bad = [b"x" * (1 << 17), *(data for data, _ in HOSTILE.values() if b"\n" not in data)]
    path.write_bytes(path.read_bytes() + b"\n".join(bad))
    found = {one.source.models: one for one in read_submission(path, asked(items))}
    assert (found["lab/right"].source.lacking, stat(found["lab/right"].results).mean) == (0, 1)
    assert "lines of the file cannot be read (line " in found["lab/right"].source.remarks


def test_of_two_lines_the_first_counts(items: list[Item], tmp_path: Path) -> None:
    rows = [*({**row, "reply": ""} for row in right(items[:N])), *right(items[:N])]
    found = only(read_submission(written(tmp_path / "a.jsonl", rows), asked(items[:N])))
    assert stat(found.results).mean == 0
    assert "6 replies could not be graded (line 7: babilong/qa1@5" in found.source.remarks


@pytest.mark.parametrize("tokenizer", ["hf:acme/private", "server:http://127.0.0.1:9", "gguf:/etc/passwd"])
def test_nothing_is_opened_for_a_strangers_tokenizer(tokenizer: str, items: list[Item], tmp_path: Path) -> None:
    """Replies that need no tokenizer are graded; those to items that are made by it count as none."""
    rows = [row | {"id": row["id"].replace("/gpt2", f"/{tokenizer}")} for row in right(items)]
    found = only(read_submission(written(tmp_path / "a.jsonl", rows), asked(items)))
    sized = [item for item in items if item.task.is_sized and item.item_id.length]
    assert len(sized) == N
    assert found.source.fault == ""
    assert f"pass --allow {tokenizer}" in found.source.remarks.replace("`", "")
    assert found.source.lacking == N
    assert stat(found.results).mean == pytest.approx(1 - N / len(items))


def test_too_many_models_are_refused(items: list[Item], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission, "MODELS", 3)
    rows = [right(items[:1], f"lab/{n}")[0] for n in range(4)]
    assert source(written(tmp_path / "a.jsonl", rows)).fault == "it names more than 3 models"


def test_a_line_without_a_model_is_of_the_model_that_the_file_names(items: list[Item], tmp_path: Path) -> None:
    rows = [row | {"model": None} if number % 2 else {"id": row["id"], "reply": row["reply"]}
            for number, row in enumerate(right(items[:N]))]  # fmt: skip
    found = source(written(tmp_path / "acme.jsonl", rows))
    assert (found.models, found.replies, found.lacking) == ("acme", N, 0)


def test_a_pipe_a_folder_and_a_large_file_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    assert "it is a FIFO" in source(tmp_path / "a.jsonl").fault
    assert "cannot be read" in source(tmp_path / "nowhere.jsonl").fault
    monkeypatch.setattr(submission, "FILE", Limit(3, "send less"))
    assert "send less" in source(written(tmp_path / "b.jsonl", [{}, {}])).fault


def test_an_item_that_cannot_be_made_is_not_missing(items: list[Item], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its instance is too long for its length, as it is for everybody."""

    def never(item_id: ItemId) -> None:
        if item_id.index == 2:
            raise LengthError("it is too long")

    monkeypatch.setattr(asked_items, "context_of", never)
    scorer = Scorer(ScorerConfig("m"))
    results = [scorer.reply(item.id, item.gold, "ok") for item in items[:N] if item.item_id.index not in (1, 2)]
    found = asked_items.match_results(results, asked(items[:N]))
    assert [ItemId.parse(one.id).index for one in found.results] == [0, 1, 3, 4, 5]
    assert found.missing == 1


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("nowhere.jsonl", None, "there is no file or directory nowhere.jsonl"),
        ("a.jsonl.gz", b"x", "does not end with .jsonl"),
        *(
            ("items.jsonl", content, "is not a file of item ids")
            for content in (b"", b"x", b'{"id": 3}', b'{"id": "x"}', b"[1]", b"\xff")
        ),
    ],
)
def test_what_is_no_submission_or_no_list_of_items_is_an_error_of_the_caller(
    name: str, content: bytes | None, says: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(name).write_bytes(content)
    assert main(["leaderboard", *([".", "--items", name] if name == "items.jsonl" else [name])]) == 2
    assert says in capsys.readouterr().err


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_folders_and_files_stand_on_one_page(
    items: list[Item], run_folder: Path, tmp_path: Path, capsys: Capture
) -> None:
    """Files of one name are told apart by their folders."""
    qa1 = [item for item in items if item.item_id.task == "babilong/qa1"]
    ids = written(tmp_path / "items.jsonl", ({"id": item.id} for item in qa1))
    assert len(read_items(ids)) == len(qa1)
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
    one = written(tmp_path / "x" / "a.jsonl", right(qa1, "function/guess"))
    other, page = written(tmp_path / "y" / "a.jsonl", right(qa1[::2], "lab/<b>picker</b>")), tmp_path / "board.html"
    given = ["leaderboard", str(run_folder), str(one), str(other), "--items", str(ids)]
    assert main([*given, "--out", str(page)]) == 0
    out, err = capsys.readouterr()
    assert "6 of 12" in out
    assert "y/a.jsonl: lab/<b>picker</b>: 6 items without a reply" in err
    html = page.read_text("utf-8")
    assert "&lt;b&gt;picker&lt;/b&gt;" in html
    assert "<b>picker" not in html
    assert "6 of 12" in html
    assert main([*given, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    lines = {line["model"] + line.get("variant", ""): line for line in found["leaderboard"]}
    assert {line["items"] for line in found["leaderboard"]} == {12}
    assert lines["lab/<b>picker</b>"]["replies"] == 6
    assert [source["asked"] for source in found["folders"]] == [12, 12, 12]
    assert sum("function/guess" in name for name in lines) == 2  # a stranger's model does not replace a run's
