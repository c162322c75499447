"""Correlations, the published tables they may be taken with, and `carrara figure correlations`."""

import csv
import json
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrara.cli.main import main
from carrara.items import registry
from carrara.papers.benchmark_columns import model_aliases, plain
from carrara.papers.scores import TITLES, PublishedScore, distinct_scores, read_scores
from carrara.papers.vs_published import rankings
from carrara.results.cards import same_length
from carrara.results.correlation import Column, correlate, interval, ranks, spearman
from carrara.results.result import Result
from carrara.results.series import cell_scores
from carrara.runs.replies import merge_results
from carrara.util.errors import UsageError
from tests.helpers import results
from tests.helpers.process import carrara

Capture = pytest.CaptureFixture[str]
TABLES = files("carrara.papers") / "tables"
GRAPH_AND_TRANSLATION = ("Connected Node", "Shortest Path", "Single-hop Translation", "Multi-hop Translation")


def column(name: str, scores: Sequence[float]) -> Column:
    return Column(name, "test", {f"m{i}": score for i, score in enumerate(scores)})


def reply(model: str, instance: int, score: float, **more: Any) -> Result:
    defaults: dict[str, Any] = {"task": "babilong/qa1", "length": 4096}
    return results.reply(instance, score, model=model, **defaults | more)


def rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((TABLES / f"{name}.csv").read_text("utf-8").splitlines()))


# The number


def test_known_values() -> None:
    assert spearman([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]) == pytest.approx(0.8207826816681233)  # ties; scipy's value
    assert spearman([106, 100, 86, 101, 99, 103, 97, 113, 112, 110], [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]) == (
        pytest.approx(-29 / 165)
    )
    assert spearman([1, 1, 1, 1], [1, 2, 3, 4]) is None


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_ranks_add_up(values: list[int]) -> None:
    found = ranks(values)
    assert sum(found) == len(values) * (len(values) + 1) / 2
    assert all(
        (a < b) == (x < y) for a, x in zip(values, found, strict=True) for b, y in zip(values, found, strict=True)
    )


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=4, max_size=20))
def test_only_order_counts(pairs: list[tuple[int, int]]) -> None:
    ones, others = [a for a, _ in pairs], [b for _, b in pairs]
    rho = spearman(ones, others)
    assert rho == spearman(others, ones)
    assert rho == spearman([math.exp(a) for a in ones], others)
    if rho is not None:
        assert -1 <= rho <= 1
        assert spearman([-a for a in ones], others) == pytest.approx(-rho)
        low, high = interval(rho, len(pairs))
        assert -1 <= low <= rho <= high <= 1
        assert interval(-rho, len(pairs)) == pytest.approx((-high, -low))


def test_models_are_those_with_both_scores() -> None:
    first, second = column("a", [1, 2, 3, 4, 5, 6]), column("b", [1, 3, 2, 4])
    found = correlate(first, second)
    assert (found.models, found.n) == (("m0", "m1", "m2", "m3"), 4)
    assert found.rho == pytest.approx(0.8)


def test_what_bears_no_correlation() -> None:
    few = correlate(column("a", [1, 2, 3]), column("b", [1, 2, 3, 4]))
    assert (few.n, few.rho, few.low, few.high) == (3, None, None, None)
    assert "fewer than 4 models" in few.note
    assert correlate(column("a", [0, 0, 0, 0]), column("b", [1, 2, 3, 4])).note == "all score the same on a"


def test_a_perfect_order_of_four_proves_nothing_and_of_five_something() -> None:
    """As the permutation test has it: 2/24 of all orders are as extreme, and 2/120."""
    assert interval(1.0, 4)[0] < 0
    assert interval(1.0, 5)[0] > 0
    assert interval(1.0, 4)[1] == 1.0


@pytest.mark.parametrize("n", [4, 6, 9, 14, 39])
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8, 0.95])
@pytest.mark.sampled(6)
def test_coverage(n: int, correlation: float) -> None:
    """Of Spearman's correlation in a population that is normal in both scores."""
    draw = random.Random(n).gauss
    truth = 6 / math.pi * math.asin(correlation / 2)
    held = 0
    for _ in range(600):
        ones = [draw(0, 1) for _ in range(n)]
        others = [correlation * one + math.sqrt(1 - correlation**2) * draw(0, 1) for one in ones]
        rho = spearman(ones, others)
        assert rho is not None
        low, high = interval(rho, n)
        held += low <= truth <= high
    assert held / 600 > 0.90


