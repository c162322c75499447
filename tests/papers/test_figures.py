"""Figures by name: the papers' tables cell by cell, each figure of made-up runs, files, and what cannot be drawn."""

import csv
import json
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tools.gallery import BABILONG, FIVE, LENGTHS, MODELS, made_up, reply, results_for, trained

import carrara
from carrara.cli.main import main
from carrara.operations.results import Results
from carrara.papers.figures.config import figure
from carrara.papers.figures.definitions import definitions
from carrara.papers.figures.figure import Figure, Mark
from carrara.papers.figures.files import save
from carrara.papers.figures.marks import MOST_PUBLISHED, FigureData
from carrara.papers.figures.picture import svg
from carrara.papers.scores import claimed_length, read_scores
from carrara.results.curve_crossing import crossings
from carrara.results.result import Result
from carrara.results.rows import summarize_by_labels
from carrara.util.errors import UsageError

Capture = pytest.CaptureFixture[str]
TABLES = files("carrara.papers") / "tables"
DRAWN = [name for name, one in definitions().items() if one.is_drawn]


def printed(paper: str, table: str) -> dict[tuple[str, str, str], float]:
    """A table of a paper, as its file has it: by model, task and length."""
    rows = csv.DictReader((TABLES / f"{paper}.csv").read_text("utf-8").splitlines())
    names = csv.DictReader((TABLES / "models.csv").read_text("utf-8").splitlines())
    same = {row["printed"]: row["name"] for row in names if row["paper"] == paper}
    return {
        (same[row["model"]], row["task"], row["length"]): float(row["score"]) for row in rows if row["table"] == table
    }


def names(figure: Figure) -> set[str]:
    return {mark.model for mark in figure.marks}


# --- the papers' own tables ---


def test_a_table_is_printed_as_it_was() -> None:
    shown = carrara.figure("babilong-2")
    cells = {(mark.model, "QA1-QA5", shown.format_x(mark.x)): 100 * mark.value for mark in shown.marks}
    assert cells == pytest.approx(printed("babilong", "Table 2"))
    assert len(cells) == 285

    shown = carrara.figure("sync-3")
    cells = {(mark.model, mark.panel, shown.format_x(mark.x)): 100 * mark.value for mark in shown.marks}
    assert cells == pytest.approx(printed("sync", "Table 3"), abs=0.051)  # of two printed ways the finer counts
    assert len(cells) == 108

    shown = carrara.figure("minerva-2")
    cells = {(mark.model, str(mark.x), "4k"): 100 * mark.value for mark in shown.marks}
    assert cells == pytest.approx(printed("minerva", "Table 2"))
    assert len(cells) == 36


def test_differences_are_those_in_brackets() -> None:
    """Of Minerva's Tables 2 and 4, three rows that this repository's own table does not hold."""
    said = {(mark.model, mark.x): mark.label for mark in carrara.figure("minerva-2").marks}
    assert said["gpt-4o-mini", "String search (sequence)"] == "0.64 (−0.34)"
    assert said["Mistral-7B-Instruct-v0.2", "Batch search"] == "0.47 (−0.45)"
    said = {(mark.model, mark.x): mark.label for mark in carrara.figure("minerva-4").marks}
    assert said["Phi-3-small-128k-instruct", "Group association (alternating)"] == "0.68 (+0.13)"


def test_scores_at_two_lengths_are_not_subtracted() -> None:
    """The bracket of Minerva's tables is a difference at one length."""
    word, sequence = "minerva/word_search", "minerva/sequence_search"
    for length, label in ((4096, "0.00 (−1.00)"), (8192, "0.00")):
        replies = [reply("m", word, i, 4096, 1.0) for i in range(3)]
        replies += [reply("m", sequence, i, length, 0.0) for i in range(3)]
        shown = figure("minerva-2", FigureData(replies, []))
        assert [mark.label for mark in shown.marks] == ["1.00", label]


