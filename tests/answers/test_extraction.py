"""The rules by which an answer is read from a reply, what leaves it open, and the answer line.

The first rule that finds an answer decides.
"""

import re

import pytest

import carrara
from carrara.answers import Choice, Extraction, Number, YesNo
from carrara.answers.extraction import announcements, answer_line, asks_for
from carrara.items import registry
from carrara.items.grading import grade
from carrara.types import Question

WHERE = Question("Where is Mary?", "garden", (), 0.0, options=("garden", "kitchen", "office"))
HOW_OFTEN = Question('How often does the word "oak" come in the context?', 8, (), 0.0)

PLACES = [
    # answer line
    ("FINAL ANSWER: garden", "garden", "answer line"),
    ("Final answer\n\n**garden**", "garden", "answer line"),
    ("So the final answer is: the garden.", "garden", "answer line"),
    ("FINAL ANSWER: Mary is in the garden (she left it).", "garden", "answer line"),
    ("The kitchen, then the office.\n\nFINAL ANSWER: in the garden\n\nThe kitchen is empty.", "garden", "answer line"),
    ("<think>FINAL ANSWER: kitchen</think>\nFINAL ANSWER: garden", "garden", "answer line"),
    ("FINAL ANSWER: garden<|im_end|>\n<|im_start|>user\nFINAL ANSWER: kitchen", "garden", "answer line"),
    ("FINAL ANSWER: garden\n\nQuestion: Where is John?\nFINAL ANSWER: kitchen", "garden", "answer line"),
    # boxed
    (r"Kitchen at first, so $\boxed{\text{garden}}$", "garden", "boxed"),
    (r"\boxed{garden}. I mean what I say.", None, None),
    # announced
    ("She was in the kitchen.\nAnswer: garden", "garden", "announced"),
    ('{"answer": "garden"}', "garden", "announced"),
    ("The answer is garden, not kitchen.", "garden", "announced"),
    ("Mary went to the kitchen.\n\nSo Mary is in the **garden**.", "garden", "announced"),
    ("Question: Where is Mary?\nAnswer: garden", "garden", "announced"),
    ("答案：kitchen\nAnswer：garden", "garden", "announced"),
    # alone
    ("garden", "garden", "alone"),
    ("garden. garden.", "garden", "alone"),
    ("[THINK]kitchen[/THINK]garden", "garden", "alone"),
    ("garden\n\nExample 2:\nWhere is John?\nkitchen", "garden", "alone"),
    ("garden\nMary had been in the kitchen, but later moved.", "garden", "alone"),
    ("Kitchen. Scratch that: garden.", "garden", "alone"),
    ("kitchen... no, garden", "garden", "alone"),
    ("It is the kitchen. Wait, that is wrong: she is in the garden.", "garden", "alone"),
    # bold
    ("Mary left the kitchen for the **garden** later.", "garden", "bold"),
    ("Mary left the kitchen for the `garden` later.", "garden", "bold"),
    # only value
    ("Mary is in the garden.", "garden", "only value"),
    ("Not the kitchen: it is the garden. The garden is large.", "garden", "only value"),
    ("Mary went to the garden. She is not in the kitchen.", "garden", "only value"),
    ("John is in the kitchen. Mary is in the garden.", "garden", "only value"),
    ("1. garden", "garden", "only value"),
    # nothing is stated
    ("", None, None),
    ("I do not know.", None, None),
    ("The gardener knows.", None, None),
    ("Mary is not in the garden.", None, None),
    ("Is it the garden?", None, None),
    ("<think>garden", None, None),
    ("Garden. Scratch that.", None, None),
    ("Answer: garden\nFINAL ANSWER: unknown", None, None),
    # several are left open
    ("garden or kitchen", None, None),
    ("**garden** or **kitchen**", None, None),
    (r"\boxed{garden} and \boxed{kitchen}", None, None),
    ("The answer is garden. The answer is kitchen.", None, None),
    ("FINAL ANSWER: garden or kitchen", None, None),
    ("Mary went from the kitchen to the garden.", None, None),
]


@pytest.mark.parametrize(("reply", "answer", "rule"), PLACES)
def test_the_rule_that_decides(reply: str, answer: str | None, rule: str | None) -> None:
    assert Choice().read(reply, WHERE) == ((answer, rule) if answer else None)


def test_parts_of_the_prompt_state_no_answer() -> None:
    rule = "Reply with one line: FINAL ANSWER: garden"
    assert Choice().read(rule, WHERE) == Extraction("garden", "answer line")
    assert Choice().read(rule, WHERE, [rule]) is None
    assert Choice().read(f"{rule}\n\nkitchen", WHERE, [rule]) == Extraction("kitchen", "alone")


@pytest.mark.parametrize(
    ("reply", "answer", "rule"),
    [
        ("Let me count: 1, 2, 3, 4, 5, 6, 7, 8.\nSo 7.\nSo 8.", 8, "announced"),
        ("8\n37\nThese are the numbers.", None, None),
        ("FINAL ANSWER: 7 or 8", None, None),
        ("7\n8\nFINAL ANSWER: 7 + 1 = 9", None, None),
    ],
)
def test_of_the_steps_of_a_calculation_the_last_counts(reply: str, answer: int | None, rule: str | None) -> None:
    assert Number().read(reply, HOW_OFTEN) == ((answer, rule) if answer else None)


