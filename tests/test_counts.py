"""Reading numbers out of replies as models write them."""

import pytest

from carrara.answers.kinds import FinalNumber, Number
from tests.asked import read

HOW_OFTEN = 'How many times does the word "oak" come in the context?'

COUNTS: dict[str, int | None] = {
    "8": 8,
    "8 times": 8,
    "Eight.": 8,
    "eight times": 8,
    "twenty-one": 21,
    "The word comes twice.": 2,
    'Among 300 words, "oak" appears 8 times.': 8,
    'Among 300 words, "oak" appears eight times.': 8,
    'There are 8 occurrences of "oak" among 300 words.': 8,
    "The word appears at positions 3, 17, 25, and 90, so 4 times.": 4,
    "The word comes eight times in the context, once at the start.": 8,
    "Eight occurrences, two of which are at the end.": 8,
    "It appears 8 times: 3 times in the first half and 5 times in the second.": 8,
    "It appears 3 times in the first half, and 5 times in the second, so 8 times in total.": 8,
    "It appears 3 times in the first half. It appears 5 times in the second.": None,
    "8+": None,
    "at least 8": None,
    "At most eight.": None,
    "It appears more than 8 times.": None,
    "about 8": None,
    "8 or more": None,
    "1\n2\n3\n4": None,
    "1, 2, 3, 4": None,
    "7 or 8": None,
    "2 4 8 16 32": None,
    "one hundred": 100,
    "one hundred and eight times": 108,
    "It never comes: 0 times.": 0,
    "8\n\nQuestion: How many?\nAnswer: 5": 8,
    "Context:\noak, oak\n\nAnswer: 2": 2,
    "I count 8.": 8,
    "Answer: 8 (out of 300 words)": 8,
    "No one knows.": None,
    "Let me count: 1, 2, 3, 4, 5, 6, 7, 8. So 8 times.": 8,
    "I count 7... no, 8.": 8,
    "It appears 7 times. Wait, 8 times.": 8,
    'It occurs 8 times; "oaken" occurs 2 times.': 8,
    "Only once.": 1,
    "a hundred times": 100,
    "7 to 9 times": None,
    "8 or 9 times": None,
    "9 or 8 times": None,
    "1/2/3 times": None,
    "≥ 8": None,
    "It appears 3 times. It appears 4 times. It appears 5 times.": None,
    "five or six": None,
}


@pytest.mark.parametrize(("reply", "answer"), COUNTS.items())
def test_counts_are_read(reply: str, answer: int | None) -> None:
    assert read(Number(), reply, HOW_OFTEN) == answer


FINALS: dict[str, int | None] = {
    "FINAL ANSWER: 42": 42,
    "FINAL ANSWER: -471": -471,
    "FINAL ANSWER: minus 471": -471,
    "FINAL ANSWER: negative 471": -471,
    "FINAL ANSWER: - 471": -471,
    "FINAL ANSWER: −471": -471,
    "FINAL ANSWER: -$42$": -42,
    "FINAL ANSWER: $-42$": -42,
    "FINAL ANSWER: [42]": 42,
    "FINAL ANSWER: **-42**": -42,
    "FINAL ANSWER: 1 471": 1471,
    "FINAL ANSWER: 1\u2009471": 1471,
    "FINAL ANSWER: 1,471": 1471,
    "FINAL ANSWER: -1 471.": -1471,
    "FINAL ANSWER: one hundred": 100,
    "FINAL ANSWER: minus four hundred seventy-one": -471,
    "FINAL ANSWER: 12 34": None,
    "37 + 5 = 42\n42 - 3 = 39\nFINAL ANSWER: 39": 39,
    "37\n42\n39": 39,
    "Start: 37\n42 minus 3 is 39\nFINAL ANSWER: 39": 39,
    "FINAL ANSWER: 100\nContext:\nBegin with the number 3.\nFINAL ANSWER: 8": 100,
    "FINAL ANSWER: 41 or 42": None,
    "FINAL ANSWER:\n42": 42,
}


@pytest.mark.parametrize(("reply", "answer"), FINALS.items())
def test_final_numbers_are_read(reply: str, answer: int | None) -> None:
    assert read(FinalNumber(), reply) == answer
