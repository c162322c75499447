"""What memories kept: outcomes of answers, quantiles, costs of a right answer, and paired differences."""

import math
import random
from dataclasses import replace
from typing import Any

import pytest

from carrara.results.memories import PRIVATE, SCORE, TOKENS, Outcome, cost_of_right, memory_rows, outcome_of, quantile
from carrara.results.result import FactTrace, Fate, ReadingCost, Result, StoreCost
from carrara.runs.replies import check_result
from tests.helpers import results


def reply(instance: int, reason: str = "said", score: float = 0.0, *, reader: str = "memory:a", **more: Any) -> Result:
    settings, store = {"reader": reader}, StoreCost((0.1, 0.2), 0.5, 10, 2, 40)
    fields: dict[str, Any] = {
        "answer": "A",
        "settings": settings,
        "labels": {"answer": reason},
        "reading": ReadingCost(1, 9, store),
    }
    return results.reply(instance, score, **(fields | more))


@pytest.mark.parametrize(
    ("answer", "error", "detail", "outcome"),
    [
        ("said", "stale by 3", "", "stale"),
        ("said", "later by 1", "", "mutated"),
        ("said", "hearsay", "", "mutated"),
        ("said", "corrected mistake", "", "mutated"),
        ("said", "never said", "", "invented"),
        ("said", "not a possible answer", "", "invented"),
        ("said", "abstained", "", "abstained"),
        ("said", "off the record", "", "private served"),
        ("said", "", "", "otherwise wrong"),
        ("withdrawn", "should have abstained", "stale by 1", "withdrawn served"),
        ("withdrawn", "should have abstained", "stale by 2", "stale"),
        ("never said", "should have abstained", "hearsay", "invented"),
        ("only off the record", "should have abstained", "off the record", "private served"),
        ("then off the record", "stale by 1", "", "stale"),
    ],
)
def test_outcomes_by_error_type(answer: str, error: str, detail: str, outcome: Outcome) -> None:
    assert outcome_of(reply(0, answer, error_type=error, detail=detail)) == outcome
    assert outcome_of(reply(0, answer, 1.0)) == "right"
    assert outcome_of(reply(0, answer, status="unparsed", answer=None)) == "no answer"


@pytest.mark.parametrize(
    ("fates", "outcome"),
    [
        (("used", "stale"), "stale"),
        (("mutated", "unseen"), "mutated"),
        (("unused", "dropped"), "lost"),
        (("unused",), "otherwise wrong"),
        ((), "otherwise wrong"),
    ],
)
def test_outcomes_by_fate(fates: tuple[Fate, ...], outcome: Outcome) -> None:
    facts = tuple(FactTrace(n, 0.5, fate) for n, fate in enumerate(fates))
    assert outcome_of(reply(0, "garden", facts=facts)) == outcome


def test_failed_requests_are_in_no_share() -> None:
    failed = [replace(reply(n), status="error", reading=None) for n in range(3)]
    [row] = memory_rows([*(reply(n, score=1.0) for n in range(3, 8)), *failed])
    assert (row.replies, row.failed, row.instances) == (5, 3, 5)
    assert [(kind.kind, kind.n, kind.shares["right"].value) for kind in row.kinds] == [("said", 5, 1.0)]


def test_readers_without_a_store_are_no_memories() -> None:
    notes = [reply(n, reader="notes", reading=ReadingCost(3)) for n in range(3)]
    assert memory_rows(notes) == []
    assert [row.series.variant for row in memory_rows([*notes, *map(reply, range(3))])] == ["memory:a"]


def test_differences_are_paired_by_instance() -> None:
    first = [reply(n, score=float(n < 4), kept_private=(0, 1)) for n in range(8)]
    second = [
        reply(n, score=float(n < 6), reader="memory:b", kept_private=(int(n % 2), 1), error_type="stale by 1")
        for n in range(10)
    ]
    a, b = memory_rows([*second, *first])
    assert (a.first, a.differences, b.first) == (None, (), a.series)
    changes = {(entry.kind, entry.what): entry.difference for entry in b.differences}
    assert {key: (change.mean, change.instances) for key, change in changes.items()} == {
        ("", SCORE): (0.25, 8),
        ("", PRIVATE): (0.5, 8),
        ("said", "right"): (0.25, 8),
        ("said", "stale"): (0.25, 8),
        ("said", "otherwise wrong"): (-0.5, 8),
    }


