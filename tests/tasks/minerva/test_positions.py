"""Compare positions: how its answers are balanced."""

from collections import Counter

from tests.helpers.minerva import items


def test_positions_are_balanced() -> None:
    """Two words at one depth, too: twenty-five cells of which five have one depth, asked in turn either way."""
    golds = Counter(item.gold for item in items("minerva/positions", 50))
    assert golds == {"yes": 25, "no": 25}