# The published tables


def test_every_row_is_read_and_none_twice() -> None:
    assert {paper: len(rows(paper)) for paper in TITLES} == {
        "michelangelo": 7, "sync": 418, "minerva": 249, "babilong": 1924, "cards": 184, "longbench2": 390,
        "nolima": 220, "oolong": 72,
    }  # fmt: skip
    assert Counter(row["table"] for row in rows("sync")) == {
        "Table 7": 14 * 18, "Table 3": 6 * 18, "Table 4": 28, "Table 5": 30,
    }  # fmt: skip
    assert Counter(row["table"] for row in rows("babilong")) == {
        "Table 4": 1576, "Table 5": 22, "Table 2": 285, "Figure 3a": 41,
    }  # fmt: skip
    for paper in TITLES:
        keys = [(row["table"], row["model"], row["task"], row["length"], row["metric"]) for row in rows(paper)]
        assert len(set(keys)) == len(keys)
        assert all(row["paper"] == paper for row in rows(paper))
    assert len(read_scores()) == 3464


def test_scores_are_in_range_and_names_are_known() -> None:
    known = set(registry.names())
    assert known
    for score in read_scores():
        assert 0 <= score.score <= 100, score
        assert score.name
        assert score.metric
        task = score.ours.partition(":")[0]
        assert not task or task in (*known, *registry.BY_NAME) or task.startswith("sync/"), score
    assert {(row["paper"], row["printed"]) for row in rows("models")} == {
        (row["paper"], row["model"]) for paper in TITLES for row in rows(paper)
    }


def table_of(paper: str, table: str) -> dict[tuple[str, str, int | None, str], PublishedScore]:
    return {
        (score.name, score.task, score.length, score.metric): score
        for score in read_scores([paper])
        if score.table == table
    }


def test_sync_tables_agree_but_where_a_note_says_otherwise() -> None:
    whole = table_of("sync", "Table 7")
    for name in ("Table 3", "Table 4"):
        for key, score in table_of("sync", name).items():
            if key in whole and score.score != whole[key].score:
                assert name == "Table 4"
                assert str(whole[key].score) in score.note
                assert whole[key].note == f"as printed; Table 4 has {score.score:g}"
    noted = {(score.name, score.task) for score in whole.values() if score.note}
    assert noted == {
        ("gpt-4o-2024-11-20", "Connected Node"),
        ("gemini-2.0-flash-001", "Connected Node"),
        ("gpt-4o-2024-11-20", "Shortest Path"),
    }


def test_sync_scores_are_of_150_items() -> None:
    for score in read_scores(["sync"]):
        if score.ours or score.share:
            assert abs(score.score * 1.5 - round(score.score * 1.5)) < 0.08, score


def test_sync_shares_of_errors_add_up() -> None:
    whole = {(score.name, score.task, score.length): score.score for score in table_of("sync", "Table 7").values()}
    sums: Counter[tuple[str, str]] = Counter()
    for score in table_of("sync", "Table 5").values():
        assert score.share
        sums[score.name, score.task] += score.score  # type: ignore[assignment]
    assert len(sums) == 10
    for (name, task), share in sums.items():
        assert share + whole[name, task, 65536] == pytest.approx(100, abs=0.2)


# The row `avg` of BABILong's Table 4, task by task, in the order of its columns.
AVERAGES = {
    "QA1": "24 34 45 43 77 84 48 34 46 40 40 46 49 69 74 68 75 44 40 56 "
    "53 50 60 61 67 76 73 73 80 79 84 81 85 95 99 79 58 94 99",
    "QA2": "19 29 21 23 43 40 30 27 16 23 26 31 23 23 36 41 49 21 26 32 "
    "22 33 29 34 38 45 43 43 41 44 51 58 55 67 96 54 13 69 98",
    "QA3": "7 23 28 30 36 26 18 26 17 22 25 22 28 26 30 26 38 18 24 26 "
    "22 24 25 26 33 28 36 35 37 32 33 47 44 39 94 44 16 59 84",
    "QA4": "24 43 44 55 50 52 31 38 48 48 45 46 52 57 60 59 57 30 33 32 "
    "47 45 46 49 48 52 56 57 59 66 60 56 70 73 100 74 58 62 99",
    "QA5": "32 37 62 56 71 75 57 55 56 55 58 54 66 67 72 77 74 46 38 58 "
    "63 54 66 64 72 77 79 80 78 83 82 83 83 86 98 83 76 86 96",
}  # fmt: skip


