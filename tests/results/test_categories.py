"""Scores of a paper's categories: the mean of their tests."""

from dataclasses import replace

import pytest

from carrara.items import registry
from carrara.results import score_categories, summarize
from carrara.results.intervals import wilson
from carrara.results.result import Result
from tests.report.test_report import run, text_of_page
from tests.tasks.minerva.test_suite import CATEGORIES


def of(category: str, shares: dict[str, dict[int, float]], n: int = 20) -> list[Result]:
    return [
        replace(result, category=category)
        for task, lengths in shares.items()
        for result in run(lengths, n, task=f"suite/{task}")
    ]


def test_each_test_counts_the_same() -> None:
    results = of("search", {"one": {0: 1.0}}, 100) + of("search", {"other": {0: 0.5}}, 20) + of("edit", {"a": {0: 0.0}})
    edit, search = score_categories(summarize(results))
    assert (edit.category, edit.mean, edit.tasks) == ("edit", 0.0, ("suite/a",))
    assert (search.category, search.mean) == ("search", 0.75)
    assert (search.low, search.high) == wilson(0.75, 4 / (1 / 100 + 1 / 20))
    assert search.chance_level == pytest.approx(0.05)


def test_a_length_that_not_all_tests_have_has_no_score() -> None:
    results = of("search", {"one": {1024: 1.0, 4096: 0.5}, "other": {1024: 0.0}}) + of("edit", {"a": {4096: 0.0}})
    assert [(one.category, one.length, one.mean) for one in score_categories(summarize(results))] == [
        ("edit", 4096, 0.0),
        ("search", 1024, 0.5),
    ]


def test_tests_as_long_as_their_steps_count_at_every_length() -> None:
    results = of("both", {"one": {1024: 1.0, 4096: 0.5}, "steps": {0: 0.0}}) + of("steps", {"more": {0: 0.2}})
    assert [(one.category, one.length, one.mean) for one in score_categories(summarize(results))] == [
        ("both", 1024, 0.5),
        ("both", 4096, 0.25),
        ("steps", 0, 0.2),
    ]


def test_one_category_is_none() -> None:
    assert score_categories(summarize(of("search", {"one": {0: 1.0}, "other": {0: 1.0}}))) == []
    assert score_categories(summarize(run({0: 1.0}))) == []


def test_the_page_has_them() -> None:
    results = of("search", {"one": {0: 1.0}, "other": {0: 0.5}}) + of("edit", {"a": {0: 0.0}})
    page = text_of_page(results)
    assert "By category" in page
    assert "model search 0 0.750" in page
    assert "one, other" in page
    assert "By category" not in text_of_page(run({0: 1.0}))


def test_minervas_categories_are_the_papers() -> None:
    names = [registry.load(f"minerva/{tasks.split()[0]}").category for _, tasks in CATEGORIES.values()]
    assert len(set(names)) == len(CATEGORIES)
    for name, (_, tasks) in zip(names, CATEGORIES.values(), strict=True):
        assert {registry.load(f"minerva/{task}").category for task in tasks.split()} == {name}
