"""Numbers in words."""

import pytest

from carrara.answers.number_words import in_digits


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("eight", "8"),
        ("Twenty-one", "21"),
        ("twenty one", "21"),
        ("one hundred and eight", "108"),
        ("a thousand and one", "1001"),
        ("two hundred thirty-four thousand", "234000"),
        ("three thousand, four hundred and five", "3405"),
        ("two and three", "2 and 3"),
        ("twice", "2 times"),
        ("Only once.", "Only 1 times."),
        ("zero", "0"),
        ("No one knows.", "No one knows."),
        ("the one in the middle", "the one in the middle"),
        ("one of them", "one of them"),
        ("twenty-oned seven-fold sevenths", "twenty-oned seven-fold sevenths"),
    ],
)
def test_numbers_in_words(text: str, digits: str) -> None:
    assert in_digits(text) == digits
