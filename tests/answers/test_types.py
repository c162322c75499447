"""Words and numbers, as replies state them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrara.answers import AnswerType, FinalNumber, Number, Word
from carrara.answers.cues import NOT_AN_ANSWER
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
        ("8 times", 8),
        ("Eight.", 8),
        ("twenty-one", 21),
        ("The word comes twice.", 2),
        ("Only once.", 1),
        ("one hundred and eight times", 108),
        ("It never comes: 0 times.", 0),
        ("Answer: 8 (out of 300 words)", 8),
        ("It appears 7 times. Wait, 8 times.", 8),
        ("FINAL ANSWER: -471", -471),
        ("FINAL ANSWER: minus 471", -471),
        ("FINAL ANSWER: −471", -471),
        ("FINAL ANSWER: $-42$", -42),
        ("FINAL ANSWER: [42]", 42),
        ("FINAL ANSWER: 1,471", 1471),
        ("FINAL ANSWER: -1,471.0", -1471),
        (r"$\boxed{1471}$", 1471),
        ("37 + 5 = 42\n42 - 3 = 39\nFINAL ANSWER: 39", 39),
        ('Line 12 has "oak".', None),
        ("No one knows.", None),
        ("8.5", None),
        ("50%", None),
        ("7 or 8", None),
        ("7 to 9 times", None),
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
        ("BANANA.", "banana"),
        ("‘banana’", "banana"),
        ("「banana」", "banana"),
        ("```\nbanana\n```", "banana"),
        ('["banana"]', "banana"),
        ("banana\nbanana", "banana"),
        ("**Answer:** banana", "banana"),
        ("Answer:\n\n**banana**", "banana"),
        ('```json\n{"answer": "banana"}\n```', "banana"),
        ("apple: banana", "banana"),
        ("The word is **banana**.", "banana"),
        ("It is banana.", "banana"),
        ('The partner of "apple" is "banana".', "banana"),
        ('"apple" is paired with "banana" in the context.', "banana"),
        ("banana (it is in the middle of the list)", "banana"),
        ("banana\n\nExplanation: it is the word that comes up.", "banana"),
        ("cherry. Wait, that is wrong. It is banana.", "banana"),
        ("FINAL ANSWER: o'clock", "o'clock"),
        ("FINAL ANSWER: well-known", "well-known"),
        ("FINAL ANSWER: -5", "-5"),
        ("I could not find it.", None),
        ('The word "apple" is not in the context.', None),
        ("not found", None),
        ("N/A", None),
        ("It is missing.", None),
        ("I'm sorry, but I can't help with that.", None),
        ("banana or cherry", None),
        ("Answer: banana, cherry", None),
        ("- banana\n- cherry\n- date", None),
        ("apple: banana\nfig: cherry", None),
        ("The word is banana or cherry.", None),
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