def test_needles_of_other_variants_are_not_multi_value_ones() -> None:
    variants = (("multivalue", 1.0), ("single_1", 0.0))
    replies = [reply("m", "classic/niah", i, 65536, score, labels={"variant": name})
               for name, score in variants for i in range(3)]  # fmt: skip
    [mark] = figure("sync-table-4", FigureData(replies, [])).marks
    assert (mark.panel, mark.value, mark.n) == ("RULER NIAH Multi-Value", 1.0, 3)


def test_correlations_are_means_over_lengths_that_all_tests_have() -> None:
    graph = ("sync/graph:connected", "sync/graph:shortest")
    replies = [reply(model, task, i, length, float(i < right))
               for right, model in enumerate("abcdef")
               for task in graph
               for length in ((32768, 65536) if task == graph[0] else (32768,))
               for i in range(6)]  # fmt: skip
    shown = figure("sync-figure-4", FigureData(replies, []))
    assert shown.notes == ["Without lengths that not all tasks were run at: 64k."]
    assert {mark.value for mark in shown.marks} == {1.0}


def test_the_papers_correlations_are_computed_anew() -> None:
    for name in ("sync-figure-4", "sync-figure-5", "sync-figure-6"):
        assert "6 pairs are of tasks" in carrara.figure(name).notes[0]
        assert "6 are the same" in carrara.figure(name).notes[0]


def test_effective_sizes_are_babilongs() -> None:
    """Section 3.1: the best use half of what they claim on QA1; no model is satisfactory on QA3 with any filler."""
    evidence = FigureData([], read_scores(["babilong"]), ["Qwen2.5-72B", "Llama-3.1-70B"])
    one = figure("babilong-figure-2", evidence)
    assert "Qwen2.5-72B-Instruct 64k (50 % of its claimed 128k)" in one.notes[0]
    assert "Llama-3.1-70B-Instruct 16k (12 % of its claimed 128k)" in one.notes[0]
    assert "nothing" in one.notes[2]
    assert claimed_length("Qwen2.5-72B-Instruct") == 128 << 10
    assert claimed_length("anything else") is None


# --- one's own ---


def results_of_an_odd_name(name: str) -> list[Result]:
    odd = "mockllm/odd <b>&'\""
    return [replace(one, model=odd) if one.model == "mockllm/medium" else one for one in results_for(name)]


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.sampled(3)
def test_each_figure_is_drawn_of_what_was_run(name: str, tmp_path: Path) -> None:
    shown = figure(name, FigureData(results_of_an_odd_name(name), ()))
    assert shown.name == name
    assert names(shown)
    if shown.form not in ("histogram", "scatter"):  # of two values in one place one would be drawn upon the other
        places = [(mark.model, mark.published, mark.panel, mark.part, mark.x) for mark in shown.marks]
        assert len(places) == len(set(places))
    assert all(-1 <= mark.value <= 1 for mark in shown.marks) or shown.maximum is None
    root = ElementTree.fromstring(svg(shown))
    text = " ".join(root.itertext())
    assert shown.title[:20] in text
    for model in names(shown) - {"all models"} if shown.form != "matrix" else ():
        assert model in text
    page = save(shown, tmp_path / "figure.html").read_text()
    assert "<b>" not in page
    assert "<script" not in page
    table = list(csv.DictReader(save(shown, tmp_path / "figure.csv").read_text().splitlines()))
    assert len(table) == len(shown.marks) == len(json.loads(save(shown, tmp_path / "f.json").read_text())["values"])
    assert str(shown).startswith(shown.title)


def test_a_mean_is_over_all_tests_alike() -> None:
    own = [result for result in made_up() if result.model == "mockllm/steady" and result.length == 4 << 10]
    shown = figure("babilong-2", FigureData(own, ()))
    by_test = {task: [r.score for r in own if r.task == task] for task in FIVE}
    assert [mark.value for mark in shown.marks] == pytest.approx([sum(sum(s) / len(s) for s in by_test.values()) / 5])
    fewer = [result for result in own if result.task != "babilong/qa5"]
    assert "QA1, QA2, QA3, QA4" in figure("babilong-2", FigureData(fewer, ())).notes[0]