@pytest.mark.parametrize("task", AVERAGES)
def test_babilong_scores_have_the_printed_averages(task: str) -> None:
    means: dict[str, list[float]] = {}
    for score in table_of("babilong", "Table 4").values():
        if score.task == task:
            means.setdefault(score.model, []).append(score.score)
    printed = [int(number) for number in AVERAGES[task].split()]
    assert len(means) == len(printed) == 39
    for (model, scores), average in zip(means.items(), printed, strict=True):
        assert sum(scores) / len(scores) == pytest.approx(average, abs=0.56), model  # both are rounded


def test_babilong_means_of_five_tests() -> None:
    five: dict[tuple[str, int | None], list[float]] = {}
    for score in table_of("babilong", "Table 4").values():
        five.setdefault((score.name, score.length), []).append(score.score)
    for score in table_of("babilong", "Table 2").values():
        assert len(five[score.name, score.length]) == 5
        assert sum(five[score.name, score.length]) / 5 == pytest.approx(score.score, abs=0.61)


def test_minerva_scores_that_two_tables_have_agree() -> None:
    found: dict[tuple[str, str, int | None], set[float]] = {}
    for score in read_scores(["minerva"]):
        found.setdefault((score.name, score.task, score.length), set()).add(score.score)
    assert all(len(scores) == 1 for scores in found.values())
    assert len(distinct_scores(read_scores(["minerva"]))) == len(found) == 231
    assert {score.length for score in read_scores(["minerva"])} == {None, 0, *(512 * 2**k for k in range(7))}


@pytest.mark.parametrize("length", ["32k", "64k"])
def test_the_published_correlations_come_out_of_the_published_scores(length: str) -> None:
    """To both printed decimals; with average ranks, for up to three models of fourteen are tied at 0."""
    scores: dict[str, dict[str, float]] = {}
    for row in rows("sync"):
        if row["table"] == "Table 7" and row["length"] == length:
            scores.setdefault(row["task"], {})[row["model"]] = float(row["score"])
    compared = 0
    for row in rows("sync_correlations"):
        if row["length"] == length and {row["first"], row["second"]} <= set(GRAPH_AND_TRANSLATION):
            first, second = (Column(row[name], "sync", scores[row[name]]) for name in ("first", "second"))
            found = correlate(first, second)
            assert found.n == 14
            assert f"{found.rho:.2f}" == row["rho"]
            compared += 1
    assert compared == 6
    assert sum(row["length"] == length for row in rows("sync_correlations")) == 55


# Names, tasks, lengths


def test_names_are_equal_but_for_case_and_providers() -> None:
    same = model_aliases([], [], {}, [])
    assert same("openai/gpt-4o") == same("GPT-4o") == same("openrouter/openai/gpt-4o")
    assert same("gpt-4o") != same("gpt-4o-mini")
    assert plain("M (base-url=http://x/y)") == "m (base-url=http://x/y)"


def test_two_models_of_the_runs_stay_two() -> None:
    same = model_aliases(["openai/m", "vllm/m", "vllm/n"], [], {}, [])
    assert len({same("openai/m"), same("vllm/m"), same("m")}) == 3
    assert same("vllm/n") == same("n")


def test_aliases() -> None:
    ours, theirs = ["a/m", "a/m (temperature=1)"], {"Llama 3.1 8B": "Llama-3.1-8B-Instruct", "GPT": "GPT"}
    for spelled in ("llama 3.1 8b", "meta/Llama-3.1-8B-Instruct"):
        same = model_aliases(ours, ours, theirs, [f"A/M={spelled}"])
        assert same("a/m") == same("Llama-3.1-8B-Instruct")
        assert same("a/m (temperature=1)") not in (same("a/m"), same("GPT"))
    assert model_aliases(ours, ours, theirs, ["a/m (temperature=1)=gpt"])("a/m (temperature=1)") == "gpt"


