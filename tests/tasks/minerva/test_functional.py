"""Functional updates: where the numbers stand that complete a length."""

from tests.helpers.minerva import context_of, items


def test_numbers_that_make_up_a_length_stand_anywhere() -> None:
    """By this tokenizer, 1000 alone takes an odd number of tokens."""
    ends = [context_of(item).endswith("1000") for item in items("minerva/functional", 40, 1000)]
    assert sum(ends) < 5