def test_trainings_are_gathered_by_all_but_their_seed() -> None:
    [mark] = figure("babilong-figure-5", FigureData(trained(), ())).marks
    assert (mark.model, mark.panel, mark.x, mark.n) == ("qa1-rmt", "QA1", 4096, 3)
    assert (mark.value, mark.low, mark.high) == pytest.approx((0.4, 0.2, 0.6))


def test_perplexity_stands_beside_errors() -> None:
    """The first falls with length, the other does not: what section 6.1 of Michelangelo says of them."""
    shown = figure("michelangelo-section-6.1", FigureData(made_up(), ()))
    cost = [mark for mark in shown.marks if mark.panel == "MRCR: perplexity of the prompt" and "sinking" in mark.model]
    assert [mark.value for mark in cost] == pytest.approx([math.exp(3 - place / 4) for place in range(4)])
    wrong = [mark.value for mark in shown.marks if mark.panel == "MRCR: error" and "sinking" in mark.model]
    assert wrong == sorted(wrong)
    assert "20.1 at the shortest length, 9.49 at the longest" in " ".join(shown.notes)


def test_published_models_stand_beside_and_are_marked() -> None:
    scores = read_scores(["babilong"])
    shown = figure("babilong-2", FigureData(made_up(), scores))
    published = {mark.model for mark in shown.marks if mark.published}
    assert len(published) == 8
    assert not published & set(MODELS)
    assert "with the score `paper`" in shown.notes[-1]
    asked = figure("babilong-2", FigureData(made_up(), scores, ["rmt (137m)", "gpt-4-"]))
    assert {mark.model for mark in asked.marks if mark.published} == {
        "RMT (137M) fine-tune", "ARMT (137M) fine-tune", "gpt-4-0125-preview"
    }  # fmt: skip


def curves(ones: Sequence[float], others: Sequence[float], noise: float = 0.1) -> list[Result]:
    rng = random.Random(1)
    lengths = [1024 * 2**k for k in range(len(ones))]
    return [
        reply(model, "michelangelo/mrcr", instance, length, min(1.0, max(0.0, mean + rng.uniform(-noise, noise))))
        for model, means in (("a", ones), ("b", others))
        for length, mean in zip(lengths, means, strict=True)
        for instance in range(60)
    ]


def test_curves_cross_where_they_were_made_to() -> None:
    [one] = crossings(curves((0.9, 0.8, 0.4, 0.3), (0.6, 0.6, 0.6, 0.6)))
    assert one.length is not None
    assert 2048 < one.low <= one.length <= one.high < 4096
    assert one.share == 1
    assert not one.parallel


def test_parallel_curves_are_said_to_be() -> None:
    [one] = crossings(curves((0.9, 0.8, 0.6, 0.5), (0.7, 0.6, 0.4, 0.3)))
    assert one.length is None
    assert one.parallel
    assert one.gap == pytest.approx(-0.2, abs=0.02)


def test_noise_alone_is_no_crossing() -> None:
    [one] = crossings(curves((0.9, 0.9), (0.5, 0.5), 0.3))
    assert one.length is None
    assert one.share < 0.05


def test_runs_for_one_figure_stay_out_of_the_others() -> None:
    task = "minerva/word_search"
    plain = [reply("m", task, n, 4096, 1.0, labels={"answer": "yes"}) for n in range(4)]
    other = [reply("m", task, n, 4096, 0.0, "phrasing=2") for n in range(4)]
    gibberish = [reply("m", task, n, 4096, 0.5, "words=gibberish") for n in range(4)]
    evidence = FigureData([*plain, *other, *gibberish], ())
    assert [(m.model, m.value) for m in figure("minerva-2", evidence).marks] == [("m", 1.0)]
    assert {(m.x, m.value) for m in figure("minerva-8", evidence).marks} == {("wording 1", 1.0), ("wording 2", 0.0)}
    assert {m.value for m in figure("minerva-3", evidence).marks} == {1.0, 0.5}
    assert [m.value for m in figure("minerva-2", FigureData(other, ())).marks] == [0.0]


def test_lengths_are_chosen() -> None:
    shown = carrara.figure("sync-3", lengths="64k")
    assert {mark.x for mark in shown.marks} == {64 << 10}
    own = figure("babilong-4", FigureData(made_up(), ()).at_lengths([4 << 10]))
    assert {mark.x for mark in own.marks} == {4 << 10}


