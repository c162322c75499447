"""Words and numbers, as replies state them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrara.answers import AnswerType, FinalNumber, Number, Word
from carrara.answers.cues import NOT_AN_ANSWER
from carrara.answers.number_words import in_digits
from carrara.answers.types import find_numbers, read_number
from carrara.types import Question

HOW_OFTEN = Question('How often does the word "oak" come in the context?', 8, (), 0.0)
PARTNER = Question('What is the partner of the word "apple"?', "banana", (), 0.0)


def answer(kind: AnswerType[Any], reply: str, question: Question[Any]) -> Any:
    found = kind.read(reply, question)
    return found and found.answer


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("8", 8),
        ("Eight.", 8),
        ("twenty-one", 21),
        ("The word comes twice.", 2),
        ("one hundred and eight times", 108),
        ("It never comes: 0 times.", 0),
        ("Answer: 8 (out of 300 words)", 8),
        ("It appears 7 times. Wait, 8 times.", 8),
        ("FINAL ANSWER: -471", -471),
        ("FINAL ANSWER: minus 471", -471),
        ("FINAL ANSWER: $-42$", -42),
        ("FINAL ANSWER: [42]", 42),
        ("FINAL ANSWER: -1,471.0", -1471),
        ("37 + 5 = 42\n42 - 3 = 39\nFINAL ANSWER: 39", 39),
        ('Line 12 has "oak".', None),
        ("No one knows.", None),
        ("8.5", None),
        ("7 or 8", None),
        ("1/2/3 times", None),
        ("2 4 8 16 32", None),
        ("FINAL ANSWER: 12 34", None),
        ("It appears 3 times in the first half. It appears 5 times in the second.", None),
    ],
)
def test_numbers(reply: str, number: int | None) -> None:
    assert answer(Number(), reply, HOW_OFTEN) == answer(FinalNumber(), reply, HOW_OFTEN) == number


@given(st.integers(-(10**17), 10**17), st.sampled_from(["{}", "{:,}", "{}.", "**{}**", "FINAL ANSWER: {:,}", '"{}"']))
def test_a_written_number_is_read(number: int, form: str) -> None:
    assert answer(Number(), form.format(number), HOW_OFTEN) == number


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("two hundred thirty-four thousand", "234000"),
        ("three thousand, four hundred and five", "3405"),
        ("two and three", "2 and 3"),
        ("Only once, or twice.", "Only 1 times, or 2 times."),
        ("No one knows one of them: the one in the middle.", "No one knows one of them: the one in the middle."),
        ("twenty-oned seven-fold sevenths", "twenty-oned seven-fold sevenths"),
    ],
)
def test_numbers_in_words(text: str, digits: str) -> None:
    assert in_digits(text) == digits


def test_numbers_that_name_something_else() -> None:
    assert find_numbers("On line 3, step 4, at 12:30, 2.5 of x7 and 50% are none; 8, 1,234 and minus 5 are.") == [
        *(8, 1234, -5)
    ]
    assert read_number("1,23") is None
    assert read_number("8 apples") is None


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        ("banana", "banana"),
        ("‘banana’", "banana"),
        ("「banana」", "banana"),
        ('["banana"]', "banana"),
        ("banana\nbanana", "banana"),
        ("**Answer:** banana", "banana"),
        ('```json\n{"answer": "banana"}\n```', "banana"),
        ("apple: banana", "banana"),
        ('The partner of "apple" is "banana".', "banana"),
        ('"apple" is paired with "banana" in the context.', "banana"),
        ("banana (it is in the middle of the list)", "banana"),
        ("banana\n\nExplanation: it is the word that comes up.", "banana"),
        ("cherry. Wait, that is wrong. It is banana.", "banana"),
        ("FINAL ANSWER: o'clock", "o'clock"),
        ("FINAL ANSWER: -5", "-5"),
        ("I could not find it.", None),
        ('The word "apple" is not in the context.', None),
        ("not found", None),
        ("I'm sorry, but I can't help with that.", None),
        ("banana or cherry", None),
        ("Answer: banana, cherry", None),
        ("- banana\n- cherry\n- date", None),
        ("apple: banana\nfig: cherry", None),
        ("I think the word might be banana.", None),
    ],
)
def test_words(reply: str, word: str | None) -> None:
    assert answer(Word(), reply, PARTNER) == word


@given(st.from_regex(r"[^\W_]([^\W_]|[-'’](?=[^\W_])){0,12}", fullmatch=True))
def test_a_written_word_is_read(word: str) -> None:
    """One that sentences use too is read where it is the right one."""
    folded = word.replace("’", "'").casefold()
    expected = None if folded in NOT_AN_ANSWER else folded
    assert answer(Word(), f"FINAL ANSWER: {word}", PARTNER) == expected
    right = Question(PARTNER.ask, word.replace("’", "'"), (), 0.0)
    assert answer(Word(), f"FINAL ANSWER: {word}", right) == right.gold
