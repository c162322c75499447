"""Files of replies from strangers: models are verified, held to the asked items, and told apart; or refused."""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara.cli.main import main
from carrara.items.item import Item, make, weight
from carrara.items.item_id import ItemId
from carrara.results.result import ItemSource
from carrara.results.scores import stat
from carrara.runs import asked_items
from carrara.runs.asked_items import implied_items, read_items
from carrara.runs.rescoring import submission
from carrara.runs.rescoring.scored import Scorer, ScorerConfig
from carrara.runs.rescoring.submission import verify_file
from carrara.runs.verify_submission import Submission
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
    return only(verify_file(path, 24, None if items is None else asked(items))).source


def test_a_file_with_hashes_is_verified(items: list[Item], tmp_path: Path) -> None:
    rows = [row | {"sha256": item.survey.sha256} for row, item in zip(right(items), items, strict=True)]
    found = only(verify_file(written(tmp_path / "a.jsonl", rows), 24, asked(items)))
    assert found.source.verdict == "verified"
    assert found.source.prompts == "24 of 24 the same"
    assert found.source.scores == f"{len(items)} graded here"
    assert (found.source.asked, found.source.lacking, found.source.replies) == (len(items), 0, len(items))
    assert stat(found.results).mean == 1
    rows[3]["sha256"] = "0" * 64
    assert "1 of 60 prompts are not what their ids say" in (
        only(verify_file(written(tmp_path / "b.jsonl", rows), 1000, asked(items))).source.verdict
    )


def test_what_carrara_score_writes_is_verified(items: list[Item], tmp_path: Path) -> None:
    """With statuses of all kinds; its own claims are right, and a changed one refuses the model."""
    said = ["I cannot help with that.", "", "FINAL ANSWER: x"]
    rows = [row if i % 2 else row | {"reply": said[i % 3]} for i, row in enumerate(right(items))]
    rows[7]["status"] = "truncated"
    scored = tmp_path / "scored.jsonl"
    assert main(["score", str(written(tmp_path / "a.jsonl", rows)), "--with-replies", "--out", str(scored)]) == 0
    found = only(verify_file(scored, 24, asked(items)))
    assert found.source.scores == f"{len(items)} graded here; stated: {len(items)} of {len(items)} the same"
    assert found.source.verdict == "partly verified: no prompt was rendered again"
    lines = [json.loads(line) for line in scored.read_text("utf-8").splitlines()]
    assert [result.score for result in found.results] == [line["score"] for line in lines]
    forged = lines[0] | {"score": 1 - lines[0]["score"]}
    verdict = source(written(tmp_path / "b.jsonl", [forged, *lines[1:]]), items).verdict
    assert verdict == "refused: 1 of 60 scores are not what their replies come to"


@pytest.mark.parametrize(
    "claim",
    [
        {"score": 0.0}, {"score": "1"}, {"score": True}, {"score": None}, {"score": 10**400}, {"score": [1]},
        {"score": float("nan")}, {"scores": {"paper": 0.2}}, {"scores": {"other": 1.0}}, {"scores": "1"},
        {"task": "babilong/qa2"}, {"task": ["babilong/qa1"]},
    ],
    ids=str,
)  # fmt: skip
def test_a_false_claim_refuses_the_model(claim: Row, items: list[Item], tmp_path: Path) -> None:
    rows = [row | (claim if not i else {}) for i, row in enumerate(right(items[:N]))]
    assert "scores are not what their replies come to" in source(written(tmp_path / "a.jsonl", rows)).fault


def test_models_of_one_file_are_submissions_of_their_own(items: list[Item], tmp_path: Path) -> None:
    rows = [*right(items), *right(items, "lab/liar", score=0.5), *right(items[::2], "lab/picker")]
    found = {one.source.models: one for one in verify_file(written(tmp_path / "a.jsonl", rows), 24, asked(items))}
    assert found["lab/right"].source.fault == ""
    assert found["lab/liar"].source.fault == "60 of 60 scores are not what their replies come to"
    assert found["lab/picker"].source.doubt.startswith("30 of 60 items have no reply, and count as wrong")
    assert stat(found["lab/picker"].results).mean == 0.5
    assert stat(found["lab/picker"].results).chance_level == stat(found["lab/right"].results).chance_level


