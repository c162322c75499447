"""Statistics: known values, properties, and coverage by simulation."""

import math
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import mean, stdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrara.answers.status import Status
from carrara.readers.retrieval import Retrieval
from carrara.results import (
    Requirements,
    effective_lengths,
    length_effects,
    model_effects,
    record,
    series_of,
    stat,
    summarize,
)
from carrara.results.differences import difference
from carrara.results.effective import FEWEST, BaseScore
from carrara.results.intervals import Z, effective_n, student, sufficient_n, wilson
from carrara.results.result import Result
from carrara.results.scores import by_metric, instances_needed
from carrara.util.errors import RunError, UsageError
from tests.helpers.results import reply


# Newcombe (1998), table I, method 3: the score interval without continuity correction.
@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_published_values(hits: int, n: int, low: float, high: float) -> None:
    assert wilson(hits / n, n) == pytest.approx((low, high), abs=5e-5)


@given(st.floats(0, 1), st.floats(1, 1e6))
def test_wilson_is_the_inverse_of_the_score_test(share: float, n: float) -> None:
    low, high = wilson(share, n)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1
    for bound in (low, high):
        if 1e-9 < bound < 1 - 1e-9:
            assert abs(share - bound) == pytest.approx(Z * math.sqrt(bound * (1 - bound) / n), rel=1e-3, abs=1e-9)
    assert wilson(1 - share, n) == pytest.approx((1 - high, 1 - low), abs=1e-9)


def binary(rights: Sequence[bool]) -> list[Result]:
    return [reply(n, float(right)) for n, right in enumerate(rights)]


def test_as_many_as_suffice_and_no_more() -> None:
    """Whatever the mean is, 381 scores have an interval of ± .05, and 380 do not where half of them are right."""

    def width(hits: int, n: int) -> float:
        low, high = wilson(hits / n, n)
        return high - low

    assert max(width(hits, 381) for hits in range(382)) <= 0.1 < width(190, 380)
    for mean_score, half in ((0.5, 0.02), (0.9, 0.05), (1.0, 0.05), (0.03, 0.1)):
        n = sufficient_n(mean_score, half)
        narrow, wide = (wilson(mean_score, size) for size in (n, n - 1))
        assert narrow[1] - narrow[0] <= 2 * half < wide[1] - wide[0]


@pytest.mark.parametrize(("share", "pilot"), [(0.5, 20), (0.8, 20), (0.95, 20), (0.95, 100), (1.0, 20)])
def test_the_instances_that_an_earlier_run_says_are_enough(share: float, pilot: int) -> None:
    """The next run's interval is at most ± .05 nineteen times of twenty, and holds the true mean as often."""
    rng, narrow, covered, sizes = random.Random(5), 0, 0, list[int]()
    for _ in range(1000):
        n = instances_needed(binary([rng.random() < share for _ in range(pilot)]), 0.05)
        low, high = wilson(sum(rng.random() < share for _ in range(n)) / n, n)
        narrow += high - low <= 0.1
        covered += low <= share <= high
        sizes.append(n)
    assert narrow >= 940
    assert covered >= 930
    assert max(sizes) <= 381
    assert (mean(sizes) < 0.75 * 381) == (share > 0.9)


def test_questions_on_one_context_that_agree_count_once() -> None:
    rng = random.Random(3)
    rights = [rng.random() < 0.7 for _ in range(60)]
    agreeing = [replace(reply(n, float(rights[n])), id=f"{n}.{k}") for n in range(60) for k in range(5)]
    assert instances_needed(agreeing, 0.05) >= instances_needed(binary(rights), 0.05)
    apart = [replace(one, score=float(rng.random() < 0.7)) for one in agreeing]
    assert instances_needed(apart, 0.05) < instances_needed(agreeing, 0.05) / 3


