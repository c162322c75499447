"""Readers of replies under replies that no model gives: a part of what `python -m benchmarks.fuzz_replies` grades."""

from collections.abc import Iterator

import pytest

from carrara.answers import Choice
from carrara.answers.status import STATUSES
from carrara.items import registry
from carrara.items.grading import Grade, grade
from carrara.types import Question
from tests.helpers import fuzz, fuzz_grading
from tests.helpers.fuzz import Case
from tests.helpers.fuzz_grading import Found, broken_promises, try_all, try_one

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


def test_a_number_is_all_that_it_takes_to_see_a_reply_again() -> None:
    drawn = [Case("sync/graph", 0, number).reply for number in range(50)]
    assert drawn == [Case("sync/graph", 0, number).reply for number in range(50)]
    assert drawn != [Case("sync/graph", 1, number).reply for number in range(50)]
    assert len(set(drawn)) > 40


def test_replies_go_far_into_the_readers() -> None:
    """Noise alone would be unparsed before a reader has begun."""
    found = try_all(("minerva/membership", 0, range(200)))
    assert 20 < found.statuses["ok"] < 180


def test_what_is_promised_is_looked_at() -> None:
    assert not list(broken_promises(Grade("ok", "5", 1.0, {"paper": 0.5})))
    assert not list(broken_promises(Grade("refused", None, 0.0)))
    for broken in (
        Grade("ok", "5", 1.1),
        Grade("ok", "5", float("nan")),
        Grade("ok", "5", 1.0, {"paper": -0.1}),
        Grade("unparsed", None, 0.5),
        Grade("truncated", "5", 0.5),
        Grade("ok", None, 0.0),
        Grade("read", "5", 1.0),  # type: ignore[arg-type]
    ):
        assert list(broken_promises(broken))


def test_an_exception_and_another_grade_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("sync/graph", 0, 0)
    found = Found()
    grades = iter([Grade("ok", "5", 1.0), Grade("ok", "6", 1.0)])
    monkeypatch.setattr(fuzz_grading, "grade", lambda *_: next(grades))
    try_one(case, "a", found)
    assert found.failures == ["sync/graph:0: another grade when it is graded again"]

    def raising(*_: object) -> Grade:
        raise RecursionError("too deep")

    monkeypatch.setattr(fuzz_grading, "grade", raising)
    try_one(case, "a", found)
    assert found.failures[1] == "sync/graph:0: RecursionError: too deep"


def test_the_longest_is_a_million_characters() -> None:
    assert fuzz.LONGEST == 1_000_000
    assert max(len(Case("sync/graph", 0, number).reply) for number in range(300)) < fuzz.LONGEST