def test_picked_items_count_as_picked(items: list[Item], tmp_path: Path) -> None:
    """Without a list of the asked items, those before the last one and all of their questions are asked."""
    picked = [item for item in items if item.item_id.index in (0, 2, N - 1) and not item.item_id.question % 2]
    found = only(verify_file(written(tmp_path / "a.jsonl", right(picked)), 24))
    assert {result.id for result in found.results} == {item.id for item in items}
    assert found.source.lacking == len(items) - len(picked)
    assert stat(found.results).mean == pytest.approx(len(picked) / len(items))
    assert found.source.verdict.endswith("it is not known which items were asked")


def test_a_failed_request_counts_as_wrong(items: list[Item], tmp_path: Path) -> None:
    rows = right(items)
    rows[0] |= {"status": "error", "reply": ""}
    assert source(written(tmp_path / "a.jsonl", rows), items).lacking == 1


def test_other_items_do_not_count(items: list[Item], tmp_path: Path) -> None:
    other = [make("babilong/qa1", index=index, seed=5, tokenizer="gpt2") for index in range(4)]
    rows = [*right(other), *right(items[:N])]
    found = only(verify_file(written(tmp_path / "a.jsonl", rows), 24, asked(items[:N])))
    assert {result.id for result in found.results} == {item.id for item in items[:N]}
    path = written(tmp_path / "b.jsonl", right(other))
    assert source(path, items).verdict == "refused: none of its 4 replies is to an item that was asked"


def test_a_model_may_count_with_its_own_tokenizer(items: list[Item], tmp_path: Path) -> None:
    """And answers each item once: the first of two replies counts."""
    mine = [make(one.item_id.task, length=one.item_id.length, index=one.item_id.index,
                 question=one.item_id.question, tokenizer="o200k") for one in items]  # fmt: skip
    wrong = right(items)
    found = only(verify_file(written(tmp_path / "a.jsonl", right(mine)), 24, asked(items)))
    assert (found.source.lacking, stat(found.results).mean) == (0, 1)
    for first, second in ((wrong, right(mine)), (right(mine), wrong)):
        twice = [*({**row, "reply": ""} for row in first), *second]
        found = only(verify_file(written(tmp_path / "b.jsonl", twice), 24, asked(items)))
        assert (len(found.results), stat(found.results).mean) == (len(items), 0)


