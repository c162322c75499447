"""Presets of model cards: what is asked, the columns of a card, and the scores beside it."""

import json
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import carrara
from carrara.cli.main import main
from carrara.operations.report import report
from carrara.papers.cards import card, cards_of
from carrara.papers.correlations import ranking_lines, ranking_record
from carrara.papers.scores import read_scores
from carrara.papers.vs_published import rankings
from carrara.report.tables import card_table
from carrara.results.cards import BesideCard, ColumnScore, beside_cards
from carrara.results.result import Result
from carrara.results.ruler import TASKS
from carrara.results.series import cell_scores
from carrara.results.summary import Summary
from carrara.runs.config import PlanConfig, RunConfig
from carrara.runs.presets import PRESETS
from carrara.util.errors import UsageError
from tests.helpers.published_sets import graphwalks, jsonl
from tests.helpers.results import reply, run

K, M = 1 << 10, 1 << 20
WITHIN = {"within": "answer"}
BINS = [8 * K, 16 * K, 32 * K, 64 * K, 128 * K, 256 * K, 512 * K, M]
CARDS = [name.removeprefix("card:") for name in PRESETS if name.startswith("card:")]

ASKED: dict[str, tuple[set[str], list[int], int, str]] = {
    "openai-mrcr": ({"michelangelo/mrcr"}, BINS, 100, "needles=8"),
    "deepseek-mrcr": ({"michelangelo/mrcr"}, BINS, 100, "needles=8"),
    "google-mrcr": ({"michelangelo/mrcr"}, [*BINS[:5], M], 100, "needles=8"),
    "openai-graphwalks": ({"carrara/walks"}, [256 * K, M], 200, "kind=parents,exactly"),
    "anthropic-graphwalks": ({"carrara/walks"}, [256 * K, M], 200, "kind=parents,exactly"),
}
"""The tasks of each card, its lengths, the problems at each length, and a parameter."""


def config(tasks: str, **settings: Any) -> RunConfig:
    return RunConfig(tasks, "carrara/oracle", **{"out": "unused", "tokenizer": "o200k", **settings})


# What is asked


@pytest.mark.parametrize("name", ASKED)
def test_a_card_asks_what_its_maker_states(name: str) -> None:
    tasks, lengths, count, param = ASKED[name]
    jobs = config(f"card:{name}").jobs
    assert {job.first.task for job in jobs} == tasks
    assert [job.first.length for job in jobs] == lengths
    assert {job.instances for job in jobs} == {count}
    assert all(param in job.first.params.split(";") for job in jobs)
    assert {job.card for job in jobs} == {name}


def test_ruler_has_a_hundred_problems_of_each_task() -> None:
    jobs = config("card:nvidia-ruler").jobs
    assert {job.first.length for job in jobs} == {256 * K, 512 * K, M}
    assert {job.first.task.rpartition("/")[2]: job.instances for job in jobs} == {
        "niah": 800, "vt": 100, "cwe": 100, "fwe": 100,
    }  # fmt: skip


@pytest.mark.parametrize("name", CARDS)
def test_every_length_of_a_card_is_in_a_column(name: str) -> None:
    asked = {job.first.length for job in config(f"card:{name}").jobs}
    assert asked == {length for column in card(name).columns for length in column.lengths}


@pytest.mark.parametrize("name", CARDS)
def test_a_card_says_whose_items_it_asks(name: str) -> None:
    assert PRESETS[f"card:{name}"].about.endswith("of Carrara's own generator unless published files are given")


def test_lengths_hold_the_answer_unless_the_run_says_otherwise() -> None:
    assert config("card:openai-mrcr", lengths="8k", n=1).holds_answer
    assert not config("card:openai-mrcr", lengths="8k", n=1, within=False).holds_answer
    assert not config("mrcr", lengths="8k", n=1).holds_answer
    assert config("mrcr", lengths="8k", n=1, within=True).holds_answer


def test_a_shortened_card_keeps_its_parameters() -> None:
    jobs = config("card:google-mrcr", lengths="4k,8k", n=5).jobs
    assert [(job.first.length, job.instances) for job in jobs] == [(4 * K, 5), (8 * K, 5)]
    assert all({"needles=8", "depth=3", "form=text"} <= {*job.first.params.split(";")} for job in jobs)