@pytest.mark.parametrize(
    ("degrees", "point"),
    [
        (1, 12.7062),
        (4, 2.7764),
        (30, 2.0423),
        (200, 1.9719),
        (10**9, 1.9600),
    ],
)
def test_student_gives_tabled_values(degrees: int, point: float) -> None:
    assert student(degrees) == pytest.approx(point, abs=6e-5)


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=6), min_size=1, max_size=30))
def test_clusters_never_count_for_more_than_their_scores(clusters: list[list[float]]) -> None:
    n = sum(map(len, clusters))
    worth = effective_n(clusters)
    assert 1 - 1e-9 <= worth <= n + 1e-9
    if len(clusters) == n:
        assert worth == pytest.approx(n)


def test_effective_n_of_agreeing_questions_is_the_number_of_contexts() -> None:
    rng = random.Random(0)
    agreeing = [[float(rng.random() < 0.5)] * 8 for _ in range(400)]
    assert effective_n(agreeing) == pytest.approx(400, rel=0.02)
    apart = [[float(rng.random() < 0.5) for _ in range(8)] for _ in range(400)]
    assert effective_n(apart) > 2500
    assert effective_n([[1.0] * 5] * 4) == 4  # nothing tells how much they agree
    assert effective_n([[0.0, 1.0, 1.0]]) == 1
    assert effective_n([[1.0] * 8, [1.0], [1.0]]) == pytest.approx(100 / 66)


def coverage(draw: Callable[[], list[list[float]]], truth: float, rounds: int) -> float:
    covered = 0
    for _ in range(rounds):
        clusters = draw()
        scores = [score for cluster in clusters for score in cluster]
        low, high = wilson(math.fsum(scores) / len(scores), effective_n(clusters))
        covered += low <= truth <= high
    return covered / rounds


@pytest.mark.parametrize("n", [10, 30, 100])
def test_coverage_of_right_or_wrong_scores(n: int) -> None:
    rng = random.Random(n)
    found = [
        coverage(lambda p=p: [[float(rng.random() < p)] for _ in range(n)], p, 400)  # type: ignore[misc]
        for p in (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95)
    ]
    assert mean(found) == pytest.approx(0.95, abs=0.015)
    assert min(found) > 0.89  # the binomial is discrete: single points lie on either side


@pytest.mark.parametrize(("a", "b"), [(0.3, 0.3), (2, 5), (8, 2), (0.5, 4)])
@pytest.mark.parametrize("n", [10, 40])
def test_coverage_of_graded_scores_is_conservative(a: float, b: float, n: int) -> None:
    rng = random.Random(n)
    assert coverage(lambda: [[rng.betavariate(a, b)] for _ in range(n)], a / (a + b), 500) > 0.94


@pytest.mark.parametrize("contexts", [10, 20, 50])
@pytest.mark.parametrize("alike", [0.0, 0.2, 0.5, 0.9])
@pytest.mark.sampled(4)
def test_coverage_of_clustered_scores(contexts: int, alike: float) -> None:
    """Five questions a context that agree as much as `alike`, their intraclass correlation."""
    rng = random.Random(contexts)

    def draw(p: float) -> list[list[float]]:
        k = (1 - alike) / alike if alike else 0.0
        rates = [rng.betavariate(p * k, (1 - p) * k) if alike else p for _ in range(contexts)]
        return [[float(rng.random() < rate) for _ in range(5)] for rate in rates]

    found = [coverage(lambda p=p: draw(p), p, 300) for p in (0.2, 0.5, 0.8)]  # type: ignore[misc]
    assert mean(found) > 0.93
    assert min(found) > 0.90


def test_both_means_and_all_statuses() -> None:
    statuses: list[Status] = ["ok", "ok", "unparsed", "truncated", "refused", "filtered", "overflow", "error"]
    found = stat([reply(i, 0.8, status=status, chance_level=0.25) for i, status in enumerate(statuses)])
    assert (found.n, found.attempts, found.answers_read, found.contexts) == (7, 4, 2, 7)
    assert sum(found.others.values()) == 6
    assert found.mean == pytest.approx(1.6 / 7)  # a failed request is no reply, and any other status scores 0
    assert found.attempts_mean == pytest.approx(0.4)
    assert found.chance_level == 0.25
    assert found.guessing
    assert found.statuses == {"ok": 2} | dict.fromkeys(statuses[2:], 1)
    failed = stat([reply(0, 0.0, status="error")])
    assert (failed.mean, failed.attempts_mean) == (0, None)


