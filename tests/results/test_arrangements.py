"""The paired penalty of distance, on replies whose scores are known."""

from dataclasses import replace

import pytest

from carrara.report.tables import summary_lines
from carrara.results import summarize
from carrara.results.arrangements import arrangement_penalties
from carrara.results.comparison import compare
from carrara.results.differences import difference, length_effects
from carrara.results.result import Result
from carrara.results.summary import Summary
from carrara.runs.comparison_inputs import sides_of
from carrara.types import Arrange
from carrara.util.errors import UsageError
from tests.results.test_comparison import curve


def arranged(kind: Arrange, right: dict[int, int], model: str = "m", n: int = 20) -> list[Result]:
    return [replace(one, arrange=kind) for one in curve(model, right, n, arrange=kind)]


def test_the_penalty_is_riffle_minus_block_on_the_same_instances() -> None:
    block, riffle = arranged("block", {4096: 20, 8192: 18}), arranged("riffle", {4096: 20, 8192: 8})
    same, less = arrangement_penalties([*riffle, *block])
    assert (same.length, same.block, same.riffle, same.difference.mean) == (4096, 1.0, 1.0, 0.0)
    assert (less.length, less.block, less.riffle) == (8192, 0.9, 0.4)
    assert less.difference.mean == pytest.approx(-0.5)
    assert less.difference.clear
    assert less.difference == difference(block[20:], riffle[20:])
    assert less.record()["instances"] == 20


def test_only_instances_that_have_both_count() -> None:
    block, riffle = arranged("block", {4096: 20}), arranged("riffle", {4096: 5})[:10]
    riffle[0] = replace(riffle[0], status="error", score=0.0)
    [one] = arrangement_penalties([*block, *riffle])
    assert (one.difference.instances, one.block) == (9, 1.0)
    assert one.riffle == pytest.approx(4 / 9)


def test_one_arrangement_has_no_penalty() -> None:
    assert arrangement_penalties(arranged("block", {4096: 20})) == []
    assert arrangement_penalties([*arranged("block", {4096: 20}), *arranged("riffle", {8192: 20})]) == []
    assert arrangement_penalties(curve("m", {4096: 20})) == []
    assert "Penalty" not in "\n".join(summary_lines(Summary(curve("m", {4096: 20}))))


def test_arrangements_are_series_of_their_own() -> None:
    results = [*arranged("block", {4096: 20}), *arranged("riffle", {4096: 5}), *curve("m", {4096: 10}, 20)]
    rows = {str(row.series): (row.stat.mean, row.arrange) for row in summarize(results)}
    assert rows == {"m (as drawn)": (0.5, ""), "m (block)": (1.0, "block"), "m (riffle)": (0.25, "riffle")}
    assert length_effects(results) == []
    alone = summarize(arranged("block", {4096: 20}))
    assert [str(row.series) for row in alone] == ["m"]


def test_models_have_penalties_of_their_own() -> None:
    results = [one for model in ("a", "b") for kind in ("block", "riffle") for one in arranged(kind, {4096: 10}, model)]
    found = arrangement_penalties(results)
    assert [(str(one.series), str(one.riffled)) for one in found] == [("a", "a (riffle)"), ("b", "b (riffle)")]
    lines = "\n".join(summary_lines(Summary(results)))
    assert "riffle - block" in lines
    only = arrangement_penalties([one for one in results if one.model == "a"], among=results)
    assert only == found[:1]


def test_arrangements_of_one_model_are_compared() -> None:
    results = [*arranged("riffle", {4096: 4}), *arranged("block", {4096: 20}), *curve("m", {4096: 12}, 20)]
    found = compare(sides_of([("run", results)], "arrangement"), by="arrangement")
    assert found.sides == ["block", "riffle", "as drawn"]
    assert [(row.first, row.second, row.instances) for row in found.lengths] == [
        ("block", "riffle", 20),
        ("block", "as drawn", 20),
    ]
    assert found.lengths[0].difference == pytest.approx(-0.8)
    with pytest.raises(UsageError, match="only arrangements of one model are compared"):
        sides_of([("run", [*results, *curve("other", {4096: 12})])], "arrangement")


def test_models_are_compared_on_items_of_the_same_arrangement() -> None:
    ones = [*arranged("block", {4096: 20}, "a"), *arranged("riffle", {4096: 0}, "a")]
    others = arranged("block", {4096: 10}, "b")
    for by_instance in (False, True):
        [row] = compare(sides_of([("run", [*ones, *others])]), by_instance).lengths
        assert (row.items, row.one, row.other) == (20, 1.0, 0.5)