def test_no_takes_back_what_is_no_yes_or_no() -> None:
    assert Number().read("It comes 7 times. No, 8 times.", HOW_OFTEN) == Extraction(8, "alone")
    assert YesNo().read("It was checked. No, it is not there.", WHERE) == Extraction("no", "only value")


def test_the_ends_of_a_long_reply_are_read() -> None:
    rest = "and so on\n" * 20_000
    assert Choice().read(f"{rest}\nAnswer: garden", WHERE) == Extraction("garden", "announced")
    assert Choice().read(f"{rest}\nAnswer: garden\n{rest}", WHERE) is None
    assert Choice().read(f"{rest}\nFINAL ANSWER: garden\n{rest}", WHERE) == Extraction("garden", "answer line")


@pytest.mark.parametrize("task", ["overwrite", "replace", "snapshot"])
def test_a_right_answer_is_read_whole_however_long_it_is(task: str) -> None:
    item = carrara.item(f"minerva/{task}", length="32k", index=2)
    assert len(item.gold) > 100_000
    assert grade(item.task, item.question, item.gold).score == 1


@pytest.mark.parametrize(
    ("below", "answer"),
    [
        ("Sorry for the long reply.", "garden"),
        ("Hmm, that was a long text.", "garden"),
        ("Wait, that is wrong.", None),
        ("Actually, it is the kitchen.", "kitchen"),
    ],
)
def test_an_answer_line_holds_unless_the_text_below_takes_it_back(below: str, answer: str | None) -> None:
    where = Question("Where is Mary?", "garden", (), 0.0, options=("garden", "kitchen"))
    found = Choice().read(f"FINAL ANSWER: garden\n\n{below}", where)
    assert (found and found.answer) == answer


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("FINAL ANSWER: 42", " 42"),
        ("Final_Answer = 42", " 42"),
        ("**FINAL ANSWER:** 42", "** 42"),
        ("### Final answer\n\n42", "42"),
        ("FINAL ANSWER:\n42\nBye.", "42"),
        ("So my final answer is 42.", " 42."),
        ("FINAL ANSWER: 41\nFINAL ANSWER: 42", " 42"),
        ("FINAL ANSWER:", ""),
        ("The final answer will be 42.", None),
        ("The semifinal answer: 42", None),
    ],
)
def test_the_answer_line(text: str, line: str | None) -> None:
    assert answer_line(text) == line


def test_another_label_stands_beside_the_common_one() -> None:
    assert answer_line("Output: 1\nFINAL ANSWER: 2", "Output") == " 2"
    assert answer_line("FINAL ANSWER: 2\n**Output:** 1", "Output") == "** 1"
    assert answer_line("Output: 1") is None


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Answer: oak", ["oak"]),
        ("**Answer:** oak. It is tall.", ["** oak."]),
        ("The correct answer is: oak", ["oak"]),
        ("Output: oak\nResult: elm", ["oak", "elm"]),
        ("Assistant: oak", ["oak"]),
        ("I do not think the answer is oak.", []),
        ("Is the answer oak?", []),
        ("So far I have looked. oak", ["far I have looked."]),
    ],
)
def test_announcements(text: str, parts: list[str]) -> None:
    assert announcements(text) == parts


def test_the_prompt_names_the_line() -> None:
    assert answer_line(asks_for("that number").rpartition("form: ")[2]) == " <that number>"


REQUESTS = re.compile(r"FINAL ANSWER: <(.*)>$")
ONE_LINE = [
    name for name in registry.names() if REQUESTS.search(registry.load(name).wording.get("rule", "")) and
    name != "carrara/march"
]  # fmt: skip
"""The tasks whose rule asks for one line, and whose reply is one."""


@pytest.mark.parametrize("name", ONE_LINE)
def test_an_answer_behind_all_that_the_rule_asks_for_is_read(name: str) -> None:
    item = carrara.item(name)
    [what] = REQUESTS.findall(item.task.wording["rule"])
    for begins in (f"<{what}>", f"<{what}>:", f"{what}:", f"followed by {what}:", f"**{what}**:"):
        graded = item.grade(f"FINAL ANSWER: {begins} {item.gold}")
        assert (graded.status, graded.score) == ("ok", 1.0), begins


@pytest.mark.parametrize("name", ONE_LINE)
def test_what_the_rule_asks_for_is_no_answer(name: str) -> None:
    item = carrara.item(name, index=1)
    [what] = REQUESTS.findall(item.task.wording["rule"])
    for reply in (f"<{what}>", what, f"{what.capitalize()}.", f"followed by {what}"):
        for label in ("FINAL ANSWER:", "**FINAL ANSWER:**"):
            assert item.grade(f"{label} {reply}").status == "unparsed", reply