def test_published_scores_count_what_never_became_a_reply() -> None:
    results = [
        reply(0, scores={"paper": 1.0, "strict": 0.5}),
        reply(1, scores={"paper": 0.0}),
        reply(2, 0.0, status="overflow"),
        reply(3, 0.0, status="error"),
    ]
    assert stat(results).published == pytest.approx({"paper": 1 / 3, "strict": 0.25})


def test_the_papers_score_counts_where_it_is_asked_for() -> None:
    """By it an answer may be right that was not read soundly; what is no answer is wrong by any; others keep theirs."""
    results = [
        reply(0, 1.0, scores={"paper": 0.0}),
        reply(1, 0.0, status="unparsed", scores={"paper": 1.0}),
        reply(2, 0.0, status="refused"),
        reply(3, 0.5, scores={"paper": 0.5}),
        reply(0, 1.0, task="suite/other", scores={"mine": 0.0}),
    ]
    other, task = summarize(by_metric(results, "paper"))
    assert (task.stat.mean, task.metric, record(task)["metric"]) == (1.5 / 4, "paper", "paper")
    assert task.stat.attempts_mean == 0.5
    assert task.stat.mean == stat(results[:4]).published["paper"]
    assert task.stat.statuses == {"ok": 2, "unparsed": 1, "refused": 1}
    assert (other.stat.mean, other.metric, "metric" in record(other)) == (1.0, "", False)
    assert by_metric(by_metric(results, "paper"), "own") == results
    (effect,) = length_effects(
        by_metric([reply(0, scores={"gdm": 0.25}), reply(0, length=4096, scores={"gdm": 0.75})], "paper")
    )
    assert effect.difference.mean == 0.5


def test_recall_is_of_retrieval_and_not_of_the_reply() -> None:
    statuses: list[Status] = ["ok", "refused", "overflow", "unparsed"]
    found = {"recall": 1.0, "recall, share": 1.0}
    results = [reply(i, status=status, scores=found | {"paper": 1.0}) for i, status in enumerate(statuses)]
    results += [reply(8, scores={"recall": 0.0, "recall, share": 0.5, "paper": 1.0}), reply(9, status="error")]
    assert stat(results).recall == pytest.approx({"recall": 4 / 5, "recall, share": 9 / 10})
    assert stat(results).published == pytest.approx({"paper": 3 / 5})
    assert stat([reply(0)]).recall == {}


def asked(instance: int, retrieve: str) -> Result:
    return reply(instance, settings={"reader": f"retrieval:{retrieve}"} if retrieve else {})


def test_retrieval_is_always_part_of_the_name() -> None:
    results = [asked(0, str(Retrieval.parse("sentences")))]
    assert [str(row.series) for row in summarize(results)] == ["m (retrieval:sentences)"]
    results.append(asked(0, ""))
    assert [str(row.series) for row in summarize(results)] == ["m", "m (retrieval:sentences)"]
    assert record(summarize(results)[1])["variant"] == "retrieval:sentences"


def test_retrievals_are_told_apart_by_what_differs() -> None:
    sentences = [
        Retrieval.parse("sentences", by="openai:m@http://127.0.0.1:1/v1", top=top, order=order)
        for order in ("score", "position")
        for top in (5, 20)
    ]
    chunks = [
        Retrieval.parse("chunks:64"),
        Retrieval.parse("chunks:64", overlap=8),
        Retrieval.parse("chunks:64:o200k"),
    ]
    names = [
        {str(row.series) for row in summarize([asked(0, str(way)) for way in ways])} for ways in (sentences, chunks)
    ]
    assert names == [
        {f"m (retrieval:sentences, order={order}, top={top})" for order in ("score", "position") for top in (5, 20)},
        {
            "m (retrieval:chunks:64:gpt2)",
            "m (retrieval:chunks:64:gpt2, overlap=8)",
            "m (retrieval:chunks:64:o200k)",
        },
    ]


