"""Sequential tests of a mean difference: how often they are wrong, and how many instances they take."""

import random
from collections.abc import Callable

import pytest

from carrara.guard.equivalence import BettingTest, fewest, interval

ALPHA, MARGIN = 0.05, 0.1


def rejects(rng: random.Random, draw: Callable[[random.Random], list[float]], bound: float, *, above: bool) -> bool:
    """Whether a test ever rejects within 300 turns."""
    test = BettingTest(bound, above=above)
    for _ in range(300):
        for difference in draw(rng):
            test.add(difference)
        test.look()
        if test.evidence >= 1 / ALPHA:
            return True
    return False


def graded(rng: random.Random) -> list[float]:
    """A graded difference with a mean of the margin."""
    return [MARGIN + rng.uniform(-0.4, 0.4)]


def both_ways(rng: random.Random) -> list[float]:
    """All or nothing, with a mean of the margin."""
    return [rng.choices((1.0, -1.0, 0.0), (0.2, 0.1, 0.7))[0]]


def rarely(rng: random.Random) -> list[float]:
    return [1.0 if rng.random() < MARGIN else 0.0]


def in_one_task(rng: random.Random) -> list[float]:
    """Four tasks that take turns: one differs by four margins, the others not at all."""
    return [1.0 if rng.random() < 4 * MARGIN else 0.0, 0.0, 0.0, 0.0]


def in_two_directions(rng: random.Random) -> list[float]:
    """Two tasks whose differences make the margin on average."""
    return [1.0 if rng.random() < 0.5 else 0.0, -1.0 if rng.random() < 0.3 else 0.0]


@pytest.mark.parametrize("draw", [graded, both_ways, rarely, in_one_task, in_two_directions])
@pytest.mark.parametrize("above", [False, True])
@pytest.mark.sampled(2)
def test_a_true_bound_is_rarely_rejected_however_often_one_looks(
    draw: Callable[[random.Random], list[float]], above: bool
) -> None:
    """With a look after every turn. 5 % of 300 are 15, and more than 27 are a thousandth."""
    rng = random.Random(7)
    assert sum(rejects(rng, draw, MARGIN, above=above) for _ in range(300)) <= 27


def test_a_difference_is_found() -> None:
    rng = random.Random(3)
    assert all(rejects(rng, lambda rng: [-1.0 if rng.random() < 0.5 else 0.0], -MARGIN, above=False) for _ in range(50))


def test_evidence_never_falls_and_only_looks_count() -> None:
    test = BettingTest(-MARGIN, above=True)
    for _ in range(20):
        test.add(0.0)
    assert test.evidence == 1
    test.look()
    before = test.evidence
    assert before > 1
    test.add(-1.0)
    test.look()
    assert test.evidence == before


@pytest.mark.parametrize("margin", [0.02, 0.05, 0.1, 0.3])
def test_the_interval_agrees_with_the_tests(margin: float) -> None:
    enough = fewest(margin, ALPHA)
    low, high = interval([[0.0]] * enough, ALPHA)
    assert -margin <= low + 2e-3
    assert high - 2e-3 <= margin
    assert interval([[0.0]] * (enough - 2), ALPHA)[1] > margin
    rng = random.Random(11)
    turns = [[rng.choice((-1.0, 0.0, 0.0, 0.0, 0.5)), 0.0] for _ in range(60)]
    low, high = interval(turns, ALPHA)
    mean = sum(map(sum, turns)) / 120
    assert low < mean < high
    for bound, above, expected in ((low - 0.01, True, True), (low + 0.01, True, False), (high + 0.01, False, True)):
        test = BettingTest(bound, above=above)
        for turn in turns:
            for difference in turn:
                test.add(difference)
            test.look()
        assert (test.evidence >= 1 / ALPHA) == expected


def test_an_interval_of_nothing_holds_everything() -> None:
    assert interval([], ALPHA) == (-1.0, 1.0)
