"""The answer line, and the words that announce an answer."""

import pytest

from carrara.answers.final_answer import announced, answer_line, asks_for, behind_label


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("FINAL ANSWER: 42", " 42"),
        ("final answer: 42", " 42"),
        ("Final_Answer = 42", " 42"),
        ("**FINAL ANSWER:** 42", "** 42"),
        ("### Final answer\n\n42", "42"),
        ("FINAL ANSWER:\n42\nBye.", "42"),
        ("It is 42. FINAL ANSWER: 42", " 42"),
        ("So my final answer is 42.", " 42."),
        ("FINAL ANSWER: 41\nFINAL ANSWER: 42", " 42"),
        ("FINAL ANSWER: []", " []"),
        ("FINAL ANSWER:", ""),
        ("The final answer will be 42.", None),
        ("The semifinal answer: 42", None),
        ("Answer: 42", None),
    ],
)
def test_the_answer_line(text: str, line: str | None) -> None:
    assert answer_line(text) == line


def test_another_label_stands_beside_the_common_one() -> None:
    assert answer_line("Output: 1\nFINAL ANSWER: 2", "Output") == " 2"
    assert answer_line("FINAL ANSWER: 2\n**Output:** 1", "Output") == "** 1"
    assert answer_line("Output: 1") is None


def test_an_answer_of_several_lines_is_all_that_follows() -> None:
    text = "FINAL ANSWER:\nAgent A: oak\nAgent B: elm\n\nBye."
    assert answer_line(text) == "Agent A: oak"
    assert answer_line(text, several_lines=True) == "\nAgent A: oak\nAgent B: elm\n\nBye."


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Answer: oak", ["oak"]),
        ("**Answer:** oak. It is tall.", ["** oak."]),
        ("The correct answer is: oak", ["oak"]),
        ("Answer:\n\noak", ["oak"]),
        ("Therefore, oak.", ["oak."]),
        ("Output: oak\nResult: elm", ["oak", "elm"]),
        ("Assistant: oak", ["oak"]),
        ("I do not think the answer is oak.", []),
        ("Is the answer oak?", []),
        ("So far I have looked. oak", ["far I have looked."]),
    ],
)
def test_announcements(text: str, parts: list[str]) -> None:
    assert announced(text) == parts


def test_what_stands_behind_the_label() -> None:
    assert behind_label("<think>FINAL ANSWER: 1</think>It is so.\nFINAL ANSWER: 2\n3") == "2\n3"
    assert behind_label("FINAL ANSWER:") == "FINAL ANSWER:"
    assert behind_label("<think>1</think>2") == "<think>1</think>2"


def test_the_prompt_names_the_line() -> None:
    assert answer_line(asks_for("that number").rpartition(": F")[2].join(["F", ""])) == " followed by that number."