@pytest.mark.parametrize("score", [1.5, -0.1, math.nan, math.inf])
def test_a_score_out_of_range_is_named(score: float) -> None:
    with pytest.raises(RunError, match=r"suite/test@1/test-0-7\.0/0/chat/gpt2 has the score"):
        stat([reply(7, score)])


def test_questions_on_one_context_are_one_cluster() -> None:
    found = stat([reply(instance, float(instance % 2), question=q) for instance in range(10) for q in range(4)])
    assert (found.n, found.contexts) == (40, 10)
    assert found.n_effective == pytest.approx(10)
    assert found.high - found.low > 0.45


def test_rows_are_models_by_tests_by_lengths() -> None:
    results = [
        reply(i, model=model, task=task, length=length)
        for model in ("b", "a")
        for task in ("s/two", "s/one")
        for length in (8192, 0, 4096)
        for i in range(3)
    ]
    rows = summarize(results)
    assert [(row.task, row.model, row.length) for row in rows] == [
        (task, model, length) for task in ("s/one", "s/two") for model in ("a", "b") for length in (0, 4096, 8192)
    ]
    assert all(row.stat.n == 3 and row.variant == "" for row in rows)
    random.Random(0).shuffle(results)
    assert summarize(results) == rows


def test_slices_by_labels() -> None:
    results = [reply(i, float(i % 2), labels={"hops": str(i % 12), "odd": str(i % 2)}) for i in range(24)]
    rows = summarize([*results, reply(99)], by=["hops"])
    assert [row.labels["hops"] for row in rows] == [*map(str, range(12)), ""]
    assert [row.stat.mean for row in summarize(results, by=["odd"])] == [0, 1]
    assert record(rows[3]) == record(rows[3]) | {"model": "m", "task": "suite/test", "labels": {"hops": "3"}, "n": 2}


@pytest.mark.parametrize(
    ("other", "variants"),
    [
        ({"tokenizer": "o200k"}, {"gpt2", "o200k"}),
        ({"style": "base"}, {"chat", "base"}),
        ({"params": "complexity=5"}, {"default parameters", "complexity=5"}),
    ],
)
def test_a_model_run_in_two_ways_is_not_averaged_over_them(other: dict[str, Any], variants: set[str]) -> None:
    results = [reply(0, 1.0), reply(0, 0.0, **other), reply(0, model="n", **other)]
    rows = summarize(results)
    assert {row.variant for row in rows if row.model == "m"} == variants
    assert {row.variant for row in rows if row.model == "n"} == {""}
    assert {str(row.series) for row in rows} == {"n", *(f"m ({variant})" for variant in variants)}
    assert {row.stat.n for row in rows} == {1}


def test_replies_made_elsewhere_have_series_too() -> None:
    assert series_of([one := replace(reply(0), id="17")])(one) == ("m", "")


def test_length_effects_are_paired_by_world() -> None:
    rng = random.Random(4)
    easy = [rng.random() for _ in range(12)]
    before = [reply(i, score) for i, score in enumerate(easy)]
    after = [reply(i, max(0, score - 0.1 - 0.01 * i), length=4096) for i, score in enumerate(easy)]
    [effect] = length_effects([*before, *after, reply(77, length=4096)])
    per_instance = [b.score - a.score for a, b in zip(before, after, strict=True)]
    half = 2.2010 * stdev(per_instance) / math.sqrt(12)  # t(11)
    assert (effect.base, effect.length, effect.difference.instances) == (0, 4096, 12)
    assert effect.difference.mean == pytest.approx(mean(per_instance))
    assert effect.difference.low is not None
    assert effect.difference.high is not None
    assert effect.difference.low <= mean(per_instance) - half + 1e-4  # at least as wide as Student's
    assert mean(per_instance) + half - 1e-4 <= effect.difference.high < 0
    assert effect.difference.clear


def test_questions_are_averaged_within_their_world() -> None:
    first = [reply(0, 0.0, question=q) for q in range(9)] + [reply(1, 0.0)]
    second = [reply(0, 1.0, question=q, model="n") for q in range(9)] + [reply(1, 0.0, model="n")]
    found = difference(first, second)
    assert found is not None
    assert (found.instances, found.mean) == (2, 0.5)