def test_a_plan_reserves_the_answer_too() -> None:
    plan = PlanConfig("card:openai-mrcr", "carrara/oracle", out="unused", tokenizer="o200k", lengths="8k", n=1)
    assert plan.holds_answer


# What is printed


@pytest.mark.parametrize("name", CARDS)
def test_printed_scores_have_a_column_a_source_and_a_date_of_reading(name: str) -> None:
    shown = card(name)
    assert shown.printed
    for row in shown.printed:
        assert row.scores.keys() <= {column.name for column in shown.columns}
        assert re.search(r"\(.*20\d\d\)|20\d\d\)", row.source)
        assert re.search(r"read 20\d\d-\d\d-\d\d, (in a copy|second-hand)$", row.source)


def test_no_row_of_a_card_lacks_maker_rule_or_date() -> None:
    rules = {"openai", "gdm", "graphwalks", "anthropic", "ruler"}
    for score in read_scores(["cards"]):
        assert score.maker in {"OpenAI", "Anthropic", "Google", "DeepSeek", "NVIDIA"}
        assert score.rule in rules
        assert re.fullmatch(r"20\d\d(-\d\d){0,2}", score.date)


def test_scores_stand_in_the_column_of_their_bin() -> None:
    [gpt] = [row for row in card("openai-mrcr").printed if row.model == "GPT-5.5"]
    assert list(gpt.scores.values()) == [98.1, 93.0, 96.5, 90.0, 83.1, 87.5, 81.5, 74.0]
    [mythos] = [row for row in card("anthropic-graphwalks").printed if row.model == "Claude Mythos 5"]
    assert mythos.scores == {"BFS 256k": 91.1, "BFS 1M": 79.4, "Parents 256k": 99.96, "Parents 1M": 97.5}
    [flash] = [row for row in card("google-mrcr").printed if row.model == "Gemini 3.6 Flash"]
    assert flash.scores == {"128k average": 91.8, "1M": 54.0}
    lines = card_table(BesideCard(card("anthropic-graphwalks"), [])).lines()
    [line] = [line for line in lines if line.startswith("Claude Mythos 5 ")]
    assert line.split()[3:7] == ["91.1", "79.4", "99.96", "97.5"]
    [nemotron] = [row for row in card("nvidia-ruler").printed if row.model.startswith("Nemotron 3 Super")]
    assert nemotron.scores == {"256k": 96.3, "512k": 95.67, "1M": 91.75}


def test_the_card_of_mrcr_has_anthropics_scores_on_the_same_files() -> None:
    [opus] = [row for row in card("openai-mrcr").printed if row.model == "Claude Opus 4.6"]
    assert opus.scores == {"256k": 91.9, "1M": 78.3}
    assert opus.source.startswith("Claude Opus 4.6 system card")


def test_rankings_name_the_source_of_a_card() -> None:
    results = run({256 * K: 0.5}, 10, task="published/graphwalks-bfs", scores={"graphwalks": 0.8})
    [board] = rankings(cell_scores(results), read_scores(["cards"]))
    lines = "\n".join(ranking_lines(board))
    assert "ranked among model cards's models" not in lines
    assert re.search(r"gpt-5\.5 .*0\.737.*Introducing GPT-5\.5 .*, F1, read 2026-11-29, in a copy", lines)
    [place] = [place for place in ranking_record(board)["models"] if place["model"] == "gpt-5.5"]
    assert (place["maker"], place["date"], place["rule"]) == ("OpenAI", "2026-04-23", "graphwalks")


# Scores of results


def mrcr(shares: dict[int, float], n: int = 20, rule: str = "openai", **more: Any) -> list[Result]:
    """Return replies whose score by a maker's rule is 1 for a share of them, and ours another."""
    params = "needles=8;depth=3;form=text" if rule == "gdm" else "needles=8"
    given = {"task": "michelangelo/mrcr", "params": params, "labels": {"needles": "8"}, **more}
    replies = run(shares, n, **given)
    return [replaced(one, {rule: one.score}) for one in replies]


def replaced(result: Result, scores: dict[str, float]) -> Result:
    return replace(result, scores=scores, score=0.25)


def beside(results: list[Result], name: str) -> BesideCard:
    [table] = beside_cards(results, [card(name)])
    return table