def test_questions_on_one_context_are_one_instance() -> None:
    [row] = memory_rows([reply(n, score=float(n % 2), question=q) for n in range(10) for q in range(4)])
    share = row.kinds[0].shares["right"]
    [alone] = memory_rows([reply(n, score=float(n % 2)) for n in range(10)])
    assert share.n == 40
    assert share.low == pytest.approx(alone.kinds[0].shares["right"].low, abs=0.01)


@pytest.mark.parametrize(("p", "n", "spread"), [(0.5, 30, 0.0), (0.95, 200, 0.0), (0.5, 200, 0.5), (0.95, 600, 0.5)])
def test_a_quantile_is_covered(p: float, n: int, spread: float) -> None:
    """Values of 20 instances, which share a part of the variation, or of as many instances as there are values."""
    rng = random.Random(f"{p} {n} {spread}")
    of_normal = 0.0 if p == 0.5 else 1.6448536
    right = of_normal * math.sqrt(1 + spread**2)
    covered = known = 0
    for _ in range(300):
        shared = [rng.gauss(0, spread) if spread else 0.0 for _ in range(20)]
        values = [(str(k % 20 if spread else k), rng.gauss(0, 1) + shared[k % 20]) for k in range(n)]
        measure = quantile(values, p)
        assert measure is not None
        if measure.low is not None and measure.high is not None:
            known += 1
            covered += measure.low <= right <= measure.high
    assert known > 150
    assert covered / known > 0.92


def test_a_quantile_of_few_values_has_no_interval() -> None:
    for n, p, has in ((5, 0.5, False), (6, 0.5, True), (71, 0.95, False), (72, 0.95, True)):
        measure = quantile([(str(k), float(k)) for k in range(n)], p)
        assert measure is not None
        assert (measure.low is not None) == has
    assert quantile([], 0.5) is None


def test_the_cost_of_a_right_answer_is_covered() -> None:
    rng, covered = random.Random(1), 0
    for _ in range(400):
        replies = [
            reply(k // 2, score=float(rng.random() < 0.6), question=k % 2, input_tokens=round(rng.gauss(1000, 100)))
            for k in range(80)
        ]
        measure = cost_of_right(replies, lambda result: result.input_tokens)
        assert measure is not None
        assert measure.low is not None
        assert measure.high is not None
        assert measure.low < measure.value < measure.high
        covered += measure.low <= 1000 / 0.6 <= measure.high
    assert 0.92 < covered / 400 < 0.98


def test_a_cost_without_right_answers_or_unknown_is_none() -> None:
    assert cost_of_right([reply(0), reply(1)], lambda result: 5) is None
    assert cost_of_right([reply(0, score=1.0)], lambda result: None) is None
    one_right = cost_of_right([reply(0, score=1.0), reply(1)], lambda result: 5)
    assert one_right is not None
    assert (one_right.value, one_right.low) == (10, None)


def test_measures_are_those_of_the_store() -> None:
    [row] = memory_rows([reply(n, score=1.0, input_tokens=90, output_tokens=10) for n in range(12)])
    values = {name: (measure.value, measure.n) for name, measure in row.measures.items()}
    expected = {
        "seconds to answer": (0.5, 12),
        "bytes kept for a byte of text": (0.25, 12),
        "entries kept": (2, 12),
        TOKENS: (100, 12),
    }
    assert {name: values[name] for name in expected} == expected
    assert values["seconds to add a passage"] == (pytest.approx(0.15), 24)  # type: ignore[comparison-overlap]


@pytest.mark.parametrize(
    "store",
    [StoreCost((-0.1,)), StoreCost(bytes=-1), StoreCost(answer_seconds=math.inf), StoreCost(text_bytes=1 << 60)],
)
def test_a_store_out_of_range_is_refused(store: StoreCost) -> None:
    check_result(reply(0))
    with pytest.raises(ValueError, match="out of range"):
        check_result(reply(0, reading=ReadingCost(1, 9, store)))
