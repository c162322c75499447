"""The interval of an effective length: how often it holds the truth, for scores that fall in every way."""

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrara.results.effective import CRITICAL, estimate_length, fall_interval, ratio_z

LENGTHS = (0, 4096, 8192, 16384, 32768, 65536)
SHARE = 0.85
Curve = Callable[[int], float]
CURVES: dict[str, Curve] = {
    "a plateau just below the threshold": lambda length: 0.95 if length == 0 else 0.76,
    "a plateau closer below it": lambda length: 0.95 if length == 0 else 0.80,
    "a plateau just above it": lambda length: 0.95 if length == 0 else 0.82,
    "a step to a plateau below it": lambda length: 0.95 if length < 12_000 else 0.76,
    "two steps": lambda length: 0.95 if length < 6_000 else 0.86 if length < 24_000 else 0.5,
    "a slow slope": lambda length: 0.95 - 0.03 * max(0.0, math.log2(max(256, length)) - 8),
    "a cliff": lambda length: 0.9 if length < 20_000 else 0.1,
    "nothing lost": lambda length: 0.97,
}


def drawn(curve: Curve, n: int, rng: random.Random) -> list[tuple[int, float, float]]:
    return [(length, sum(rng.random() < curve(length) for _ in range(n)) / n, n) for length in LENGTHS]


def is_held(interval: tuple[float, float], curve: Curve) -> bool:
    """Whether the interval holds the end of the lengths at which the curve keeps 85 % of its base score."""
    kept = [length for length in LENGTHS if curve(length) >= SHARE * curve(0)]
    after = LENGTHS[len(kept)] if len(kept) < len(LENGTHS) else math.inf
    low, high = interval
    return low <= (math.inf if math.isinf(after) else kept[-1]) and math.nextafter(high, math.inf) >= after


@pytest.mark.parametrize("n", [10, 20, 50])
@pytest.mark.parametrize("name", CURVES)
@pytest.mark.sampled(8)
def test_the_interval_holds_the_truth_at_least_95_percent_of_the_time(name: str, n: int) -> None:
    rng, curve = random.Random(f"{name} {n}"), CURVES[name]
    held = [is_held(fall_interval(drawn(curve, n, rng), SHARE), curve) for _ in range(400)]
    assert sum(held) / len(held) >= 0.95 - 2 * math.sqrt(0.95 * 0.05 / 400)


@pytest.mark.slow
def test_an_estimate_on_a_plateau_does_not_exclude_the_truth() -> None:
    """A score of .95 without filler and of .76 from 4k on keeps less than 85 % of its base score at 4k already.

    The posterior over falls and declines alone has its 95 % interval above 4k in two of five such runs.
    """
    rng = random.Random(54)
    curve = CURVES["a plateau just below the threshold"]
    estimates = [estimate_length(drawn(curve, 50, rng), 0.1) for _ in range(40)]
    assert all(estimates)
    assert sum(one.low >= 4096 for one in estimates if one) <= 2


def test_the_estimate_lies_in_its_interval() -> None:
    for means in (
        [1, 1, 0.1, 0.1],
        [0.9, 0.2, 0.9, 0.1],
        [0.9, 0.9, 0.9, 0.9],
        [0.9, 0.6, 0.6, 0.6],
        [0.9, 0.8, 0.7, 0.6],
    ):
        one = estimate_length([(length, mean, 200) for length, mean in zip(LENGTHS, means, strict=False)], 0.05)
        assert one
        assert one.low <= one.length <= one.high


def test_more_instances_narrow_the_interval_to_the_lengths_around_the_fall() -> None:
    falling = [(length, 0.9 if length <= 16384 else 0.2, 400) for length in LENGTHS]
    assert fall_interval(falling, SHARE) == (16384, math.nextafter(32768, 0))
    assert fall_interval([(length, 0.9, 400) for length in LENGTHS], SHARE) == (math.inf, math.inf)
    assert fall_interval([(4096, 0.9, 400), (8192, 0.1, 400)], SHARE) == (4096, math.nextafter(8192, 0))


def test_the_uncertain_base_counts() -> None:
    """A million scores at 4k do not make up for ten of the base."""
    assert fall_interval([(0, 1.0, 10), (4096, 0.8, 10**6)], SHARE) == (0, math.inf)
    assert fall_interval([(0, 1.0, 10**6), (4096, 0.8, 10**6)], SHARE) == (0, math.nextafter(4096, 0))


@given(st.integers(0, 30), st.integers(1, 30), st.integers(0, 30), st.integers(1, 30), st.floats(0.1, 0.99))
def test_the_statistic_uses_the_likeliest_proportions(x: int, n: int, x0: int, n0: int, ratio: float) -> None:
    """By trial: no other base proportion makes the scores likelier, if the mean is the ratio times it."""
    x, x0 = min(x, n), min(x0, n0)
    statistic = ratio_z(x, n, x0, n0, ratio)

    def log_likelihood(base: float) -> float:
        pairs = ((x, n, ratio * base), (x0, n0, base))
        return sum(k * math.log(p) + (m - k) * math.log1p(-p) for k, m, p in pairs)

    best = max((step / 4000 for step in range(1, 4000)), key=log_likelihood)
    mean = ratio * best
    variance = mean * (1 - mean) / n + ratio**2 * best * (1 - best) / n0
    assert statistic == pytest.approx((x / n - ratio * x0 / n0) / math.sqrt(variance), rel=0.05, abs=0.05)


def test_the_constants_are_pococks() -> None:
    """The probability that any of the first n standardized means of normal values exceeds the n-th is 2.5 %."""
    rng, exceeded, times = random.Random(1), [0] * len(CRITICAL), 20_000
    for _ in range(times):
        total, largest = 0.0, -math.inf
        for n, limit in enumerate(CRITICAL, 1):
            total += rng.gauss(0, 1)
            largest = max(largest, total / math.sqrt(n))
            exceeded[n - 1] += largest > limit
    assert all(count / times == pytest.approx(0.025, abs=0.0045) for count in exceeded)
