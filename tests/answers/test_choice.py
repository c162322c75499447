"""Answers from a closed list, as replies state them."""

from typing import Any

import pytest

from carrara.answers import AnswerType, ListName, OneOf, YesNo
from carrara.types import Question

LISTS = tuple(f"List {n}" for n in range(1, 5))
WHICH = Question(
    'Which of the lists contains the word "oak"? If none of them does, answer no.',
    "List 2",
    (),
    0.0,
    options=(*LISTS, "no"),
)
AGENT = Question("Which agent has the word?", "Agent C", (), 0.0, options=("Agent A", "Agent B", "Agent C"))
THERE = Question('Is the word "oak" in the context?', "yes", (), 0.0)
ABOVE = Question("Is the sphere above the box?", "yes", (), 0.0)


def answer(kind: AnswerType[Any], reply: str, question: Question[Any]) -> Any:
    found = kind.read(reply, question)
    return found and found.answer


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ("List 2", "List 2"),
        ("2", "List 2"),
        ("Answer: 2", "List 2"),
        ('{"answer": "List 2"}', "List 2"),
        ('The word "oak" is in List 2.', "List 2"),
        ("It is not in List 1. It is in List 2.", "List 2"),
        ("List 1. Wait, no, List 2.", "List 2"),
        ("Compared: List 1, List 3, List 4.\n\nFINAL ANSWER: List 2", "List 2"),
        ("no", "no"),
        ("No.", "no"),
        ("FINAL ANSWER: no", "no"),
        ("List 12", None),
        ("Is it List 1?", None),
        ("It is not List 2.", None),
        ("List 1 or List 2", None),
        ("List 1, List 2, List 3, List 4, no", None),
        ("No answer.", None),
    ],
)
def test_the_name_of_a_list(reply: str, name: str | None) -> None:
    assert answer(ListName(), reply, WHICH) == name


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ("C", "Agent C"),
        ("Agent C has the word.", "Agent C"),
        ("Agent A or Agent C", None),
        ("Agent D", None),
    ],
)
def test_one_of_several_names(reply: str, name: str | None) -> None:
    assert answer(OneOf(), reply, AGENT) == name


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("Yes.", "yes"),
        ("No, it is not there.", "no"),
        ("True", "yes"),
        ("**Answer:** No", "no"),
        ('{"answer": "yes"}', "yes"),
        ("The answer is **yes**, since it is the third word.", "yes"),
        ('Yes, "oak" is one of the words; no other occurrences exist.', "yes"),
        ("Yes, it is. Wait, no, it is not.", "no"),
        ("Yes\n\nContext:\nfoo, bar\n\nAnswer: No", "yes"),
        ('The word "oak" is in the context.', "yes"),
        ('The word "oak" is not in the context.', "no"),
        ("Is it in the context? No", "no"),
        ("Yes. No.", None),
        ("yes / no", None),
        ("- yes\n- no", None),
        ("There is no context.", None),
        ("The word might be in the context.", None),
        ("I can't verify that the word is in the context.", None),
        ('Is the word "elm" in the context?', None),
    ],
)
def test_yes_and_no(reply: str, verdict: str | None) -> None:
    assert answer(YesNo(), reply, THERE) == verdict


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("The sphere is above the box.", "yes"),
        ("The sphere is not above the box.", "no"),
        ("The box is above the sphere.", None),
        ("The sphere is below the box.", None),
    ],
)
def test_the_question_as_a_statement(reply: str, verdict: str | None) -> None:
    assert answer(YesNo(), reply, ABOVE) == verdict