def test_models_are_compared_on_what_both_were_asked() -> None:
    results = [reply(i, 0.0, length=length) for i in range(5) for length in (0, 1024)]
    results += [reply(i, 1.0, length=1024, model="n", tokenizer="o200k") for i in range(3, 9)]
    results += [reply(50, 1.0, model="z")]
    found = {(str(effect.first), str(effect.second)): effect.difference for effect in model_effects(results)}
    both = found["m", "n"]
    assert both is not None
    assert (both.instances, both.mean) == (2, 1.0)
    assert both.reversed.mean == -1
    assert found["m", "z"] is None
    assert found["n", "z"] is None


def test_a_reply_that_is_not_ok_counts_as_0_in_differences() -> None:
    found = difference([reply(0), reply(1)], [reply(0, status="refused"), reply(1, status="unparsed")])
    assert found is not None
    assert found.mean == -1


def test_one_world_bears_no_interval() -> None:
    found = difference([reply(0)], [reply(0, 0.0)])
    assert found is not None
    assert found.low is None
    assert not found.clear
    assert found.reversed.high is None


def curve(means: Sequence[float], chance_level: float = 0.05, n: int = 100) -> list[Result]:
    """A model that scores so at 0, 1k, 2k, 3k …"""
    return [
        reply(i, float(i < share * n), length=1024 * step, chance_level=chance_level)
        for step, share in enumerate(means)
        for i in range(n)
    ]


@pytest.mark.parametrize(
    ("means", "shown", "interval", "note"),
    [
        ((0.8, 0.79, 0.1), "1.3k", "< 1k – 2k", ""),
        ((0.8, 0.8, 0.9), "≥ 2k", "", ""),
        ((0.8, 0.1, 0.1), "< 1k", "", ""),
        ((0.8, 0.2, 0.8, 0.1), "< 1k", "", "its scores do not fall as a curve does: look at each length"),
        ((0.4, 0.4), "not usable", "", "40 % correct without filler"),
        ((0.0, 0.0), "not usable", "", "0 % correct without filler"),
        ((0.75, 0.75), "too few items to say", "", "75 % of 100 correct without filler; about 323 items instead"),
        ((0.7, 0.7), "too few items to say", "", "70 % of 100 correct without filler; more than 10,000 items"),
        ((0.8,), "one length", "", "80 % correct at 0, the only length that was run"),
    ],
)
def test_effective_length(means: tuple[float, ...], shown: str, interval: str, note: str) -> None:
    [found] = effective_lengths(summarize(curve(means)))
    assert (str(found), found.interval) == (shown, interval)
    assert (found.reason or found.note).startswith(note)


def test_a_point_below_the_threshold_by_chance_decides_nothing() -> None:
    """30 instances: 1.00, .77, .73 at 0, 8k and 32k, which by points alone would be an effective length of 0."""
    results = [
        reply(i, float(i < right), length=length, chance_level=0.05)
        for length, right in ((0, 30), (8192, 23), (32768, 22))
        for i in range(30)
    ]
    [found] = effective_lengths(summarize(results))
    assert found.estimate is not None
    assert found.estimate.low < 8192 < 16384 < found.estimate.high


def test_what_does_not_fit_counts_nothing_and_is_said() -> None:
    results = curve((0.8, 0.8)) + [replace(one, status="overflow") for one in curve((0.0, 0.0, 0.0))[200:]]
    [found] = effective_lengths(summarize(results))
    assert found.estimate is not None
    assert 1024 <= found.estimate.length < 2048
    assert found.note == "2k did not fit and counts 0"


def test_no_effective_length_if_85_percent_of_the_base_is_the_chance_level() -> None:
    results = curve((0.55, 0.5), chance_level=0.48, n=2500)
    [found] = effective_lengths(summarize(results), Requirements(min_base_score=0.5))
    assert (found.usability, found.estimate) == ("not usable", None)
    assert found.reason.endswith("what has to be kept of it is near the chance level (48 %)")
    [found] = effective_lengths(summarize(results))
    assert found.sentence == "not usable: 55 % correct without filler"


