"""Theory of mind: no word is in two hands."""

from tests.helpers.minerva import items


def test_nobody_has_a_word_twice() -> None:
    for item in items("minerva/theory_of_mind", 24):
        held = [word for _, words in item.question.gold.of for word in words]
        assert len(held) == len(set(held))
        assert all(words for _, words in item.question.gold.of)