HOSTILE: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "it has no replies"),
    "binary": (b"\x00\xff\xfe" * 1000, "it has no replies (line 1: not UTF-8"),
    "deep": (b'{"id": ' + b"[" * 100_000, "it has no replies (line 1: not a line of JSON"),
    "deep replies": (b'{"id": "x", "reply": ' + b"[" * 900 + b"]" * 900 + b"}", "none of its 1 line can be scored"),
    "a number of many digits": (b'{"id": ' + b"9" * 10_000 + b"}", "it has no replies"),
    "an id that is none": (b'{"id": "x", "reply": "y"}', "none of its 1 line can be scored (line 1: 'x' is not"),
    "a model that is none": (b'{"id": "x", "reply": "y", "model": "a\\nb"}', "it has no replies (line 1: a line has"),
    "a task that is not here": (
        b'{"id": "acme/secret@1/test-0-0.0/0/chat/gpt2", "reply": "y"}',
        "none of its 1 line can be scored (line 1: ",
    ),
    "an older version": (
        b'{"id": "babilong/qa1@1/test-0-0.0/0/chat/gpt2", "reply": "y"}',
        "an id of version 1 of babilong/qa1",
    ),
    "a file in a parameter": (
        b'{"id": "babilong/qa1@5;haystack=/etc/passwd/test-0-0.0/0/chat/gpt2", "reply": "y"}',
        "none of its 1 line can be scored",
    ),
    "an endless length": (
        b'{"id": "michelangelo/latent_list@1/test-0-0.0/1073741824/chat/gpt2", "reply": "y"}',
        "none of its 1 line can be scored",
    ),
    "indices far apart": (
        b'{"id": "babilong/qa1@5/test-0-999999.0/0/chat/gpt2", "reply": "kitchen"}',
        "it names items of babilong/qa1 so far apart that more than 200,000 lie between",
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_refused_in_one_sentence(what: str, tmp_path: Path) -> None:
    data, reason = HOSTILE[what]
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    found = source(path)
    assert found.verdict.startswith("refused: ")
    assert reason in found.fault
    assert "\n" not in found.fault
    assert len(found.fault) < 1000


def test_hostile_lines_take_nothing_from_others(items: list[Item], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("carrara.runs.rescoring.lines.LONGEST", 1 << 16)
    path = written(tmp_path / "a.jsonl", right(items))
    bad = [b"x" * (1 << 17), *(data for data, _ in HOSTILE.values() if b"\n" not in data)]
    path.write_bytes(path.read_bytes() + b"\n".join(bad))
    found = {one.source.models: one for one in verify_file(path, 24, asked(items))}
    assert (found["lab/right"].source.lacking, stat(found["lab/right"].results).mean) == (0, 1)
    assert "lines of the file cannot be read (line " in found["lab/right"].source.doubt


def test_of_two_lines_the_first_counts(items: list[Item], tmp_path: Path) -> None:
    rows = [*({**row, "reply": ""} for row in right(items[:N])), *right(items[:N])]
    found = only(verify_file(written(tmp_path / "a.jsonl", rows), 24, asked(items[:N])))
    assert stat(found.results).mean == 0
    assert "6 lines count as no reply (line 7: babilong/qa1@5" in found.source.doubt


@pytest.mark.parametrize("tokenizer", ["hf:acme/private", "server:http://127.0.0.1:9", "gguf:/etc/passwd"])
def test_nothing_is_opened_for_a_strangers_tokenizer(tokenizer: str, items: list[Item], tmp_path: Path) -> None:
    """Replies that need no tokenizer are graded; those to items that are made by it count as none."""
    rows = [row | {"id": row["id"].replace("/gpt2", f"/{tokenizer}"), "sha256": "0" * 64} for row in right(items)]
    found = only(verify_file(written(tmp_path / "a.jsonl", rows), 100, asked(items)))
    sized = [item for item in items if item.task.is_sized and item.item_id.length]
    assert len(sized) == N
    assert found.source.fault == ""
    assert found.source.prompts == f"none was checked, {len(items) - N} cannot be made here"
    assert f"pass --allow {tokenizer}" in found.source.doubt.replace("`", "")
    assert found.source.lacking == N
    assert stat(found.results).mean == pytest.approx(1 - N / len(items))


def test_long_items_are_not_graded(items: list[Item], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission, "INSTANCES", 3 * 2048)
    found = source(written(tmp_path / "a.jsonl", right(items[:N])), items[:N])
    assert "3 replies are too long to grade, and count as none" in found.doubt
    assert found.lacking == 3


def test_too_many_models_are_refused(items: list[Item], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission, "MODELS", 3)
    rows = [right(items[:1], f"lab/{n}")[0] for n in range(4)]
    assert source(written(tmp_path / "a.jsonl", rows)).fault == "it names 4 models, more than 3"


def test_one_line_makes_no_more_work_than_a_file_may(
    items: list[Item], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It implies many items before its own. Those beyond the allowance are not made, but count as wrong."""
    monkeypatch.setattr(submission, "MOST", 5000)
    allowance = asked_items.Allowance(100 * weight(items[0].item_id))
    monkeypatch.setattr(submission, "Allowance", lambda: allowance)
    made = list[int]()

    def count(real: Callable[[ItemId], object]) -> Callable[[ItemId], object]:
        def counted(item_id: ItemId) -> object:
            made.append(item_id.index)
            return real(item_id)

        return counted

    for name in ("questions_of", "context_of"):
        monkeypatch.setattr(asked_items, name, count(getattr(asked_items, name)))
    far = items[0].id.replace("-0-0.", "-0-2999.")
    rows = [{"id": far, "reply": "kitchen", "model": model} for model in ("lab/a", "lab/b")]
    first, second = verify_file(written(tmp_path / "a.jsonl", rows), 24)
    assert first.source.doubt.startswith("2,999 of 3,000 items have no reply, and count as wrong")
    assert len(set(made)) == 100
    assert len({result.chance_level for result in first.results}) == 1
    assert second.source.fault == "it names items of babilong/qa1 so far apart that more than 2,001 lie between"


def test_items_that_have_lines_do_not_count_as_implied(
    items: list[Item], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submission, "MOST", 3)
    rows = [row for model in ("lab/a", "lab/b") for row in right(items[:N], model)]
    found = verify_file(written(tmp_path / "a.jsonl", rows), 24)
    assert [(one.source.fault, one.source.lacking) for one in found] == [("", 0)] * 2


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
    found = asked_items.hold(results, asked(items[:N]))
    assert [ItemId.parse(one.id).index for one in found.results] == [0, 1, 3, 4, 5]
    assert found.missing == 1


def test_a_subset_of_instances_begins_at_its_first(items: list[Item]) -> None:
    first = items[0].item_id
    far = ItemId.parse(str(first).replace("-0-0.", "-0-1000002."))
    assert [one.index for one in implied_items([far], {})] == [1_000_000, 1_000_001, 1_000_002]


@pytest.mark.parametrize("text", ["", "x", '{"id": 3}', '{"id": "x"}', "[1]", "\udcff"])
def test_a_list_of_items_is_one_of_ids(text: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "items.jsonl"
    path.write_bytes(text.encode(errors="surrogateescape"))
    assert main(["leaderboard", str(tmp_path), "--items", str(path)]) == 2
    assert "is not a file of item ids" in capsys.readouterr().err


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_folders_and_files_stand_on_one_page(items: list[Item], tmp_path: Path, capsys: Capture) -> None:
    qa1 = [item for item in items if item.item_id.task == "babilong/qa1"]
    ids = written(tmp_path / "items.jsonl", ({"id": item.id} for item in qa1))
    assert len(read_items(ids)) == len(qa1)
    run = tmp_path / "run"

    def guess(prompt: str) -> str:
        return "FINAL ANSWER: kitchen"

    carrara.run("qa1", guess, out=run, lengths="0,1k", n=N + 3, tokenizer="gpt2")
    rows = [*right(qa1, "function/guess"), *right(qa1[::2], "lab/<b>picker</b>")]
    path, page = written(tmp_path / "a.jsonl", rows), tmp_path / "board.html"
    given = ["leaderboard", str(run), str(path), "--items", str(ids)]
    assert main([*given, "--out", str(page)]) == 0
    out, err = capsys.readouterr()
    assert "6 of 12" in out
    assert "a.jsonl: lab/<b>picker</b>: partly verified: 6 of 12 items have no reply, and count as wrong" in err
    assert "run: verified" in err
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


def test_a_folder_without_a_manifest_counts_if_items_are_given(
    items: list[Item], tmp_path: Path, capsys: Capture
) -> None:
    path = written(tmp_path / "a.jsonl", right(items[:-2]))
    assert main(["score", str(path), "--out", str(tmp_path / "scored")]) == 0
    ids = written(tmp_path / "items.jsonl", ({"id": item.id} for item in items))
    assert main(["leaderboard", str(tmp_path / "scored")]) == 1
    capsys.readouterr()
    assert main(["leaderboard", str(tmp_path / "scored"), "--items", str(ids)]) == 0
    assert "scored: 2 replies are missing, and count as wrong" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "says"),
    [("nowhere.jsonl", "there is no file or directory nowhere.jsonl"), ("a.jsonl.gz", "does not end with .jsonl")],
)
def test_a_name_that_is_no_submission_is_an_error_of_the_caller(
    name: str, says: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl.gz").write_bytes(b"x")
    assert main(["leaderboard", name]) == 2
    assert says in capsys.readouterr().err


def test_files_of_one_name_are_named_with_their_folders(items: list[Item], tmp_path: Path, capsys: Capture) -> None:
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        written(tmp_path / name / "a.jsonl", right(items[:N]))
    assert main(["leaderboard", str(tmp_path / "x/a.jsonl"), str(tmp_path / "y/a.jsonl")]) == 0
    out = capsys.readouterr().out
    assert "x/a.jsonl" in out
    assert "y/a.jsonl" in out
