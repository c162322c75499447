"""What lists of words, sets and hands score."""

import pytest

from carrara.answers.listing import FinalHands, Hands, Set, Words

SET = Words(("oak", "elm"), ordered=False)
HELD = Hands((("Agent A", ("oak", "ash")), ("Agent B", ("elm", "yew"))))
ALL = ("oak", "ash", "elm", "yew")


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ("oak elm", 1.0),
        ("elm oak", 1.0),
        ("oak oak oak elm elm elm", 1.0),
        ("oak oak oak oak oak", 0.5),
        ("oak elm ash", 2 / 3),
        ("oak elm ash yew fir", 0.0),
        ("oak", 0.5),
    ],
)
def test_sets_are_no_lists(said: str, score: float) -> None:
    assert Set().score(Words(tuple(said.split())), SET) == pytest.approx(score)


@pytest.mark.parametrize(
    ("a", "b", "score"),
    [
        ("oak ash", "elm yew", 1.0),
        ("oak ash oak ash", "elm yew elm yew", 1.0),
        ("oak ash oak ash", "elm yew elm yew fir", 5 / 6),
        ("oak ash", "", 0.5),
        ("oak ash", "oak ash", 0.0),
        ("oak ash elm yew", "oak ash elm yew", 0.0),
        ("elm yew", "oak ash", 0.0),
        ("oak ash elm", "elm yew", (2 / 3 + 1 / 2) / 2),
    ],
)
def test_no_word_is_in_two_hands(a: str, b: str, score: float) -> None:
    said = Hands((("Agent A", tuple(a.split())), ("Agent B", tuple(b.split()))))
    assert FinalHands().score(said, HELD) == pytest.approx(score)


def test_words_that_are_in_two_hands_after_all() -> None:
    held = Hands((("Agent A", ("oak",)), ("Agent B", ("oak", "elm"))))
    assert FinalHands().score(held, held) == 1
