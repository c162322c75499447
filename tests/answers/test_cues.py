"""Words that deny an answer, leave it open or take it back."""

import pytest

from carrara.answers.cues import (
    affirmative_sentences,
    behind_hesitation,
    behind_retraction,
    denies,
    is_about_another,
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
    "text",
    [
        *("It is not here.", "It isn't here.", "It is never here.", "Neither here nor there.", "Here or there."),
        *("Is it here?", "It may be here.", "Perhaps here.", "If it is here."),
        "Anywhere except here.",
    ],
)
def test_what_denies_or_leaves_open(text: str) -> None:
    assert denies(text)


@pytest.mark.parametrize("text", ["It is here.", "Nothing else.", "For sure.", "Knot and north."])
def test_what_does_not(text: str) -> None:
    assert not denies(text)


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


def test_sentences_about_somebody_else() -> None:
    assert is_about_another("John is in the kitchen.", WHERE)
    assert is_about_another("We know that John is in the kitchen.", WHERE)
    assert not is_about_another("Mary went with John.", WHERE)
    assert not is_about_another("She is in the Garden.", WHERE)
    assert not is_about_another("John is here.", Question("How often?", "1", (), 0.0))
