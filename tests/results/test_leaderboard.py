"""Many models in one order: places, cells that count, folders of others that are graded again."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara.cli.main import main
from carrara.items.item import make
from carrara.report.failures import unsolved_items
from carrara.report.page import render
from carrara.report.snippets import SnippetFinder
from carrara.report.standings import record, standing_lines
from carrara.results import Requirements
from carrara.results.leaderboard import Standing, leaderboard
from carrara.results.result import Result
from carrara.results.summary import Summary
from carrara.runs.replies import read_replies
from carrara.runs.rescoring.submission import read_submission
from tests.helpers import results
from tests.helpers.inspect_warnings import LEFT_OPEN

Capture = pytest.CaptureFixture[str]


def reply(instance: int, score: float, length: int, model: str, task: str = "suite/one", **more: object) -> Result:
    counts: dict[str, Any] = {"tokens": length or 90, "output_tokens": 5, "seconds": 2.0}
    return results.reply(instance, score, length=length, model=model, task=task, **counts | more)


def curve(model: str, scores: dict[int, float], task: str = "suite/one", n: int = 10) -> list[Result]:
    return results.run(scores, n, model=model, task=task, output_tokens=5, seconds=2.0)


def by_name(results: list[Result]) -> dict[str, Standing]:
    return {line.series.model: line for line in leaderboard(results)}


def test_the_mean_is_of_tests_and_each_is_that_of_its_lengths() -> None:
    lengths = (0, 1024, 4096)
    one = curve("a", {0: 1.0, 1024: 1.0, 4096: 0.4}) + curve("a", dict.fromkeys(lengths, 0.9), "suite/two")
    two = curve("b", dict.fromkeys(lengths, 1.0)) + curve("b", dict.fromkeys(lengths, 1.0), "suite/two")
    found = by_name(one + two)
    assert found["a"].mean == pytest.approx((0.8 + 0.9) / 2)
    assert [line.place for line in leaderboard(one + two)] == [1, 2]
    assert found["b"].place == 1
    assert found["a"].area == pytest.approx((0.7 + 0.9) / 2)  # one falls from 1 to .4 over two doublings
    effective = found["a"].effective
    assert effective is not None
    assert effective.estimate is not None
    assert 1024 < effective.estimate.length < 4096
    assert (found["a"].area_low or 1) < 0.8 < (found["a"].area_high or 0)
    assert str(found["b"].effective) == "≥ 4k"
    assert found["a"].sent == 10 * 2 * (100 + 1024 + 4096)
    assert found["a"].received == 60 * 5
    assert (found["a"].low or 1) < (found["a"].mean or 0) < (found["a"].high or 0)


def test_a_mean_is_only_over_lengths_that_all_tests_have() -> None:
    """A long context is harder: at 0 alone both tasks can be averaged."""
    results = curve("a", {0: 1.0, 4096: 0.2}) + curve("a", {0: 0.8, 1024: 0.5}, "suite/two")
    [line] = leaderboard(results)
    assert line.lengths == (0,)
    assert line.mean == pytest.approx((1.0 + 0.8) / 2)
    assert line.tasks == pytest.approx({"suite/one": 1.0, "suite/two": 0.8})
    assert (line.cells, line.of, line.effective) == (2, 2, None)
    assert "at the lengths that all of them have: 0." in list(standing_lines([line]))[-1]


def test_tests_without_a_common_length_have_no_mean() -> None:
    results = [r for m in ("a", "b") for r in curve(m, {512: 0.7}) + curve(m, {768: 0.0}, "suite/two")]
    lines = leaderboard(results)
    assert [(line.place, line.mean, line.suites) for line in lines] == [(None, None, {})] * 2
    assert lines[0].tasks == pytest.approx({"suite/one": 0.7, "suite/two": 0.0})
    table = list(standing_lines(lines))
    assert table[0].split()[-5:-3] == ["suite/one", "suite/two"]
    assert "no length in common, so there is no mean" in table[-1]
    assert record(lines[0])["mean"] is None
    page = render(Summary(results), "t")
    assert "no length in common, so there is no mean over them" in page


def test_the_mean_of_tests_is_judged_like_a_task() -> None:
    results = [r for task in ("suite/one", "suite/two") for r in curve("a", {0: 0.4, 1024: 0.3}, task)]
    [line] = leaderboard(results)
    assert line.effective is not None
    assert line.effective.sentence == "not usable: 40 % correct without filler"
    assert record(line)["effective_length"]["status"] == "not usable"
    [line] = leaderboard(results, Requirements(min_base_score=0.1))
    assert line.effective is not None
    assert line.effective.usability == "usable"


def test_models_with_the_same_mean_share_a_place() -> None:
    scores = {"a": 0.5, "b": 1.0, "c": 0.5, "d": 0.0}
    lines = leaderboard([reply(i, score, 0, model) for model, score in scores.items() for i in range(4)])
    assert [(line.place, line.series.model) for line in lines] == [(1, "b"), (2, "a"), (2, "c"), (4, "d")]


def test_who_lacks_a_cell_has_no_place_and_an_odd_one_takes_nobodys() -> None:
    whole = {0: 1.0, 1024: 0.5}
    results = [*curve("a", whole), *curve("b", whole), *curve("c", {0: 1.0}), *curve("d", {0: 0.9, 777: 0.9})]
    found = by_name(results)
    assert {name: line.place is None for name, line in found.items()} == {"a": False, "b": False, "c": True, "d": True}
    assert (found["c"].cells, found["c"].of) == (1, 2)
    assert found["d"].mean == pytest.approx(0.9)  # by the cell that counts
    assert [line.series.model for line in leaderboard(results)][2:] == ["c", "d"]


def test_who_cannot_be_ranked_has_the_reason_in_its_row() -> None:
    """In the table, on the page and in JSON, also where no cell of the model counts."""
    failed = [reply(i, 0.0, 1024, "d", status="error") for i in range(10)]
    models = {"a": {1024: 1.0, 4096: 0.5}, "b": {2048: 1.0}, "c": {1024: 0.9}}
    results = [*(one for model, scores in models.items() for one in curve(model, scores)), *failed]
    reasons = {
        "a": "",
        "b": "lacks suite/one at 1k, 4k; has suite/one at 2k",
        "c": "lacks suite/one at 4k",
        "d": "lacks suite/one at 4k; nothing was measured of suite/one at 1k",
    }
    lines = leaderboard(results)
    assert {line.series.model: line.reason for line in lines} == reasons
    assert [line.place for line in lines] == [1, None, None, None]
    assert {line["model"]: line["reason"] for line in map(record, lines)} == reasons
    assert (by_name(results)["b"].cells, by_name(results)["b"].of, by_name(results)["b"].mean) == (0, 2, None)
    table, page = "\n".join(standing_lines(lines)), render(Summary(results), "t")
    assert all(reason in table and reason in page for reason in reasons.values())
    ranked = leaderboard([*curve("a", models["a"]), *curve("b", models["a"])])
    assert "why no place" not in "\n".join(standing_lines(ranked))
    many = [one for n in range(5) for one in curve("a", {0: 1.0}, f"suite/{n}")]
    [*_, last] = leaderboard([*many, *curve("b", {1024: 1.0})])
    assert last.reason == "lacks suite/0 at 0 and suite/1 at 0 and suite/2 at 0 and 2 more tasks; has suite/one at 1k"


def test_what_does_not_fit_counts_nothing_and_what_failed_is_not_there() -> None:
    long = [reply(i, 0.0, 8192, "a", status="overflow") for i in range(10)]
    failed = [reply(i, 0.0, 8192, "b", status="error") for i in range(10)]
    results = [*curve("a", {0: 1.0}), *long, *curve("b", {0: 1.0}), *failed, *curve("c", {0: 0.8, 8192: 0.8})]
    found = by_name(results)
    assert found["a"].mean == 0.5
    assert found["a"].is_complete
    assert not found["b"].is_complete


def test_items_that_all_fail_come_by_surprise() -> None:
    good = [reply(i, float(i != 3), 0, model) for i in range(10) for model in ("a", "b")]
    bad = [reply(i, float(i > 8), 0, model, "suite/two") for i in range(10) for model in ("a", "b")]
    found = unsolved_items(good + bad)
    assert len(found) == 1 + 9
    assert {one.id for one in found[0]} == {"suite/one@1/test-0-3.0/0/chat/gpt2"}
    assert not unsolved_items([one for one in good if one.model == "a"])  # one model alone says nothing


def test_a_prompt_is_shown_around_what_its_answer_needs() -> None:
    item = make("babilong/qa1", length=16384, index=2, tokenizer="gpt2")
    result = replace(reply(2, 0.0, 16384, "a", "babilong/qa1"), id=item.id, reply=f"FINAL ANSWER: {item.gold}")
    seen = SnippetFinder()(result)
    assert seen is not None
    assert seen.read == "answer line"
    shown = [part.text.strip() for part in seen.prompt if part.kind == "needed"]
    assert len(shown) == len(set(item.question.evidence))
    assert all(sentence in item.text for sentence in shown)
    name = item.question.ask.split()[-1].rstrip("?")
    assert all(name in sentence for sentence in shown)
    assert item.text.startswith(seen.prompt[0].text)
    assert item.text.endswith(seen.prompt[-1].text)
    hidden = sum(int(part.text.split()[1].replace(",", "")) for part in seen.prompt if part.kind == "gap")
    assert hidden + sum(len(part.text) for part in seen.prompt if part.kind != "gap") == len(item.text)


def test_a_page_renders_no_more_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrara.report.snippets.TOGETHER", 3000)
    look = SnippetFinder()
    items = [make("babilong/qa1", length=2048, index=index, tokenizer="gpt2") for index in (0, 1)]
    first, second = (look(replace(reply(0, 0.0, 2048, "a", "babilong/qa1"), id=item.id)) for item in items)
    assert first
    assert first.prompt
    assert second
    assert not second.prompt
    assert look(replace(reply(0, 0.0, 0, "a"), id="babilong/qa1@99/test-0-0.0/0/chat/gpt2")) is None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    def guess(prompt: str) -> str:
        return "FINAL ANSWER: kitchen"

    carrara.run("qa1", guess, out=tmp_path / "run", lengths="0,1k", n=6, tokenizer="gpt2")
    return tmp_path / "run"


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_a_model_in_two_folders_has_two_lines(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    def guess(prompt: str) -> str:
        return f"FINAL ANSWER: {carrara.item('qa1', index=0, tokenizer='gpt2').gold}"

    other = tmp_path / "again" / "run"
    carrara.run("qa1", guess, out=other, lengths="0,1k", n=6, tokenizer="gpt2")
    orders = ([str(folder), str(other)], [str(other), str(folder)])
    boards = []
    for folders in orders:
        assert main(["leaderboard", *folders, "--json"]) == 0
        out, err = capsys.readouterr()
        boards.append({line["variant"]: line["mean"] for line in json.loads(out)["leaderboard"]})
        assert "24 replies graded again" in err
    assert boards[0] == boards[1]
    assert len(boards[0]) == 2
    assert boards[0][f"submission={folder}"] == 0
    assert boards[0][f"submission={other}"] > 0
    assert main(["leaderboard", *orders[0], "--lengths", "2k"]) == 1
    assert f"{other}: it has no item of --lengths 2k, and is not ranked" in capsys.readouterr().err


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_a_folder_and_a_link_to_it_are_one(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    [submission] = read_submission(folder)
    assert (submission.source.graded, submission.source.asked, submission.source.lacking) == (12, 12, 0)
    link = tmp_path / "link"
    link.symlink_to(folder)
    boards = []
    for folders in ([folder], [folder, link], [link, folder]):
        assert main(["leaderboard", *map(str, folders), "--json"]) == 0
        out, err = capsys.readouterr()
        boards.append(json.loads(out)["leaderboard"])
        assert "12 replies graded again" in err
    assert boards[1] == boards[0]
    assert boards[2][0]["sent"] == boards[0][0]["sent"]


def test_folders_have_to_be_there(tmp_path: Path, capsys: Capture) -> None:
    assert main(["leaderboard", str(tmp_path / "nowhere")]) == 2
    assert "there is no file or directory" in capsys.readouterr().err
    assert main(["leaderboard", str(tmp_path)]) == 1
    assert "not ranked: it has no results" in capsys.readouterr().err


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_tokens_are_priced(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    prices = tmp_path / "prices.toml"
    [model] = {one.result.model for one in read_replies(folder)}
    prices.write_text(f'["{model}"]\ninput = 1000\noutput = 0\n')
    assert main(["leaderboard", str(folder), "--price", str(prices), "--json"]) == 0
    [line] = json.loads(capsys.readouterr().out)["leaderboard"]
    assert line["cost"] == pytest.approx(line["sent"] / 1000)
    prices.write_text('["other/model"]\ninput = 1\noutput = 0\n')
    assert main(["leaderboard", str(folder), "--price", str(prices)]) == 2
    assert f"has no price of {model}" in capsys.readouterr().err
