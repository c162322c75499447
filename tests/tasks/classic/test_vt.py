"""Variable tracking: chains of one shape, and replies with a trace."""

import re
from collections import Counter
from dataclasses import replace

import pytest

from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import make
from tests.helpers.classic import question_of, text_of
from tests.helpers.graded_answer import answered
from tests.helpers.labels import check_readings


def test_chains_are_of_one_shape_and_in_any_order() -> None:
    first: Counter[bool] = Counter()
    for index in range(60):
        item = make("classic/vt", index=index)
        statements = re.findall(r"Let (\w+) be (\w+)\.", text_of(item))
        source = dict(statements)
        assert len(source) == len(statements) == 20
        roots = Counter(_end(source, name) for name in source)
        assert sorted(roots.values()) == [5, 5, 5, 5]
        value = re.findall(r"value (\d+) at", item.text)[-1]
        first[value == next(said for _, said in statements)] += 1
        assert sorted(name for name in source if _end(source, name) == value) == list(item.question.gold)
    assert 5 < first[True] < 27  # the asked chain begins first in a quarter


def _end(source: dict[str, str], name: str) -> str:
    while name in source:
        name = source[name]
    return name


def test_the_published_form_has_one_chain_whose_variables_are_all_there_are() -> None:
    item = make("classic/vt", length=1024, params={"chains": "1"})
    names = sorted(re.findall(r"Let (\w+) be", text_of(item)))
    assert names == list(item.question.gold)
    assert item.question.chance_level == 1.0
    assert grade(item.task, item.question, " ".join(names)).score == 1.0


def test_listing_every_variable_gains_nothing() -> None:
    item = make("classic/vt", length=1024)
    names = re.findall(r"Let (\w+) be", text_of(item))
    graded = grade(item.task, item.question, ", ".join(names))
    assert (graded.score, graded.scores) == (0.0, {"ruler": 1.0})
    assert 0.01 < item.question.chance_level < 0.02


VT = registry.load("classic/vt")

THREE = replace(
    question_of("vt", "hops=2"),
    ask="Which 3 variables have the value 21417 at the end?",
    gold=("JPXCM", "KFFRM", "RJBMR"),
)

TRACE = """To solve this, trace each of the assignments step by step:

1. PGQLH = 37872
2. MMZVW = PGQLH
3. KFFRM = 21417
4. JPXCM = KFFRM
5. RJBMR = JPXCM
"""

TALK = "Let KFFRM be 21417. Let JPXCM be KFFRM. Let RJBMR be JPXCM. The rest: PGQLH, MMZVW, QZWCQ have 37872."

WHY = (
    "KFFRM is given the value 21417, JPXCM is KFFRM, RJBMR is JPXCM. The others (PGQLH, MMZVW) have the value 37872, "
    "so they are not included in the list of variables with the asked value."
)


LISTS = [
    f"{TRACE}\nThe variables with the value 21417 are:\n\n- KFFRM\n- JPXCM\n- RJBMR",
    f"{TRACE}\nSo KFFRM, JPXCM, and RJBMR all have the value 21417.",
    f"{TRACE}\nKFFRM, JPXCM, RJBMR",
    f"{TRACE}\nValue 21417: KFFRM, JPXCM, RJBMR\nValue 37872: PGQLH, MMZVW",
    f"{TALK}\n\nKFFRM, JPXCM, RJBMR",
    f"KFFRM, JPXCM, RJBMR\n\n{WHY}",
    "KFFRM, JPXCM, RJBMR\n\nThe variables PGQLH and MMZVW have the value 37872.",
    "The answer is: KFFRM, JPXCM, RJBMR. Note: PGQLH has 37872.",
    "**Answer:**\n1. KFFRM (21417)\n2. JPXCM\n3. RJBMR\n\nPGQLH is 37872.",
    "Answer:\n- KFFRM is set to 21417\n- JPXCM is set to KFFRM\n- RJBMR is set to JPXCM",
    "KFFRM, JPXCM, RJBMR, but PGQLH, MMZVW have the value 37872.",
    "KFFRM, JPXCM and RJBMR have the value 21417, while PGQLH and MMZVW have the value 37872.",
    "KFFRM, JPXCM, RJBMR (not PGQLH, MMZVW)",
    "KFFRM, JPXCM, RJBMR (PGQLH and MMZVW have 37872)",
    "Not PGQLH, MMZVW or QZWCQ, but KFFRM, JPXCM, RJBMR.",
    "KFFRM, JPXCM, PGQLH. Wait, PGQLH is 37872. It's KFFRM, JPXCM, RJBMR.",
    "KFFRM (assigned 21417), JPXCM (assigned KFFRM), RJBMR (assigned JPXCM)",
    "KFFRM has 21417. JPXCM and RJBMR have it too.",
]
"""Replies that name the three variables, perhaps among others that are not meant."""


def test_the_list_is_told_from_the_trace() -> None:
    check_readings([(answered(VT, reply, THREE), THREE.gold) for reply in LISTS], 33)


@pytest.mark.parametrize(
    ("reply", "names"),
    [
        ("KFFRM, JPXCM, RJBMR\n\nPGQLH, MMZVW, QZWCQ", 6),
        ("KFFRM, JPXCM, RJBMR or PGQLH, MMZVW, QZWCQ", 6),
        ("Answer: KFFRM, JPXCM, RJBMR or PGQLH, MMZVW, QZWCQ", 6),
        ("The variables are:\n- KFFRM\n- JPXCM\n- RJBMR\n- PGQLH\n- MMZVW\n- QZWCQ", 6),
        ("Answer: KFFRM\nAnswer: JPXCM\nAnswer: RJBMR\nAnswer: PGQLH\nAnswer: MMZVW\nAnswer: QZWCQ", 6),
        ("\\boxed{KFFRM} \\boxed{JPXCM} \\boxed{RJBMR} \\boxed{PGQLH} \\boxed{MMZVW} \\boxed{QZWCQ}", 6),
        ("KFFRM PGQLH\nJPXCM PGQLH\nRJBMR MMZVW\nMMZVW QZWCQ\nKFFRM JPXCM", 6),
        (TRACE, 5),
    ],
)
def test_several_lists_are_one(reply: str, names: int) -> None:
    answer = answered(VT, reply, THREE)
    assert answer is None or len(answer) == names


@pytest.mark.parametrize(
    "part",
    [
        *("Answer: KQWZT\n", "(KQWZT, ", "(KQWZT) ", "not KQWZT, ", "KQWZT but ", "so: KQWZT MMZVW.\n", "KQWZT. "),
        *("wait. ", "and ", "1. ", "x:\nKQWZT\n", "KQWZT and 12345 is ", "\\boxed{KQWZT}", "((((", "12,345,"),
    ],
)
@pytest.mark.sampled(2)
def test_hostile_lists_end(part: str) -> None:
    for reply in (part * (100_000 // len(part)), part + " " * 100_000 + "x"):
        assert grade(VT, THREE, reply).score == 0.0