def test_models_that_servers_call_by_names_share_the_tasks() -> None:
    """Each server says which model answered. That makes models two, and not the task."""
    results = [
        replace(reply(f"openai/{model}", instance, 1.0), answered_by=f"{model}-2025")
        for model in "ab"
        for instance in (0, 1)
    ]
    assert {(one.what, str(one.model)) for one in cell_scores(results)} == {
        ("babilong/qa1 at 4k", "openai/a"),
        ("babilong/qa1 at 4k", "openai/b"),
    }


def test_a_model_asked_in_two_ways_is_two_and_a_test_posed_in_two_ways_too() -> None:
    results = [
        *(reply("p/m", i, 1.0, settings={"temperature": "1"}) for i in range(4)),
        *(reply("p/m", i, 0.0) for i in range(4)),
        *(reply("p/n", i, 0.5, style="base", tokenizer="o200k") for i in range(4)),
        *(reply("p/n", i, 0.25, task="babilong/qa2", params=f"window={w}") for i in range(4) for w in (0, 1)),
    ]
    found = {(one.what, str(one.model)): one.stat.mean for one in cell_scores(results)}
    assert found == {
        ("babilong/qa1 at 4k", "p/m (temperature=0)"): 0.0,
        ("babilong/qa1 at 4k", "p/m (temperature=1)"): 1.0,
        ("babilong/qa1 at 4k", "p/n (base, o200k)"): 0.5,
        ("babilong/qa2 (window=0) at 4k", "p/n (chat, gpt2)"): 0.25,
        ("babilong/qa2 (window=1) at 4k", "p/n (chat, gpt2)"): 0.25,
    }


def test_replies_in_two_folders_count_once() -> None:
    first, second = [reply("m", 0, 1.0), reply("m", 1, 1.0)], [reply("m", 0, 0.0)]
    results, repeated = merge_results([first, second])
    assert repeated == 1
    assert sorted(result.score for result in results) == [0.0, 1.0]


def test_lengths_are_the_same_within_5_percent() -> None:
    assert same_length(4096, 4000)
    assert same_length(10 * 1024**2, 10_000_000)
    assert same_length(0, 0)
    assert same_length(4096, None)
    assert not same_length(0, 1024)
    assert not same_length(65536, 61440)


def test_boards_rank_by_the_papers_metric() -> None:
    own = cell_scores([
        *(reply("p/graphs", i, float(i < 12), task="sync/graph:shortest", length=65536) for i in range(20)),
        *(reply("p/graphs", i, 0.2, length=32768, scores={"paper": 0.9}) for i in range(20)),
        *(reply("p/graphs", i, 1.0, length=777) for i in range(20)),
    ])  # fmt: skip
    babilong, sync = rankings(own, read_scores())
    assert [place.model for place in sync.places][:4] == [
        "gpt-4o-2024-11-20", "gemini-2.0-flash-001", "p/graphs", "DeepSeek-R1-Distill-Llama-70B",
    ]  # fmt: skip
    assert len(sync.places) == 15
    mine = next(i for i, place in enumerate(babilong.places) if place.ours)
    assert babilong.places[mine].score == 0.9
    assert babilong.places[mine - 1].score >= 0.9 >= babilong.places[mine + 1].score


def test_boards_know_the_papers_metric_by_the_names_of_those_who_published_it() -> None:
    for scores in ({"gdm": 0.7, "openai": 0.6}, {"openai": 0.7}):
        own = cell_scores([
            reply("p/talk", i, 0.2, task="michelangelo/mrcr", length=128 << 10, scores=scores) for i in range(20)
        ])  # fmt: skip
        (board,) = rankings(own, read_scores())
        assert [place.score for place in board.places if place.ours] == [pytest.approx(0.7)]


