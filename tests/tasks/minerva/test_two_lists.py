"""Compare two lists: what its lists differ in."""

from tests.helpers.minerva import context_of, items


def test_differences_are_differences() -> None:
    for item in items("minerva/two_lists", 16, 2048):
        first, second = (line.partition(": ")[2].split(", ") for line in context_of(item).splitlines())
        assert len(first) == len(second)
        assert len(set(first) - set(second)) == len(set(second) - set(first)) == int(item.question.labels["size"])
        assert set(item.question.gold.items) in (set(first) - set(second), set(second) - set(first))
