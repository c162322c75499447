"""Statuses tell apart a reply without text, one without an answer, and one that states an impossible answer."""

import pytest

import carrara
from carrara.items.grading import NOT_POSSIBLE, grade

ASKED = {
    "babilong/qa1": "a place",
    "minerva/count": "a number",
    "minerva/membership": "a list",
    "classic/passkey": "five digits",
    "classic/niah": "seven digits each",
    "michelangelo/idk": "a letter",
    "sync/graph": "nodes",
}


@pytest.mark.parametrize(
    ("task", "reply", "answer"),
    [
        ("babilong/qa1", "FINAL ANSWER: 12", "12"),
        ("babilong/qa1", "FINAL ANSWER: <the attic>", "the attic"),
        ("babilong/qa1", "The answer is: 12.", "12"),
        ("babilong/qa1", r"\boxed{12}", "12"),
        ("minerva/count", "FINAL ANSWER: 7.5", "7.5"),
        ("minerva/membership", "FINAL ANSWER: List 99", "List 99"),
        ("classic/passkey", "508917", "508917"),
        ("classic/niah", "FINAL ANSWER: 508917, 123456", "508917, 123456"),
        ("classic/hops", "FINAL ANSWER: Rebzor Elsewhere", "Rebzor Elsewhere"),
        ("michelangelo/idk", "FINAL ANSWER: E", "E"),
        ("sync/graph", "Connected Node: Paris", "Paris"),
    ],
)
def test_a_stated_answer_that_is_none_of_the_possible_ones_is_a_wrong_answer(
    task: str, reply: str, answer: str
) -> None:
    graded = carrara.item(task).grade(reply)
    assert (graded.status, graded.answer, graded.score) == ("ok", answer, 0.0)
    assert graded.error_type == NOT_POSSIBLE


@pytest.mark.parametrize("reply", ["{asked}", "FINAL ANSWER: {asked}", "The answer is {asked}."])
def test_a_name_of_the_question_is_a_wrong_answer_where_it_is_not_possible(reply: str) -> None:
    item = carrara.item("babilong/qa3")
    asked = item.question.ask.rstrip("?").rpartition(" ")[2]
    assert asked not in item.question.options
    graded = item.grade(reply.format(asked=asked))
    assert (graded.status, graded.answer, graded.error_type) == ("ok", asked, NOT_POSSIBLE)


@pytest.mark.parametrize("task", ASKED)
@pytest.mark.parametrize("reply", ["", " \n", "<think>Is it 12?", "<think>12</think>\n"])
def test_a_reply_without_text_is_empty(task: str, reply: str) -> None:
    graded = carrara.item(task).grade(reply)
    assert (graded.status, graded.answer, graded.score) == ("empty", None, 0.0)


@pytest.mark.parametrize("task", ASKED)
@pytest.mark.parametrize(
    "reply",
    [
        "FINAL ANSWER:",
        "FINAL ANSWER: unknown",
        "FINAL ANSWER: not 12",
        "FINAL ANSWER: attic or cellar",
        "FINAL ANSWER: Paris\nFINAL ANSWER: I cannot decide.",
        "Turtles are nice.",
        "The text describes how several people moved between rooms, and it goes on for a while.",
    ],
)
def test_a_reply_without_a_clear_answer_is_unparsed(task: str, reply: str) -> None:
    if task == "michelangelo/idk" and ("unknown" in reply or "don't know" in reply or "decide" in reply):
        pytest.skip("that is an answer here")
    graded = carrara.item(task).grade(reply)
    assert (graded.status, graded.answer, graded.score) == ("unparsed", None, 0.0)


@pytest.mark.parametrize("task", ASKED)
def test_a_repeated_rule_is_no_answer(task: str) -> None:
    item = carrara.item(task)
    for text in item.task.wording.values():
        rule = text.partition("FINAL ANSWER: ")[2]
        if rule and "=" not in rule and "\n" not in rule:
            assert item.grade(f"FINAL ANSWER: {rule}").status == "unparsed", rule


def test_a_refusal_on_the_answer_line_is_a_refusal() -> None:
    item = carrara.item("qa1")
    for reply in ("FINAL ANSWER: I'm sorry, but I can't help with that.", "I can't help with that. FINAL ANSWER: none"):
        assert item.grade(reply).status == "refused"


def test_a_reply_that_was_cut_off_stays_truncated() -> None:
    item = carrara.item("qa1")
    for reply in ("", "FINAL ANSWER: attic", "FINAL ANSWER: kitchen"):
        assert grade(item.task, item.question, reply, "truncated").status == "truncated"


def test_no_possible_answer_is_called_impossible() -> None:
    for task in ASKED:
        item = carrara.item(task)
        gold = item.gold
        for reply in (
            gold,
            f"FINAL ANSWER: {gold}",
            f"FINAL ANSWER: <{gold}>",
            f"FINAL ANSWER: about {gold}",
            f"~{gold}",
        ):
            graded = item.grade(reply)
            assert graded.error_type != NOT_POSSIBLE or gold not in (graded.answer or ""), reply