# The command


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with results of four models on two tasks at two lengths; one that `carrara run` wrote is read below."""
    right = {"oracle": 4, "chance": 1, "majority": 2, "echo": 0}
    results = [
        reply(f"carrara/{model}", instance, float(instance < hits), task=f"babilong/{task}", length=length)
        for model, hits in right.items()
        for task in ("qa1", "qa2")
        for length in (0, 1024)
        for instance in range(4)
    ]
    folder = tmp_path / "all"
    folder.mkdir()
    monkeypatch.setattr("carrara.runs.replies.read_results", lambda path, _: results if path == folder else [])
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "outside.csv"
    path.write_text(
        "\ufeffModel, Benchmark ,score,date\n\ncarrara/oracle,MMLU,90,x\nCHANCE,MMLU,25,\nmajority,MMLU,30.5,\n"
        "the parrot,MMLU,1e0,\nGPT-9,MMLU,99,\n",
        "utf-8",
    )
    return path


def test_runs_with_an_outside_table(runs: Path, outside: Path, capsys: Capture) -> None:
    asked = ["figure", "correlations", str(runs), "--scores", str(outside), "--alias", "carrara/echo=The Parrot"]
    assert main([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(one["column"], one["source"]) for one in told["columns"]] == [
        ("babilong/qa1 at 0", "runs"), ("babilong/qa1 at 1k", "runs"), ("babilong/qa2 at 0", "runs"),
        ("babilong/qa2 at 1k", "runs"), ("MMLU", "outside scores"),
    ]  # fmt: skip
    assert len(told["pairs"]) == 10
    pair = next(pair for pair in told["pairs"] if (pair["first"], pair["second"]) == ("babilong/qa1 at 0", "MMLU"))
    assert (pair["n"], pair["models"]) == (4, ["chance", "the parrot", "majority", "oracle"])
    assert pair["low"] < 0 < pair["rho"] == pair["high"] == 1.0
    assert told["unmatched"] == {"runs": [], "outside scores": ["GPT-9"]}
    assert main([*asked, "--lengths", "1k"]) == 0
    shown = capsys.readouterr().out
    assert "babilong/qa1 at 1k" in shown
    assert "at 0" not in shown


def test_what_others_wrote_is_made_inert(runs: Path, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "evil.csv"
    path.write_text("model,benchmark,score\noracle,\x1b[31mred,1\nx\u202ey,\x1b[31mred,2\n", "utf-8")
    assert main(["figure", "correlations", str(runs), "--scores", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "␛[31mred" in shown
    assert "x⟦U+202E⟧y" in shown
    assert "\x1b" not in shown


def test_columns_of_one_name_in_two_sources_are_two(runs: Path, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "own.csv"
    table = {"oracle": 1, "chance": 4, "majority": 3, "echo": 2}
    rows = "".join(f"{model},babilong/qa1 at 0,{score}\n" for model, score in table.items())
    path.write_text("model,benchmark,score\n" + rows, "utf-8")
    assert main(["figure", "correlations", str(runs), "--scores", str(path), "--lengths", "0"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[2].split() == ["1", "babilong/qa1", "at", "0", "runs", "4"]
    assert shown[4].split() == ["3", "babilong/qa1", "at", "0", "outside", "scores", "4", "-0.40", "-0.40"]


def test_published_scores_alone(capsys: Capture) -> None:
    assert main(["figure", "correlations", "--papers", "sync", "--lengths", "32k"]) == 0
    shown = capsys.readouterr().out
    assert "2  sync: Shortest Path at 32k           published scores      14  0.96" in shown
    assert "0.00 to 0.85" in shown
    assert "-0.00" not in shown
    assert "alone have" not in shown


def test_models_are_ranked_among_published_ones(runs: Path, capsys: Capture) -> None:
    assert main(["figure", "rankings", str(runs), "--lengths", "1k", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(board["task"], board["paper"]) for board in told["boards"]] == [
        ("babilong/qa1 at 1k", "babilong"), ("babilong/qa2 at 1k", "babilong"),
    ]  # fmt: skip
    places = told["boards"][0]["models"]
    assert [place["ranked by"] for place in places] == sorted((place["ranked by"] for place in places), reverse=True)
    assert {place["model"] for place in places if place["ours"]} == {
        f"carrara/{name}" for name in ("oracle", "chance", "majority", "echo")
    }
    assert len(places) == 4 + 39
    assert main(["figure", "rankings", str(runs), "--papers", "babilong", "--lengths", "0"]) == 0
    assert ">  carrara/oracle" in capsys.readouterr().out


def test_one_model_has_no_correlation_but_a_place(tmp_path: Path, capsys: Capture) -> None:
    run = ["run", "qa1", "--model", "carrara/echo", "--lengths", "0,1k,700", "-n", "2", "--out", tmp_path / "r"]
    carrara(*run, check=True)
    assert main(["figure", "correlations", str(tmp_path / "r")]) == 0
    assert "`carrara figure rankings` ranks single models among published ones" in capsys.readouterr().out
    assert main(["figure", "rankings", str(tmp_path / "r")]) == 0
    assert "no published scores: babilong/qa1 at 700" in capsys.readouterr().out
    assert main(["figure", "rankings", str(tmp_path / "r"), "--lengths", "700"]) == 2
    assert "no paper has scores of babilong/qa1 at 700" in capsys.readouterr().err


WRONG_TABLES = {
    "no column": ("model,score\na,1\n", "no column 'benchmark'"),
    "a column twice": ("model,benchmark,score,score\na,b,1,2\n", "several columns 'score'"),
    "not finite": ("model,benchmark,score\na,b,1\na,c,nan\n", ":3: the score 'nan' is no number"),
    "an underscore": ("model,benchmark,score\na,b,1_0\n", "'1_0' is no number"),
    "no model": ("model,benchmark,score\n ,b,1\n", ":2: the model is empty"),
    "a short row": ("model,benchmark,score\na,b\n", ":2: the row has 2 fields, and the table 3"),
    "a score twice": ("model,benchmark,score\na,b,1\na,b,2\n", "'b' has two scores of one model"),
    "two spellings": ("model,benchmark,score\nx/a,b,1\nA,b,2\n", "'x/a' ("),
    "a header alone": ("model,benchmark,score\n", "is an empty table"),
    "no CSV": ('model,benchmark,score\n"a,b,1\n', "not a row of CSV"),
    "no text": ("model,benchmark,score\n\xff\xfe,b,1\n", "is not UTF-8 text"),
    "no shared model": ("model,benchmark,score\na,b,1\na,c,1\n", "no model is in two of the sources"),
}


WRONG = {
    "nothing": ([], "nothing to correlate"),
    "no folder": (["nowhere"], "there is no directory nowhere"),
    "an empty folder": (["."], "there are no results in ."),
    "a folder for a file": (["--scores", "."], "there is no file ."),
    "an unknown paper": (["--papers", "babylon"], "did you mean babilong?"),
    "a length that no paper has": (["--papers", "sync", "--lengths", "3k"], "no models' scores at these lengths"),
    "one column": (["--scores", "one.csv"], "there is only 'b'"),
    "an alias without a sign": (["--papers", "sync", "--scores", "one.csv", "--alias", "a"], "not OURS=THEIRS"),
    "an alias for nobody": (["--papers", "sync", "--scores", "one.csv", "--alias", "b=GPT-4o"], "called 'b'"),
    "an alias to nobody": (
        ["--papers", "sync", "--scores", "one.csv", "--alias", "a=GPT-4"], "called 'GPT-4'; did you mean GPT-4o"
    ),
    "an alias to two": (
        ["--papers", "sync", "--scores", "one.csv", "--alias", "a=GPT-4o", "--alias", "a=Phi 3.5 mini"],
        "second model",
    ),
}  # fmt: skip


@pytest.mark.parametrize("wrong", [*WRONG_TABLES, *WRONG])
def test_wrong_use(wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    content, key = WRONG_TABLES.get(wrong, ("model,benchmark,score\na,b,1\n", ""))
    asked, key = WRONG.get(wrong, (["--scores", "one.csv", "--papers", "sync"], key))
    (tmp_path / "one.csv").write_bytes(content.encode("latin-1"))
    assert main(["figure", "correlations", *asked]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert key in captured.err


def test_wrong_use_with_runs(runs: Path, capsys: Capture) -> None:
    assert main(["figure", "correlations", str(runs), "--lengths", "64k"]) == 2
    assert "the runs have 0, 1k" in capsys.readouterr().err
    assert main(["figure", "rankings"]) == 2
    assert main(["figure", "rankings", str(runs), "--scores", "one.csv"]) == 2
    assert "--scores" in capsys.readouterr().err


def test_an_ambiguous_name_is_refused() -> None:
    with pytest.raises(UsageError, match=r"gpt-4o-2024-11-20 or gpt-4o-2024-08-06"):
        model_aliases(["m"], ["m"], {"GPT4": "gpt-4o-2024-11-20", "gpt4": "gpt-4o-2024-08-06"}, ["m=gpt4"])
