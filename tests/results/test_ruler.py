"""RULER's table: the mean of thirteen tasks, averages over lengths, and what is missing."""

import csv
from collections.abc import Sequence
from dataclasses import replace

import pytest

from carrara.report.page import render
from carrara.report.tables import summary_lines
from carrara.results.result import Result
from carrara.results.ruler import TASKS, RulerRow, ruler_rows
from carrara.results.summary import Summary
from tests.report.test_report import run

PRINTED = """\
Jamba-1.5-large,96.7,96.6,96.4,96.0,95.4,95.1,96.0,95.7,96.3
GPT-4-1106-preview,96.6,96.3,95.2,93.2,87.0,81.2,91.6,89.0,94.1
Llama3.1 (70B),96.5,95.8,95.4,94.8,88.4,66.6,89.6,85.5,93.7
Mistral-Large-2407,96.2,96.1,95.1,93.0,78.8,23.7,80.5,70.6,90.4
GradientAI/Llama3 (8B),92.8,90.3,85.7,79.9,76.3,69.5,82.4,78.5,86.3
DBRX,95.1,93.8,83.6,63.1,2.4,0.0,56.3,38.0,74.7
LongAlpaca,60.6,57.0,56.6,43.6,0.0,0.0,36.3,24.7,47.9
"""
"""Rows of the table in RULER's README: six lengths, the average, and the weighted averages."""


@pytest.mark.parametrize("row", list(csv.reader(PRINTED.splitlines())), ids=lambda row: row[0])
def test_averages_are_those_of_the_published_table(row: Sequence[str]) -> None:
    *scores, average, increasing, decreasing = map(float, row[1:])
    found = RulerRow("", "", {4096 << n: score for n, score in enumerate(scores)}, ())
    assert found.average == pytest.approx(average, abs=0.06)
    assert found.increasing == pytest.approx(increasing, abs=0.06)
    assert found.decreasing == pytest.approx(decreasing, abs=0.06)


def of(name: str, lengths: dict[int, float], score: float = 1.0, **changes: str) -> list[Result]:
    """Return results of one of RULER's tasks, with RULER's score."""
    task, _, variant = name.partition("_") if name.startswith("niah") else (name, "", "")
    found = run(lengths, 20, task=f"classic/{task}")
    labels = {"variant": variant} if variant else {}
    return [replace(one, labels=labels, scores={"ruler": score}, **changes) for one in found]  # type: ignore[arg-type]


def test_the_mean_is_that_of_thirteen_tasks() -> None:
    results = [one for n, name in enumerate(TASKS) for one in of(name, {4096: float(n < 9), 8192: 0.0})]
    own, theirs = ruler_rows(results)
    assert (own.means, own.missing, own.metric) == ({4096: pytest.approx(9 / 13), 8192: 0.0}, [], "")
    assert (theirs.means, theirs.metric) == ({4096: 1.0, 8192: 1.0}, "ruler")
    assert own.increasing == pytest.approx(3 / 13)
    assert own.decreasing == pytest.approx(6 / 13)


def test_what_is_missing_is_named_and_counts_at_no_length() -> None:
    results = [one for name in TASKS[:11] for one in of(name, {4096: 1.0, 8192: 1.0})]
    results += of("qa_1", {4096: 0.0})
    own, _ = ruler_rows(results)
    assert (own.means, own.missing) == ({4096: 1.0, 8192: 1.0}, ["qa_1", "qa_2"])
    lines = "\n".join(summary_lines(Summary(results)))
    assert "11 of 13  100.0  100.0  100.0" in lines
    assert lines.endswith("2 of RULER's 13 tasks are not in the mean: qa_1, qa_2")


def test_other_runs_have_no_such_table() -> None:
    some = [one for name in ("niah_multivalue", "vt") for one in of(name, {4096: 1.0})]
    assert ruler_rows(some) == []
    assert ruler_rows(run({4096: 1.0}, 5, task="babilong/qa1")) == []
    assert "RULER" not in "\n".join(summary_lines(Summary(some)))


def test_the_page_of_a_report_has_the_table() -> None:
    results = [one for name in TASKS[:12] for one in of(name, {4096: 0.5, 8192: 0.25})]
    page = render(Summary(results), "runs/ruler")
    assert "RULER's table" in page
    assert "12 of 13" in page
    assert "Not in the mean of" in page
    assert "RULER's table" not in render(Summary(run({4096: 1.0}, 5, task="classic/vt")), "runs/vt")


def test_each_model_has_rows_of_its_own() -> None:
    results = [one for name in TASKS for one in of(name, {4096: 1.0})]
    results += [replace(one, model="other") for one in results]
    assert [(row.model, row.metric) for row in ruler_rows(results)] == [
        *((results[0].model, metric) for metric in ("", "ruler")),
        *(("other", metric) for metric in ("", "ruler")),
    ]