def scores_of(results: list[Result], name: str) -> dict[str, ColumnScore]:
    [row] = beside(results, name).rows
    return dict(row.scores)


def test_the_score_is_that_of_the_makers_rule() -> None:
    scores = scores_of(mrcr({8 * K: 0.5, M: 0.2}), "openai-mrcr")
    assert {name: score.mean for name, score in scores.items()} == {"8k": 0.5, "1M": 0.2}


def test_other_numbers_of_needles_do_not_count() -> None:
    two = mrcr({8 * K: 1.0}, params="needles=2", labels={"needles": "2"})
    assert beside_cards(two, [card("openai-mrcr")]) == []
    assert scores_of([*two, *mrcr({8 * K: 0.5})], "openai-mrcr")["8k"].mean == 0.5


def test_items_of_one_makers_card_do_not_count_in_anothers() -> None:
    """Both have eight needles, and Google's are one text, with a style as a third part of a key."""
    both = [replace(one, scores={"openai": 0.5, "gdm": 0.5}) for one in (*mrcr({M: 1.0}), *mrcr({M: 1.0}, rule="gdm"))]
    for name, params in (("openai-mrcr", "needles=8"), ("google-mrcr", "needles=8;depth=3;form=text")):
        [row] = beside(both, name).rows
        assert row.scores["1M"].n == 20
        assert row.series.variant == "", f"only {params}"


def test_attempts_without_the_makers_score_do_not_count() -> None:
    """Such as those of an earlier version, which did not know the rule: they are no zeros."""
    old = [replace(one, scores={}) for one in mrcr({8 * K: 1.0, M: 1.0})]
    assert beside_cards(old, [card("openai-mrcr")]) == []
    failed = [replace(one, scores={}, status="refused") for one in mrcr({8 * K: 1.0}, 10)]
    assert scores_of([*old, *failed, *mrcr({8 * K: 1.0}, 10)], "openai-mrcr")["8k"].n == 20


def test_deepseeks_mean_is_that_of_all_eight_bins() -> None:
    shares = dict(zip(BINS, (1.0, 0.9, 0.9, 0.8, 0.7, 0.6, 0.5, 0.2), strict=True))
    score = scores_of(mrcr(shares, 10), "deepseek-mrcr")["mean of 8 bins"]
    assert score.mean == pytest.approx(fmean(shares.values()))
    assert 0 < score.low < score.mean < score.high < 1
    assert score.n == 80


