"""Minerva's published scores, against those that its own code gave."""

import json
from typing import Any

import pytest

from carrara.tasks.minerva._published import PRIMARY, Reference, primary, scores
from tests.helpers.published import minerva_cases

TREES = "oak, ash, elm, yew"
HANDS = {"Agent A": ["oak", "ash"], "Agent B": ["elm", "yew", "elm"]}


def test_published_cases() -> None:
    cases: list[dict[str, Any]] = json.loads(minerva_cases())["cases"]
    assert len(cases) == 143
    assert {case["task"] for case in cases} == set(PRIMARY)
    for case in cases:
        found = scores(case["task"], case["reference"], case["answer"])
        assert {name: round(score, 12) for name, score in found.items()} == case["scores"], case
        assert PRIMARY[case["task"]] == case["primary"]
        assert round(primary(case["task"], case["reference"], case["answer"]), 12) == case["primary_score"]


@pytest.mark.parametrize(
    ("task", "reference", "reply", "score"),
    [
        ("string_search_word", "yes", " YES. ", 1.0),
        ("string_search_word", "no", "I do not know.", 1.0),
        ("patch_the_difference", "oak.", "oak.", 0.0),  # the full stop goes from the reply alone
        ("key_value_search", "", "", 1.0),
        ("batch_key_value_search", TREES, "Sure: oak, ash, elm, yew!", 1.0),
        ("compare_two_lists", TREES, "yew, elm, ash, oak", 0.25),
        ("snapshot_random_numbers", "1, -1, 20", "-1, 1, 20", 1.0),
        ("processing_data_blocks", "", "", 0.0),
        ("iterate_last", TREES, "1. oak 2. ash 3. elm 4. yew", 2 / 3),
        ("quantity_state", 42, "42 + 0\nFINAL ANSWER: 42..", 1.0),
        ("quantity_state", 42, "FINAL ANSWER: **42**", 0.0),
        ("quantity_state", 1908, "FINAL ANSWER: 1,908", 0.0),
        ("quantity_state", 42, "After FINAL ANSWER: I say the number. FINAL ANSWER: 42", 0.0),
        ("set_state", ["oak", "elm"], "FINAL ANSWER:\nelm, oak, oak.", 1.0),
        ("set_state", ["oak", "elm"], "oak,elm", 0.0),
        ("theory_of_mind", HANDS, "FINAL ANSWER: Agent B: yew,elm\nAgent A :ash, oak.", 1.0),
        ("theory_of_mind", HANDS, "Agent B: yew, elm.", 1 / 6),  # no marker: the full stop is part of the word
        ("theory_of_mind", HANDS, "**Agent A:** oak, ash\nC: elm, yew", 0.0),
    ],
)
def test_its_faults(task: str, reference: Reference, reply: str, score: float) -> None:
    assert primary(task, reference, reply) == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("6", 0.0),
        ("6 times", 1.0),
        ("sixteen times", 1.0),
        ("Not once: 6 times", 0.0),
        ("9" * 100_000 + " times", 0.0),
    ],
)
def test_counts(reply: str, score: float) -> None:
    assert scores("count", "6", reply)["count_accuracy"] == score


def test_all_scores_of_agents() -> None:
    found = scores("theory_of_mind", HANDS, "FINAL ANSWER: Agent A: oak, fir, yew")
    names = ("precision", "recall", "f1", "jaccard_similarity")
    assert [found[f"set_overlap_{name}"] for name in names] == pytest.approx([1 / 6, 1 / 4, 1 / 5, 1 / 8])
    assert [found[f"rouge-1{end}"] for end in ("", "_precision", "_recall")] == pytest.approx([4 / 8, 4 / 7, 4 / 9])
    assert found["exact_match"] == 0.0
    assert len(found) == 11
