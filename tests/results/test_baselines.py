"""What those score who do not do the task: from a question to the report."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from carrara.items.grading import trivial
from carrara.items.item import make
from carrara.report.page import render
from carrara.report.tables import score_lines
from carrara.results import record, summarize, trivial_baselines
from carrara.results.baselines import BestBaseline, TrivialBaseline
from carrara.results.result import Result
from carrara.results.summary import Summary
from carrara.runs.replies import read_results
from tests.helpers.process import carrara
from tests.report.test_report import run, text_of, text_of_page

Scores = dict[str, dict[str, float]]


def graded(task: str, **params: str) -> Scores:
    item = make(task, length=1024, params=params)
    return {name: dict(scores) for name, scores in trivial(item.task, item.question).items()}


def test_a_reply_that_says_both_fools_the_published_score_alone() -> None:
    assert graded("minerva/word_search", gold="yes") == {
        "always yes": {"score": 1, "minerva": 1},
        "yes or no": {"score": 0, "minerva": 1},
    }
    assert graded("minerva/word_search", gold="no") == {
        "always yes": {"score": 0, "minerva": 0},
        "yes or no": {"score": 0, "minerva": 1},
    }


def test_copies_and_whole_lists_are_worth_nothing_soundly() -> None:
    copied = graded("minerva/replace", density="0.2", to="word")
    assert copied["the context as it is"]["minerva"] > 0.7
    assert copied["one word over and over"]["minerva"] == pytest.approx(1 / 3, abs=0.05)
    assert graded("minerva/two_lists")["the whole list"]["minerva"] == 1
    found = [copied, graded("minerva/two_lists"), graded("minerva/set_state"), graded("minerva/theory_of_mind")]
    assert all(scores["score"] == 0 for replies in found for scores in replies.values())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a run on the oracle."""
    out = tmp_path_factory.mktemp("run")
    asked = ["--model", "carrara/oracle", "-n", "4", "--lengths", "0,1k", "-p", "depth=0.5", "--out", out]
    ended = carrara("run", "minerva/word_search,minerva/replace", *asked, check=True)
    assert "0.500 always yes" in ended.stdout
    return out


def reported(folder: Path, *more: str) -> str:
    return carrara("report", folder, *more, check=True).stdout


def test_a_run_keeps_the_figures_and_no_replies(folder: Path) -> None:
    results = read_results(folder)
    assert len(results) == 16
    assert all(result.score == 1 for result in results)
    names = {result.task: set(result.trivial) for result in results if result.labels.get("to") != "nothing"}
    assert names == {
        "minerva/word_search": {"always yes", "yes or no", "the prompt said back"},
        "minerva/replace": {"the context as it is", "one word over and over", "the prompt said back"},
    }


def test_the_table_and_the_page_tell(folder: Path) -> None:
    lines = [line.split() for line in reported(folder).splitlines()[2:6]]
    beside = [(line[1], line[2], " ".join(line[5:-2])) for line in lines]
    assert beside == [
        ("minerva/replace", "0", "0.000 0.000"),
        ("minerva/replace", "1k", "0.000 0.000"),
        ("minerva/word_search", "0", "0.500 0.500 always yes"),
        ("minerva/word_search", "1k", "0.500 0.500 always yes"),
    ]
    text = text_of((folder / "report.html").read_text(encoding="utf-8"))
    assert "0.510–1.000 0.500 0.500 always yes 1.000" in text
    section = text.partition("What trivial replies score")[2]
    assert "yes or no 0 to 1k 0.000 1.000 0.500 8" in section
    assert "always yes 0 to 1k 0.500 0.500 0.500 8" in section
    note = "“yes or no” scores 1.00 by the paper score (minerva), 0.00 by ours, in minerva/word_search"
    assert note in text.rpartition("Score against length")[0]
    assert "a model with no more shows nothing" not in text  # always yes is at the chance level, which is no news


def test_json_has_every_name_with_both_scores(folder: Path) -> None:
    rows = json.loads(reported(folder, "--json"))
    assert [row["trivial"] for row in rows if row["task"] == "minerva/word_search"] == 2 * [
        {
            "always yes": {"score": 0.5, "minerva": 0.5},
            "yes or no": {"score": 0.0, "minerva": 1.0},
            "the prompt said back": {"score": 0.0, "minerva": 1.0},
        }
    ]


def beside(results: list[Result], trivial: Scores) -> list[Result]:
    return [replace(result, trivial=trivial) for result in results]


