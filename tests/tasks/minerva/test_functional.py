"""Functional updates: the operations, and where the numbers stand that complete a length."""

from collections import Counter

from tests.helpers.minerva import context_of, items, replied


def test_numbers_that_make_up_a_length_stand_anywhere() -> None:
    """By this tokenizer, 1000 alone takes an odd number of tokens."""
    ends = [context_of(item).endswith("1000") for item in items("minerva/functional", 40, 1000)]
    assert sum(ends) < 5


def test_no_operation_is_often_right() -> None:
    made = items("minerva/functional", 96)
    assert {*Counter(item.question.ask for item in made).values()} == {4}
    for factor, more in ((1, 3), (1, -2), (2, 0)):
        replies = (", ".join(str(factor * int(one) + more) for one in context_of(item).split(", ")) for item in made)
        assert sum(replied(item, reply)[0] for item, reply in zip(made, replies, strict=True)) < 0.06 * len(made)


def test_an_operand_may_be_fixed() -> None:
    for item in items("minerva/functional", 6, change="add 3,multiply 2"):
        assert {"add": "Add 3 ", "multiply": "by 2,"}[item.question.labels["change"].split()[0]] in item.text