@pytest.mark.parametrize(
    ("right", "usability"), [(10, "usable"), (9, "too few items"), (5, "too few items"), (4, "not usable")]
)
def test_ten_items_are_usable_if_all_are_right(right: int, usability: str) -> None:
    [found] = effective_lengths(summarize(curve((right / 10, 0.4), chance_level=0.167, n=10)))
    assert found.usability == usability
    assert found.record()["status"] == usability


@pytest.mark.parametrize("right", [0.0, 1.0])
@pytest.mark.parametrize("n", [2, 4, 5])
def test_fewer_than_five_items_decide_nothing(right: float, n: int) -> None:
    """All of two are wrong in 9 % of cases at a true score of 0.7, and right in 9 % of cases at 0.3."""
    requirements = Requirements(min_base_score=0.7 if right == 0 else 0.3)
    [found] = effective_lengths(summarize(curve((right, right), n=n)), requirements)
    decided = "usable" if right else "not usable"
    assert found.usability == (decided if n >= FEWEST else "too few items")
    assert n >= FEWEST or f"about 5 items instead of {n} would do" in found.reason


@given(st.floats(0, 1), st.integers(1, 400), st.floats(0.05, 0.95))
def test_the_items_that_would_do_are_as_few_as_can_be(share: float, n: int, required: float) -> None:
    def judged(items: int) -> BaseScore:
        return BaseScore(0, share, items, items, 0.0, None, required)

    if judged(n).usability == "too few items" and (needed := judged(n).items_needed):
        assert judged(needed).usability != "too few items"
        assert needed in (n + 1, FEWEST) or judged(needed - 1).usability == "too few items"


def test_questions_on_one_context_need_more_items() -> None:
    """Four questions on a context that agree are worth one: four times as many items are needed."""
    apart = [reply(i, float(i < 15), chance_level=0.1) for i in range(20)]
    together = [reply(i, float(i < 15), question=q, chance_level=0.1) for i in range(20) for q in range(4)]
    needed = [
        found.base.items_needed if found.base else None
        for results in (apart, together)
        for found in effective_lengths(summarize(results))
    ]
    assert needed == [323, 1291]


def test_a_base_score_has_to_exceed_the_best_declared_shortcut() -> None:
    """0.85 of 100: above the minimum, and not clearly above a shortcut of 0.79; a shortcut of 1 is the task itself."""
    rows = summarize(curve((0.85, 0.2)))

    def found(shortcut: float) -> str:
        [one] = effective_lengths(rows, Requirements(shortcuts={"suite/test": shortcut}))
        return one.sentence

    assert found(0.7).startswith("< 1k")
    assert "about 178 items instead of 100" in found(0.79)
    assert found(0.94).startswith("not usable: 85 %")
    assert "shortcut (94 %)" in found(0.94)
    assert found(1.0).startswith("< 1k")
    parts = [replace(row, task="suite/test:part") for row in rows]
    [one] = effective_lengths(parts, Requirements(shortcuts={"suite/test": 0.94}))
    assert one.usability == "not usable"


def test_a_base_at_another_length_is_named() -> None:
    results = [reply(i, float(i < 4), length=length, chance_level=0.1) for length in (256, 512) for i in range(10)]
    [found] = effective_lengths(summarize(results))
    assert found.sentence == "not usable: 40 % correct at 256, the shortest length that was run"


@pytest.mark.parametrize("score", [-0.1, 1.0, math.nan])
def test_a_minimum_that_no_score_can_exceed_is_refused(score: float) -> None:
    with pytest.raises(UsageError, match="below 1"):
        Requirements(score)


def test_a_published_score_that_counts_is_judged_alike() -> None:
    results = [replace(one, scores={"paper": 1.0}) for one in curve((0.4, 0.4))]
    assert [str(one) for one in effective_lengths(summarize(by_metric(results, "paper")))] == ["≥ 1k"]
    assert [str(one) for one in effective_lengths(summarize(by_metric(results, "own")))] == ["not usable"]


def test_importing_is_cheap() -> None:
    code = "import sys, carrara.results; print(*{'numpy', 'jinja2', 'inspect_ai', 'pandas'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""