WELL = {"every word": {"score": 0.5, "paper": 0.6}, "nothing": {"score": 0.0, "paper": 0.0}}


def test_the_best_stands_beside_the_chance_level() -> None:
    results = [*beside(run({0: 0.5}), WELL), *run({0: 0.5}, task="suite/other")]
    other, row = summarize(results)
    assert row.stat.best_trivial == BestBaseline("every word", 0.5)
    assert other.stat.best_trivial is None
    assert (record(row)["trivial"], record(other)["trivial"]) == (WELL, {})
    text = text_of_page(results)
    assert "model 0.50 0.30–0.70 0.05 0.50 every word" in text
    assert "0.299–0.701 0.050 0.500 every word 0.250 20" in text
    assert "0.299–0.701 0.050 0.250 20" in text


def test_a_grid_of_many_rows_has_the_best_of_any_length() -> None:
    tasks = [f"suite/{name}" for name in "abcdefgh"]
    results = [result for task in tasks for result in run({0: 1.0, 1024: 0.5, 2048: 0.5, 4096: 0.5}, n=4, task=task)]
    assert "trivial" not in "\n".join(score_lines(summarize(results)))
    results = [
        *results[16:],
        *beside(results[:8], {"every word": {"score": 0.2}}),
        *beside(results[8:16], {"every word": {"score": 0.3}}),
    ]
    shown = list(score_lines(summarize(results)))
    assert shown[1].split() == ["task", "chance", "trivial", "0", "1k", "2k", "4k"]
    assert shown[3].split() == ["suite/a", "0.050", "0.300", "every", "word", "1.000", "0.500", "0.500", "0.500"]
    assert shown[4].split() == ["suite/b", "0.050", "1.000", "0.500", "0.500", "0.500"]
    assert shown[-1].split() == ["mean", "of", "8", "1.000", "0.500", "0.500", "0.500"]


def test_a_test_on_which_a_trivial_reply_scores_well_is_named() -> None:
    text = text_of_page(beside(run({0: 0.5, 1024: 0.5}), WELL))
    assert "“every word” scores 0.50 in suite/test (chance level 0.05)" in text
    later = {"every word": {"score": 0.0, "paper": 0.6}}
    text = text_of_page([*beside(run({0: 0.5}), WELL), *beside(run({1024: 0.5}), later)])
    assert "The trivial reply “every word” scores 0.50 in suite/test at 0 (chance level 0.05)" in text
    assert "“every word” scores 0.60 by the paper score (paper), 0.00 by ours" in text


@pytest.mark.parametrize(
    ("own", "low", "chance_level", "well"),
    [
        (0.5, 0.4, 0.5, False),  # always yes, of a balanced task
        (0.67, 0.2, 0.5, False),  # of three that were drawn two are yes
        (0.67, 0.6, 0.5, True),
        (0.3, 0.1, 0.0, True),
        (0.06, 0.03, 0.0, False),
    ],
)
def test_what_counts_as_scoring_well(own: float, low: float, chance_level: float, well: bool) -> None:
    assert TrivialBaseline("suite/test", "yes", (0,), 9, own, low, chance_level, {}).scores_well is well


@pytest.mark.parametrize(("own", "published", "fooled"), [(0, 0.5, 1), (0, 0.49, 0), (0.3, 0.5, 0), (0.7, 1.0, 1)])
def test_what_counts_as_fooled(own: float, published: float, fooled: int) -> None:
    line = TrivialBaseline("suite/test", "yes", (0,), 9, own, 0, 0.5, {"paper": published})
    assert line.fools == ["paper"] * fooled


def test_questions_count_once_and_lengths_apart_where_they_differ() -> None:
    one = {"every word": {"score": 0.10, "paper": 0.2}}
    results = [*beside(run({0: 1.0, 1024: 1.0}), one), *beside(run({0: 0.0}, model="lab/other"), one)]
    [line] = trivial_baselines(results)
    assert (line.lengths, line.n, line.published) == ((0, 1024), 40, {"paper": 0.2})
    assert line.score == pytest.approx(0.1)
    more = beside(run({2048: 1.0}), {"every word": {"score": 0.16, "paper": 0.2}})
    assert [(line.lengths, line.n) for line in trivial_baselines([*results, *more])] == [
        ((n,), 20) for n in (0, 1024, 2048)
    ]


def test_a_name_is_text() -> None:
    page = render(Summary(beside(run({0: 0.5}), {"<script>x</script>": {"score": 0.6, "<b>": 1.0}})), "t")
    assert "<script>x" not in page
    assert "Paper score: &lt;b&gt;" in page
