"""Folders that were forged: a leaderboard refuses them, or counts what they leave out as wrong."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import carrara
from carrara.cli.main import main
from carrara.items.registry import load, names
from carrara.results.scores import stat
from carrara.runs import verify_submission
from carrara.runs.replies import LoggedReply, read_replies
from carrara.runs.verify_submission import verify
from tests.helpers.inspect_warnings import LEFT_OPEN

pytestmark = [LEFT_OPEN, pytest.mark.usefixtures("collected")]

Forge = Callable[[list[LoggedReply]], list[LoggedReply]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An honest run that is right now and then."""
    out = tmp_path_factory.mktemp("sent") / "run"

    def guess(prompt: str) -> str:
        return "FINAL ANSWER: kitchen"

    carrara.run("qa1", guess, out=out, lengths="0,1k", n=15, tokenizer="gpt2")
    return out


def with_result(one: LoggedReply, **changes: object) -> LoggedReply:
    return replace(one, result=replace(one.result, **changes))  # type: ignore[arg-type]


def with_id(one: LoggedReply, old: str, new: str, **changes: object) -> LoggedReply:
    assert old in one.result.id
    return with_result(one, id=one.result.id.replace(old, new), **changes)


FORGERIES: dict[str, tuple[Forge, str]] = {
    "all scores are 1, with a tokenizer that is not here": (
        lambda replies: [with_id(one, "/gpt2", "/hf:acme/private", score=1.0) for one in replies],
        "scores are not what their replies come to",
    ),
    "all scores are 1, with a server's tokenizer": (
        lambda replies: [with_id(one, "/gpt2", "/server:http://127.0.0.1:9", score=1.0) for one in replies],
        "scores are not what their replies come to",
    ),
    "parameters that no item has": (
        lambda replies: [with_id(one, "/test", ";vocab=none/test", score=1.0) for one in replies],
        "30 of 30 replies are not to the items that their ids name",
    ),
    "one score of thirty": (
        lambda replies: [
            with_result(one, score=1.0) if one is next(r for r in replies if not r.result.score) else one
            for one in replies
        ],
        "1 of 30 scores are not",
    ),
    "a published score": (
        lambda replies: [with_result(one, scores={"paper": 1.0}) for one in replies],
        "scores are not what",
    ),
    "another length": (
        lambda replies: [with_result(one, length=131072) if one.result.length else one for one in replies],
        "15 of 30 replies are not to the items",
    ),
    "another length, as if it held the answer": (
        lambda replies: [
            with_result(one, length=131072, settings={**one.result.settings, "within": "answer"})
            if one.result.length
            else one
            for one in replies
        ],
        "15 of 30 replies are not to the items",
    ),
    "another task": (
        lambda replies: [with_result(one, task="babilong/qa3") for one in replies],
        "30 of 30 replies are not to the items",
    ),
    "a status": (
        lambda replies: [with_result(one, status="refused") if not one.result.score else one for one in replies],
        "scores are not what",
    ),
    "another prompt": (lambda replies: [replace(one, sha256="0" * 64) for one in replies], "prompts are not what"),
    "a reply in place of another": (
        lambda replies: [replace(one, output={"choices": 3}) for one in replies],
        "30 of 30 scores are not",
    ),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forgery_is_refused(what: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forge, reason = FORGERIES[what]
    forged = forge(read_replies(folder))
    monkeypatch.setattr(verify_submission, "read_replies", lambda _, **options: forged)
    verdict = verify(folder, 24).source.verdict
    assert verdict.startswith("refused: ")
    assert reason in verdict


def copied(folder: Path, tmp_path: Path, plan: Callable[[list[dict[str, object]]], object] | None) -> Path:
    """The folder's plan alone, changed, in a folder of its own; replies are monkeypatched."""
    out = tmp_path / "sent"
    out.mkdir()
    if plan:
        (out / "plan.json").write_text(json.dumps(plan(json.loads((folder / "plan.json").read_text()))))
    return out


def right_alone(folder: Path) -> list[LoggedReply]:
    """The right replies alone, with one in each cell at least."""
    right = [one for one in read_replies(folder) if one.result.score]
    assert {one.result.length for one in right} == {0, 1024}
    return right


def test_wrong_replies_that_are_left_out_count_as_wrong(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = stat(verify(folder, 24).results).mean
    right = right_alone(folder)
    monkeypatch.setattr(verify_submission, "read_replies", lambda _, **options: right)
    found = verify(copied(folder, tmp_path, lambda plan: plan), 24)
    assert found.source.verdict == "verified"
    assert found.source.lacking == 30 - len(right)
    assert stat(found.results).mean == pytest.approx(honest)


def test_wrong_replies_that_became_failed_requests_count_as_wrong(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = stat(verify(folder, 24).results).mean
    failed = [one if one.result.score else with_result(one, status="error") for one in read_replies(folder)]
    monkeypatch.setattr(verify_submission, "read_replies", lambda _, **options: failed)
    assert stat(verify(folder, 24).results).mean == pytest.approx(honest)


def test_a_folder_without_a_plan_is_refused(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = right_alone(folder)
    monkeypatch.setattr(verify_submission, "read_replies", lambda _, **options: right)
    verdict = verify(copied(folder, tmp_path, None), 24).source.verdict
    assert verdict == "refused: no plan.json declares which items it was to hold"


def test_a_plan_of_right_replies_alone_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = right_alone(folder)
    monkeypatch.setattr(verify_submission, "read_replies", lambda _, **options: right)

    def picked(plan: list[dict[str, object]]) -> object:
        kept = {(one.result.length, one.result.id.partition("-0-")[2].partition(".")[0]) for one in right}
        for row in plan:
            indices = sorted(int(index) for length, index in kept if length == row["length"])
            row["instances"] = [[index, index + 1] for index in indices]
        return plan

    verdict = verify(copied(folder, tmp_path, picked), 24).source.verdict
    assert "its plan leaves out babilong/qa1 " in verdict
    assert verdict.endswith("which can be asked")


@pytest.mark.parametrize("instances", [[[0, 10**12]], [[-5, 10]], [[3, 1]], "x", [[0, "y"]], [[0, 10**7]]])
def test_a_plan_that_cannot_be_is_refused(
    instances: object, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = right_alone(folder)
    monkeypatch.setattr(verify_submission, "read_replies", lambda _, **options: right)
    verdict = verify(
        copied(folder, tmp_path, lambda plan: [row | {"instances": instances} for row in plan]), 24
    ).source.verdict
    assert verdict.startswith("refused: ")
    assert "plan" in verdict


def test_one_bad_folder_ends_nothing(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad"
    (bad / "logs").mkdir(parents=True)
    (bad / "logs" / "x.eval").write_bytes(b"")
    assert main(["leaderboard", str(bad), str(folder)]) == 1
    out, err = capsys.readouterr()
    assert "function/guess" in out
    assert "bad: refused: " in err
    assert "run: verified" in err


def test_one_endless_length_keeps_nothing_from_being_checked(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An item of 500 million tokens is left out itself; forged scores of the others are still found."""
    replies = [with_result(one, score=1.0) for one in read_replies(folder)]
    name = next(name for name in names() if load(name).is_sized)
    id = f"{name}@{load(name).version}/test-0-0.0/{1 << 29}/chat/gpt2"
    endless = with_id(replies[0], replies[0].result.id, id)
    monkeypatch.setattr(verify_submission, "read_replies", lambda _, **options: [endless, *replies])
    source = verify(copied(folder, tmp_path, lambda plan: plan), 24).source
    assert "scores are not what their replies come to" in source.fault
    assert "1 too long to check" in source.scores


def test_a_folder_without_a_plan_counts_if_the_user_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("carrara.runs.manifest.read", lambda *_: [])
    assert main(["leaderboard", str(folder)]) == 1
    assert "nothing is left to rank" in capsys.readouterr().err
    assert main(["leaderboard", str(folder), "--count-refused"]) == 0
    out, err = capsys.readouterr()
    assert "function/guess" in out
    assert "no plan.json declares which items it was to hold; it counts all the same" in err