def test_the_mean_of_more_bins_has_a_narrower_interval_than_one_bin() -> None:
    scores = scores_of(mrcr(dict.fromkeys(BINS, 0.5), 20), "deepseek-mrcr")
    mean, one = scores["mean of 8 bins"], scores["8k"]
    assert mean.low >= one.low, "the instances of the bins are the same, and here they have the same scores"
    varied = [
        replaced(one, {"openai": float((i + i // 20) % 2)}) for i, one in enumerate(mrcr(dict.fromkeys(BINS, 0.5), 20))
    ]
    independent = scores_of(varied, "deepseek-mrcr")["mean of 8 bins"]
    assert independent.high - independent.low < one.high - one.low


def test_every_bin_of_a_mean_counts_the_same() -> None:
    """A run that was stopped has fewer replies where they cost most, which must not raise its score."""
    [few, many] = [
        scores_of([*mrcr(dict.fromkeys(BINS[:-1], 1.0), 20), *mrcr({M: 0.0}, n)], "deepseek-mrcr")["mean of 8 bins"]
        for n in (2, 20)
    ]
    assert few.mean == many.mean == pytest.approx(7 / 8)
    assert few.high - few.low > many.high - many.low
    assert (few.per_length, many.per_length) == (2, 20)


def test_the_interval_of_a_mean_covers_the_true_score() -> None:
    """Of instances that are easy or hard at every length, and of ones that are not."""
    rng, covered = random.Random(1), Counter[bool]()
    for spread in (0.0, 0.4):
        for _ in range(150):
            results = []
            for instance in range(25):
                chance = 0.5 + rng.choice((-spread, spread))
                results += [
                    reply(instance, float(rng.random() < chance), length=length, task="michelangelo/mrcr",
                          params="needles=8", labels={"needles": "8"})
                    for length in BINS
                ]  # fmt: skip
            score = scores_of([replaced(one, {"openai": one.score}) for one in results], "deepseek-mrcr")
            covered[score["mean of 8 bins"].low <= 0.5 <= score["mean of 8 bins"].high] += 1
    assert covered[True] / covered.total() > 0.92


def test_a_mean_is_absent_where_a_bin_is() -> None:
    [row] = beside(mrcr(dict.fromkeys(BINS[:5], 0.5)), "deepseek-mrcr").rows
    assert "mean of 8 bins" not in row.scores
    assert row.missing["mean of 8 bins"] == "no replies at 256k, 512k, 1M"
    [row] = beside(mrcr(dict.fromkeys(BINS[:5], 0.5), rule="gdm"), "google-mrcr").rows
    assert row.scores["128k average"].mean == 0.5
    assert row.missing == {"1M": "no replies at this length"}


def test_a_bin_that_did_not_fit_is_no_zero_in_a_mean() -> None:
    overflow = mrcr({M: 0.0}, status="overflow")
    [row] = beside([*mrcr(dict.fromkeys(BINS[:-1], 1.0)), *overflow], "deepseek-mrcr").rows
    assert row.missing == {
        "mean of 8 bins": "nothing was measured at 1M",
        "1M": "nothing was measured at this length",
    }


def test_a_length_of_a_thousand_thousands_stands_for_1m() -> None:
    table = beside(mrcr({1_000_000: 0.4}), "openai-mrcr")
    assert table.rows[0].scores["1M"].mean == 0.4
    assert any("1000000 stands beside 1M" in sentence for sentence in table.differs)


def walks(kind: str, share: float, params: str = "kind=exactly,parents,within") -> list[Result]:
    results = run({256 * K: share}, 10, task="carrara/walks", params=params, labels={"kind": kind} if kind else {})
    return [replaced(one, {"graphwalks": one.score, "anthropic": 1.0}) for one in results]


def test_operations_of_graphwalks_are_columns_of_their_own() -> None:
    results = [*walks("exactly", 0.3), *walks("parents", 0.9), *walks("within", 1.0)]
    by_openai = {name: score.mean for name, score in scores_of(results, "openai-graphwalks").items()}
    assert by_openai == {"BFS 256k": 0.3, "Parents 256k": 0.9}
    assert scores_of(results, "anthropic-graphwalks")["BFS 256k"].mean == 1.0
    assert scores_of(walks("", 0.4, "kind=exactly"), "openai-graphwalks").keys() == {"BFS 256k"}


def ruler(skip: tuple[str, ...] = ()) -> list[Result]:
    results = []
    for part in (name for name in TASKS if name not in skip):
        family, _, variant = part.partition("_")
        labels = {"variant": variant} if family == "niah" else {}
        share = 0.5 if part == "cwe" else 1.0
        made = run({256 * K: share}, 10, task=f"classic/{'niah' if labels else part}", labels=labels)
        results += [replaced(one, {"ruler": one.score}) for one in made]
    return results


def test_ruler_is_the_mean_of_thirteen_tasks() -> None:
    score = scores_of(ruler(), "nvidia-ruler")["256k"]
    assert score.mean == pytest.approx(12.5 / 13)
    assert score.low < score.mean < score.high
    assert score.n == 130


def test_tasks_of_ruler_that_are_missing_are_named() -> None:
    table = beside(ruler(("qa_1", "qa_2")), "nvidia-ruler")
    assert table.rows[0].scores["256k"].mean == pytest.approx(10.5 / 11)
    assert "2 of RULER's 13 tasks are not in the mean: qa_1, qa_2." in table.differs


def test_fewer_problems_and_the_generator_are_named() -> None:
    differs = " ".join(beside(mrcr({8 * K: 0.5}, 7), "openai-mrcr").differs)
    assert "of Carrara's own generator, not of OpenAI's files" in differs
    assert "8k: 7 of 100" in differs
    files = " ".join(beside(mrcr({8 * K: 0.5}, 100, task="published/mrcr-openai"), "openai-mrcr").differs)
    assert "generator" not in files
    assert "of 100" not in files


def test_parameters_and_what_lengths_hold_are_named() -> None:
    both, alone = ([replace(one, settings=settings) for one in mrcr({8 * K: 0.5})] for settings in (WITHIN, {}))
    lengths = {
        "count tokens of gpt2: prompt and answer together.": both,
        "count tokens of gpt2: the prompt alone.": alone,
        "count tokens of gpt2: the prompt, of some replies the answer too.": [*both, *alone],
    }
    for sentence, results in lengths.items():
        differs = " ".join(beside(results, "openai-mrcr").differs)
        assert sentence in differs
        assert "Parameters" not in differs
    keys = beside(mrcr({8 * K: 0.5}, params="needles=8;keys=4;overlap=both"), "openai-mrcr").differs
    assert "Parameters of items that card:openai-mrcr has not: keys=4, overlap=both." in keys
    assert not any("Parameters" in sentence for sentence in beside(ruler(), "nvidia-ruler").differs)


@pytest.mark.parametrize(
    ("name", "params"),
    [("openai-mrcr", "needles=2,8"), ("google-mrcr", "form=chat"), ("openai-graphwalks", "kind=within")],
)
def test_parameters_that_contradict_the_card_are_refused(name: str, params: str) -> None:
    parameter, _, value = params.partition("=")
    with pytest.raises(UsageError, match=f"card:{name} asks {parameter}=.* and {params} makes other items: leave it"):
        config(f"card:{name}", params={parameter: value}, lengths="8k", n=2).jobs  # noqa: B018
    assert config("card:openai-graphwalks", params={"kind": "parents"}, lengths="8k", n=2).jobs


def test_generated_items_and_those_of_files_are_rows_of_their_own() -> None:
    both = [*mrcr({8 * K: 0.5}), *mrcr({8 * K: 1.0}, task="published/mrcr-openai")]
    assert [(row.generated, row.scores["8k"].mean) for row in beside(both, "openai-mrcr").rows] == [
        (False, 1.0), (True, 0.5),
    ]  # fmt: skip


def test_lengths_that_the_card_lacks_have_columns_without_printed_scores() -> None:
    table = beside(mrcr({4 * K: 0.9, 8 * K: 0.5}), "openai-mrcr")
    assert table.columns == ["8k", "16k", "32k", "64k", "128k", "256k", "512k", "1M", "4k"]
    assert {name: score.mean for name, score in table.rows[0].scores.items()} == {"8k": 0.5, "4k": 0.9}
    assert not any("4k" in row.scores for row in table.card.printed)
    short = [replace(one, length=2 * K) for one in (*walks("exactly", 0.3), *walks("parents", 0.9))]
    assert {name: score.mean for name, score in scores_of(short, "openai-graphwalks").items()} == {
        "BFS 2k": 0.3, "Parents 2k": 0.9,
    }  # fmt: skip
    assert scores_of(mrcr({4 * K: 0.9}, rule="gdm"), "google-mrcr").keys() == {"4k"}


def test_a_run_of_no_card_has_no_table() -> None:
    assert Summary(mrcr({8 * K: 0.5})).beside_cards == []
    assert beside_cards([reply(0)], [card(name) for name in CARDS]) == []


# Runs


def solves(prompt: str) -> str:
    """Answer questions about generated graphs: parents rightly, and distances with one wrong node more."""
    edges = re.findall(r"\b([a-z]{6}) -> ([a-z]{6})\b", prompt)
    if asked := re.search(r"edge to ([a-z]{6})\?", prompt):
        return f"FINAL ANSWER: {', '.join(s for s, t in edges if t == asked[1]) or 'none'}"
    start = re.findall(r"away from ([a-z]{6})\?", prompt)[0]
    near, level = {start}, {start}
    for _ in range(3):
        level = {t for s, t in edges if s in level} - near
        near |= level
    return f"FINAL ANSWER: {', '.join([*sorted(level), start])}"


@pytest.mark.usefixtures("collected")
def test_a_shortened_card_from_run_to_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = carrara.run("card:openai-graphwalks", solves, lengths="2k,250k", n=4, tokenizer="gpt2", out=tmp_path)
    assert Counter(result.labels["kind"] for result in results) == {"parents": 4, "exactly": 4}
    assert all(result.settings["within"] == "answer" and result.tokens < result.length for result in results)
    [shown] = cards_of(tmp_path)
    assert shown.name == "openai-graphwalks"
    assert main(["report", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "Beside the card: OpenAI, GraphWalks, by its rule (paper score `graphwalks`) and in percent" in printed
    score = r"\d+\.\d \(\d+-\d+\)"
    row = rf"^function/solves +{score} +– +100\.0 \(34-100\) +– +{score} +100\.0 \(34-100\) +this run, generated$"
    assert re.search(row, printed, re.M)
    assert re.search(r"^GPT-5\.5 +73\.7 +45\.4 +90\.1 +58\.5 +– +– +2$", printed, re.M)
    assert "has no score in BFS 1M, Parents 1M: no replies at this length (it was run at 2k, 250k)." in printed
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Beside the card: OpenAI, GraphWalks" in page
    assert "Introducing GPT-5.5 (OpenAI, 23 April 2026), read 2026-11-29, in a copy" in page
    assert main(["report", str(tmp_path), "--json"]) == 0
    [table] = json.loads(capsys.readouterr().out)[0]["cards"]
    assert table["scores"][0]["columns"]["Parents 256k"]["mean"] == 1.0
    assert 0 < table["scores"][0]["columns"]["BFS 256k"]["mean"] < 1
    assert {row["model"] for row in table["printed"]} >= {"GPT-5.6 Sol", "GPT-5.5"}


@pytest.mark.usefixtures("collected")
def test_two_cards_in_one_folder_are_both_shown(tmp_path: Path) -> None:
    for name in ("openai-graphwalks", "anthropic-graphwalks"):
        carrara.run(f"card:{name}", solves, lengths="2k", n=2, tokenizer="gpt2", out=tmp_path)
    assert [shown.name for shown in cards_of(tmp_path)] == ["anthropic-graphwalks", "openai-graphwalks"]


@pytest.mark.usefixtures("collected")
def test_published_files_are_asked_as_they_are(tmp_path: Path) -> None:
    rows = [graphwalks(n, operation) for operation in ("bfs", "parents") for n in range(3)]
    path = jsonl(tmp_path / "rows.jsonl", rows)
    asked: dict[str, Any] = {"published": f"graphwalks:{path}", "lengths": "4k", "tokenizer": "o200k"}
    results = carrara.run("card:openai-graphwalks", "carrara/oracle", out=tmp_path / "run", **asked)
    assert Counter(result.task for result in results) == {
        "published/graphwalks-bfs": 3, "published/graphwalks-parents": 3,
    }  # fmt: skip
    assert all("within" not in result.settings for result in results)
    assert [shown.name for shown in cards_of(tmp_path / "run")] == ["openai-graphwalks"]


def mrcr_rows(path: Path, maker: str) -> Path:
    ask = "Prepend K3yK3yK3yK to the 1st (1 indexed) poem about bees. Do not include any other text in your response."
    turns = [("user", "write a poem about bees"), ("assistant", "Bees hum. " * 1200), ("user", ask)]
    prompt = json.dumps([{"role": role, "content": content} for role, content in turns])
    answer = f"K3yK3yK3yK{'Bees hum. ' * 1200}"
    openai = {"prompt": prompt, "answer": answer, "random_string_to_prepend": "K3yK3yK3yK", "n_needles": 8}
    gdm = {"queries": f"User: {ask}\nAssistant:", "answer": answer, "context_len": "8000", "num_relevant": "8"}
    return jsonl(path, [openai if maker == "openai" else gdm])


def test_a_card_takes_only_the_files_of_its_maker(tmp_path: Path) -> None:
    openai, gdm = mrcr_rows(tmp_path / "openai.jsonl", "openai"), mrcr_rows(tmp_path / "gdm.jsonl", "gdm")
    for name, path in (("openai-mrcr", openai), ("deepseek-mrcr", openai), ("google-mrcr", gdm)):
        [job] = config(f"card:{name}", published=f"mrcr:{path}").jobs
        assert (job.first.task, job.first.length, job.card) == (
            "published/mrcr-gdm" if path == gdm else "published/mrcr-openai", 8 * K, name,
        )  # fmt: skip
    with pytest.raises(UsageError, match="has no rows of published/mrcr-gdm, which card:google-mrcr asks"):
        config("card:google-mrcr", published=f"mrcr:{openai}")


def test_the_report_of_a_run_of_no_card_is_as_before(tmp_path: Path) -> None:
    carrara.run("niah", "carrara/oracle", n=1, out=tmp_path)
    assert cards_of(tmp_path) == []
    assert "cards" not in json.dumps(report(tmp_path).record())
