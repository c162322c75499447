"""Whether tests see that work does not take time in proportion: the clock is a number that the work adds to."""

from collections.abc import Callable

import pytest

from tests.helpers import growth


@pytest.mark.parametrize(
    ("cost", "in_proportion"),
    [
        (lambda size: size, True),
        (lambda size: size * size.bit_length(), True),
        (lambda size: size**2, False),
        (lambda size: size**3, False),
    ],
    ids=["linear", "n log n", "quadratic", "cubic"],
)
@pytest.mark.parametrize("speed", [1e-4, 1e-2])
def test_growth_is_seen_at_any_speed(
    cost: Callable[[int], int], in_proportion: bool, speed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = 0.0

    def work(size: int) -> None:
        nonlocal clock
        clock += speed * cost(size)

    monkeypatch.setattr(growth, "process_time", lambda: clock)
    assert growth.grows_in_proportion(work, 8_000) == in_proportion
