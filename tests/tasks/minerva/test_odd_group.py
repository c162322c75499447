"""Identify the odd group: exactly one list differs."""

from collections import Counter

from tests.helpers.minerva import context_of, items


def test_one_group_is_odd() -> None:
    for item in items("minerva/odd_group", 24):
        kinds = Counter(frozenset(line.partition(": ")[2].split(", ")) for line in context_of(item).splitlines())
        assert sorted(kinds.values())[0] == 1
        assert len(kinds) == 2
