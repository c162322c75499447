"""Readers of replies under replies that no model gives: a part of what `python -m benchmarks.fuzz_replies` grades."""

from collections.abc import Iterator

import pytest

from carrara.answers import Choice
from carrara.answers.status import STATUSES
from carrara.items import registry
from carrara.items.grading import grade
from carrara.types import Question
from tests.helpers import fuzz
from tests.helpers.fuzz_grading import try_all

EACH = 60


@pytest.fixture(autouse=True, scope="module")
def few_worlds() -> Iterator[None]:
    """To make instances takes longer than to read their replies."""
    with pytest.MonkeyPatch.context() as here:
        here.setattr(fuzz, "INSTANCES", 3)
        fuzz.questions.cache_clear()
        yield
    fuzz.questions.cache_clear()


@pytest.mark.parametrize("task", registry.names())
@pytest.mark.sampled(6)
def test_a_reply_is_read_or_not_and_nothing_is_raised(task: str) -> None:
    found = try_all((task, 0, range(EACH)))
    assert found.failures == []
    assert found.replies == sum(found.statuses.values()) == EACH


ALIKE = {"i": "ıİ", "s": "ſ", "k": "\u212a"}
"""What patterns that ignore case take for these letters, and `lower` does not."""


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("babilong/qa4", "the kitchen"),
        ("babilong/qa14", "cinema"),
        ("babilong/qa6", "yes"),
        ("michelangelo/idk", "the skating rink"),
        ("michelangelo/idk", "the sixth choice"),
        ("minerva/membership", "the sixth list"),
        ("minerva/membership", "It is missing in List 1."),
        ("sync/graph", "the longest path is missing"),
    ],
)
def test_letters_of_other_alphabets_are_no_exception(task: str, said: str) -> None:
    """Readers looked such a word up under a name that it does not have, and ended with a KeyError."""
    for letter, others in ALIKE.items():
        for other in others:
            for asked in fuzz.questions(task):
                reply = said.replace(letter, other)
                assert grade(asked.item.task, asked.item.question, reply).status in STATUSES


def test_a_word_is_what_its_pattern_took_it_for() -> None:
    question = Question("Where?", "kitchen", (), 0.0, options=("kitchen", "skating rink"))
    assert [*Choice().find_values("In the kıtchen, the \u212aITCHEN.", question)] == ["kitchen", "kitchen"]
    assert [*Choice().find_values("In the ſkatİng  rin\u212a.", question)] == ["skating rink"]
