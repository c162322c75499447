"""The interval and the p-value of a difference agree, and hold what they promise on few instances."""

import math
import random

import pytest
from benchmarks.coverage import GRADED, paired_coverage, share_covered
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from carrara.results.differences import difference
from carrara.results.paired_test import (
    ALPHA,
    FEWEST,
    detectable,
    interval,
    least_p,
    p_value,
    score_interval,
    sign_flip_p,
)
from tests.results.test_comparison import both, curve, reply

BINARY = st.sampled_from([-1.0, 0.0, 1.0])
CLUSTERED = st.sampled_from([n / 4 for n in range(-4, 5)])
GRADES = st.floats(-1, 1, allow_subnormal=False)
GROUPS = st.one_of(
    *(
        st.lists(st.lists(values, min_size=2, max_size=16), min_size=1, max_size=most)
        for values in (BINARY, CLUSTERED, GRADES)
        for most in (1, 3)
    )
)
LEVELS = st.sampled_from([0.05, 0.05 / 3, 0.05 / 40])


@given(GROUPS, LEVELS)
def test_the_interval_leaves_out_zero_exactly_if_the_difference_is_significant(
    groups: list[list[float]], level: float
) -> None:
    p = p_value(groups)
    found = interval(groups, significant=p < level, level=level)
    assert found is not None
    low, high = found
    assert -1 <= low <= high <= 1
    assert (low > 0 or high < 0) == (p < level)


@given(GROUPS)
def test_swapping_the_sides_mirrors_the_interval(groups: list[list[float]]) -> None:
    swapped = [[-change for change in group] for group in groups]
    p = p_value(groups)
    assert p_value(swapped) == pytest.approx(p, abs=1e-9)
    found, mirrored = (interval(some, significant=p < ALPHA) for some in (groups, swapped))
    assert found is not None
    assert mirrored == pytest.approx((-found[1], -found[0]), abs=1e-9)


@given(st.lists(st.lists(st.tuples(BINARY, BINARY), min_size=2, max_size=12), min_size=1, max_size=4))
def test_the_verdicts_of_a_table_agree_with_its_intervals(table: list[list[tuple[float, float]]]) -> None:
    """Also where several comparisons are corrected for their number."""
    ones, others = (
        [reply(model, instance, 1024 * place, max(0.0, pair[side])) for place, own in enumerate(table)
         for instance, pair in enumerate(own)]
        for side, model in enumerate("ab")
    )  # fmt: skip
    found = both(ones, others)
    for row in (*found.lengths, *found.tasks, *found.overall):
        assert row.low is not None
        assert row.high is not None
        assert (row.low > 0 or row.high < 0) == (row.holm < ALPHA) == (row.verdict() in ("better", "worse"))


def test_four_of_eight_instances_are_not_told_apart_and_the_interval_says_so() -> None:
    """The interval was +0.053 to +0.947 beside a p-value of 0.125."""
    [row] = both(curve("a", {0: 2}, n=8), curve("b", {0: 6}, n=8)).lengths
    assert row.p == pytest.approx(0.125)
    assert row.verdict() == "not told apart"
    assert row.low is not None
    assert row.low <= 0


@pytest.mark.parametrize("n", range(2, 12))
def test_all_or_nothing_scores_get_mcnemars_exact_test(n: int) -> None:
    for up in range(n + 1):
        changes = [1.0] * up + [-1.0] * (n - up) + [0.0] * 5
        assert sign_flip_p(changes) == pytest.approx(stats.binomtest(up, n).pvalue)
        assert p_value([changes]) >= stats.binomtest(up, n).pvalue - 1e-12


@pytest.mark.parametrize("n", [4, 8, 12, 30])
def test_graded_scores_get_the_sign_flip_test(n: int) -> None:
    rng = random.Random(n)
    changes = [rng.gauss(0.2, 0.4) for _ in range(n)]
    reference = stats.permutation_test(
        (changes,), lambda values, axis: values.mean(axis), permutation_type="samples", n_resamples=9999,
        vectorized=True, rng=1,
    )  # fmt: skip
    assert sign_flip_p(changes) == pytest.approx(reference.pvalue, abs=0.02 if n == 30 else 1e-9)


def test_the_interval_of_many_graded_scores_is_students() -> None:
    rng = random.Random(7)
    changes = [rng.gauss(0.1, 0.2) for _ in range(200)]
    reference = stats.ttest_1samp(changes, 0).confidence_interval()
    found = interval([changes], significant=p_value([changes]) < ALPHA)
    assert found == pytest.approx((reference.low, reference.high), abs=0.002)


@pytest.mark.parametrize(("up", "down", "n"), [(1, 0, 14), (7, 2, 12), (3, 9, 40), (6, 0, 7)])
def test_thescore_interval_ends_where_the_score_test_rejects(up: int, down: int, n: int) -> None:
    """The most likely shares at each end are searched for here; Tango's paper gives them by a formula."""
    terms = [1 / n] * up + [-1 / n] * down + [0.0] * (n - up - down)
    for end in score_interval(terms, n, ALPHA):
        if abs(end) == 1:
            continue

        def unlikely(lower: float, end: float = end) -> float:
            higher, equal = lower + end, 1 - 2 * lower - end
            return -sum(
                count * math.log(max(share, 1e-300))
                for count, share in ((up, higher), (down, lower), (n - up - down, equal))
                if count
            )

        low, high = max(0.0, -end), (1 - end) / 2
        lower = optimize.minimize_scalar(unlikely, bounds=(low, high), options={"xatol": 1e-10}).x
        variance = 2 * lower + end - end**2
        assert abs((up - down) / n - end) / math.sqrt(variance / n) == pytest.approx(1.96, abs=0.01)


def test_fewer_than_six_instances_show_no_difference() -> None:
    assert p_value([[1.0] * (FEWEST - 1)]) >= ALPHA > p_value([[1.0] * FEWEST])
    assert detectable([[1.0, 0.5, 1.0, 1.0, 1.0]]) is None
    assert least_p([[1.0] * FEWEST]) < ALPHA


def test_equal_differences_are_no_certainty() -> None:
    none = interval([[0.0] * 10], significant=False)
    assert none == pytest.approx((-0.278, 0.278), abs=1e-3)
    half = interval([[0.5] * 10], significant=True)
    assert half is not None
    assert 0 < half[0] < 0.5 < half[1]


def test_reports_and_comparisons_give_the_same_interval() -> None:
    ones, others = curve("a", {0: 9}, n=12), curve("b", {0: 4}, n=12)
    [row] = both(ones, others).lengths
    found = difference(ones, others)
    assert found is not None
    assert (found.low, found.high) == (row.low, row.high)
    assert found.clear == (row.verdict() == "worse")


@pytest.mark.slow
@pytest.mark.parametrize("n", range(5, 21))
def test_binary_scores_are_covered_whatever_the_shares(n: int) -> None:
    """Exactly, for all shares of instances that differ upward and downward, in steps of 0.05."""
    coverage, rejected = paired_coverage(n, 20)
    assert min(coverage) >= 0.9495
    assert max(rejected) <= ALPHA


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 8, 12, 20])
@pytest.mark.parametrize("kind", GRADED)
def test_graded_scores_and_clusters_are_covered(kind: str, n: int) -> None:
    for gap in (0.0, 0.2, 0.4):
        covered, rejected = share_covered(kind, n, gap, 600)
        assert covered >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 600)
        if not gap:
            assert rejected <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 600)
