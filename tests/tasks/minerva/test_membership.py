"""Group membership: which lists its answers name."""

from collections import Counter

from tests.helpers.minerva import items


def test_every_list_is_asked_for() -> None:
    """Published, the last quarter never is."""
    golds = Counter(item.gold for item in items("minerva/membership", 400, lists="8"))
    assert set(golds) == {"no", *(f"List {n}" for n in range(1, 9))}
    assert golds["no"] == 80