def test_slices_cross() -> None:
    rows = summarize_by_labels(made_up(), ["size", "answer"])
    assert {row.task for row in rows} == {"minerva/sequence_search"}
    assert sum(row.stat.n for row in rows) == 6 * len(LENGTHS) * len(MODELS)
    with pytest.raises(UsageError, match="no task has all of size, complexity"):
        summarize_by_labels(made_up(), ["size", "complexity"])
    with pytest.raises(UsageError, match="did you mean complexity"):
        summarize_by_labels(made_up(), ["complexitty"])
    assert "complexity" in Results(made_up()).table("complexity")


# --- by command ---


def test_a_figure_of_a_paper_takes_no_run(tmp_path: Path, capsys: Capture) -> None:
    assert main(["figure", "minerva-2", "--out", str(tmp_path / "table.csv"), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["figure"] == "minerva-table-2"
    assert len(shown["values"]) == 36
    assert (tmp_path / "table.csv").read_text().startswith("model,task,score,low,high,n,published\n")


def test_no_name_in_a_table_is_a_formula(tmp_path: Path) -> None:
    names = ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "openai/gpt-4o"]
    shown = Figure("babilong-2", "Title", "curves", [Mark(name, 4096, -0.5) for name in names])
    with save(shown, tmp_path / "figure.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    shown_names = [row["model"] for row in rows]
    assert shown_names[:4] == ["'=HYPERLINK(1)", "'+1", "'-1", "'@SUM(1)"]
    assert shown_names[4:] == ["'\t=1", "'␍=1", "openai/gpt-4o"]
    assert {row["score"] for row in rows} == {"-0.5"}


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        (["babylon-2"], "'babylon-2'; did you mean"),
        (["babilong-2", "nowhere"], "no directory nowhere"),
        (["babilong-2", "--published", "sync"], "--published sync"),
        (["babilong-2", "--published", "GPT-4,"], "an empty name"),
        (["babilong-2", "--score", "papers"], '"paper"'),
        (["babilong-7"], "carrara describe"),
        (["sync-figure-3"], "carrara run sync"),
        (["babilong-2", "--out", "x.gif"], ".gif"),
    ],
)
def test_what_cannot_be_drawn_is_a_sentence(asked: list[str], key: str, capsys: Capture) -> None:
    assert main(["figure", *asked]) == 2
    error = capsys.readouterr().err
    assert key in error
    assert len(error.splitlines()) == 1


def test_the_best_published_models_are_eight_without_runs_too() -> None:
    """Otherwise a figure without runs shows all of the paper's models."""
    for name in ("babilong-2", "babilong-figure-3b", "minerva-table-11"):
        best = {mark.model for mark in carrara.figure(name, published="best").marks}
        assert 0 < len(best) <= MOST_PUBLISHED
        assert best <= {mark.model for mark in carrara.figure(name).marks}
    assert len({mark.model for mark in carrara.figure("babilong-2").marks}) > MOST_PUBLISHED


def test_published_models_are_chosen() -> None:
    shown = carrara.figure("babilong-2", lengths="64k", published=["GPT-4"])
    assert names(shown) == {"gpt-4o-mini-2024-07-18", "gpt-4-0125-preview"}
    shown = carrara.figure("babilong-2", on("babilong/qa1"))
    assert not any(mark.published for mark in shown.marks)


