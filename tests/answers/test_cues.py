"""Words that deny an answer, leave it open or take it back."""

import pytest

from carrara.answers.cues import (
    affirmative_sentences,
    behind_hesitation,
    behind_retraction,
    sentences,
)
from carrara.types import Question

WHERE = Question("Where is Mary?", "garden", (), 0.0, options=("garden", "kitchen"))


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Elm. Wait, that is wrong: oak.", "oak."),
        ("Elm. Correction: oak.", "oak."),
        ("Elm. Actually, it is oak.", "it is oak."),
        ("Elm. No, oak.", "oak."),
        ("Elm. Wait, fir. Wait, oak.", "oak."),
        ("Elm. Sorry.", ""),
        ("It is not actually elm.", "It is not actually elm."),
        ("No, oak.", "No, oak."),
        ("I waited for oak.", "I waited for oak."),
    ],
)
def test_what_counts_after_a_retraction(text: str, rest: str) -> None:
    assert behind_hesitation(behind_retraction(text)) == rest


def test_no_is_no_retraction_where_it_is_an_answer() -> None:
    assert behind_hesitation("I looked. No, it is not.", no_is_answer=True) == "I looked. No, it is not."


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?\nFour", ["One.", "Two!", "Three?", "Four"]),
        ("It is 3.5 m.", ["It is 3.5 m."]),
        ("So... oak", ["So... oak"]),
    ],
)
def test_sentences(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


def test_sentences_that_affirm() -> None:
    said = "She is in the garden, not in the kitchen. John is in the kitchen. She may be there. Mary is in the garden."
    assert affirmative_sentences(said, WHERE) == ["She is in the garden.", "Mary is in the garden."]
