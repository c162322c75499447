"""The tasks whose words are dealt among lists or roles."""

import pytest

from carrara.tasks.minerva._lists import read_lines
from tests.helpers.minerva import context_of, items


@pytest.mark.parametrize("task", ["membership", "group_association", "iterate", "alternating", "blocks"])
def test_no_list_is_longer_for_what_is_asked_of_it(task: str) -> None:
    for length in (0, 4000):
        for item in items(f"minerva/{task}", 20, length):
            sizes = [len(words) for _, words in read_lines(context_of(item))]
            assert max(sizes) - min(sizes) <= 1
