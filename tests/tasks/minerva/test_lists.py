"""The tasks whose words are dealt among lists or roles."""

import pytest

from carrara.tasks.minerva._lists import Needle, deal_words, read_lines
from tests.helpers.minerva import context_of, items


@pytest.mark.parametrize("task", ["membership", "group_association", "iterate", "alternating", "blocks"])
def test_no_list_is_longer_for_what_is_asked_of_it(task: str) -> None:
    for length in (0, 4000):
        for item in items(f"minerva/{task}", 20, length):
            sizes = [len(words) for _, words in read_lines(context_of(item))]
            assert max(sizes) - min(sizes) <= 1


def test_a_list_with_two_needles_takes_a_word_from_another_list() -> None:
    draw = iter(f"w{n}" for n in range(9)).__next__
    needles = [Needle("first", 0, 0.0), Needle("last", 0, 1.0)]
    lists = deal_words(None, draw, items=4, lists=3, needles=needles, description="three lists", least=1)
    assert lists == [["first", "last"], ["w0"], ["w1"]]