def test_all_are_listed(capsys: Capture) -> None:
    assert main(["figure", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {entry["name"] for entry in listed} == set(definitions())
    assert all(entry["says"] and entry["command"].startswith(("carrara ", "python -m benchmarks.")) for entry in listed)
    assert [name for name, entry in definitions().items() if entry.differs] == DRAWN


def test_from_python_a_folder_is_no_number() -> None:
    with pytest.raises(UsageError, match="no folder"):
        carrara.figure("babilong-2", "nowhere")


# --- published values beside one's own ---


def on(*tasks: str, model: str = "mockllm/steady") -> list[Result]:
    return [result for result in made_up() if result.task in tasks and result.model == model]


def test_published_means_are_over_the_tests_that_were_run() -> None:
    """With QA1 alone, one's own QA1 stood beside published means of QA1 to QA5."""
    scores = read_scores(["babilong"])
    asked = FigureData(on("babilong/qa1"), scores, ["Qwen2.5-72B"])
    shown = figure("babilong-2", asked)
    expected = {x: score for (model, task, x), score in printed("babilong", "Table 4").items()
                if (model, task) == ("Qwen2.5-72B-Instruct", "QA1")}  # fmt: skip
    marks = {mark.x: 100 * mark.value for mark in shown.marks if mark.published}
    assert marks[4 << 10] == pytest.approx(expected["4k"])
    assert marks[32 << 10] == pytest.approx(expected["32k"])
    assert shown.title == "BABILong: accuracy on QA1"
    assert "Only of QA1, which was run." in shown.notes


def test_models_are_compared_on_the_tests_that_all_were_run_on() -> None:
    own = [*on("babilong/qa1", "babilong/qa2"), *on("babilong/qa2", "babilong/qa3", model="mockllm/weak")]
    shown = figure("babilong-2", FigureData(own, read_scores(["babilong"])))
    assert "Only of QA2, which was run; not QA1, QA3, which only some models were run on." in shown.notes
    assert len({mark.model for mark in shown.marks if not mark.published}) == 2
    apart = [*on("babilong/qa1"), *on("babilong/qa2", model="mockllm/weak")]
    with pytest.raises(UsageError, match="no task was run with all of them; run each of QA1, QA2"):
        figure("babilong-2", FigureData(apart, ()))


def test_a_published_mean_alone_is_refused() -> None:
    scores = [score for score in read_scores(["babilong"]) if score.table == "Table 2"]
    with pytest.raises(UsageError, match="only the mean of QA1 to QA5 is published"):
        figure("babilong-2", FigureData(on("babilong/qa1"), scores, ["Qwen2.5-72B"]))


def test_medians_are_over_the_same_tests() -> None:
    shown = figure("babilong-figure-6", FigureData(on(*BABILONG), read_scores(["babilong"])))
    tasks: dict[str, set[Any]] = {}
    for mark in shown.marks:
        tasks.setdefault(mark.model, set()).add(mark.x)
    assert set(map(frozenset, tasks.values())) == {frozenset(FIVE.values())}
    assert "medians are over the same" in shown.notes[0]
    with pytest.raises(UsageError, match="alone, and QA7 were run"):
        figure("babilong-figure-6", FigureData(on("babilong/qa7"), read_scores(["babilong"])))


@pytest.mark.parametrize(
    ("name", "tasks"),
    [
        ("babilong-4", ["babilong/qa2"]),
        ("sync-3", ["sync/graph:shortest"]),
        ("minerva-2", ["minerva/key_value"]),
        ("minerva-7", ["minerva/count"]),
        ("minerva-8", ["minerva/word_search"]),
    ],
)
def test_only_published_values_of_what_was_run_stand_beside(name: str, tasks: list[str]) -> None:
    shown = figure(name, FigureData(on(*tasks), read_scores([name.partition("-")[0]])))
    own, theirs = (
        {mark.x if name == "minerva-2" else mark.panel for mark in shown.marks if mark.published == whose}
        for whose in (False, True)
    )
    assert own == theirs


def test_published_values_of_another_length_are_refused() -> None:
    own = [result for result in on("minerva/key_value") if result.length == 32 << 10]
    with pytest.raises(UsageError, match="minerva-table-2 has no published values of what was run"):
        figure("minerva-2", FigureData(own, read_scores(["minerva"])))


def test_the_line_of_guessing_is_of_the_complexity_that_is_shown() -> None:
    evidence = FigureData(on("michelangelo/latent_list"), read_scores(["michelangelo"]))
    lines = {number: list(figure(f"michelangelo-{number}", evidence).levels.values()) for number in (4, 10, 11, 12)}
    assert lines == {
        number: [pytest.approx(one)] for number, one in {4: 0.122, 10: 0.169, 11: 0.113, 12: 0.085}.items()
    }
