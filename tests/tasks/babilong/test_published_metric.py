"""The published metric of BABILong: its faults, and the words that it looks for."""

import pytest

from carrara.tasks.babilong._task import load_task
from carrara.types import Question


@pytest.mark.parametrize(
    ("task", "reply", "target", "question", "counts"),
    [
        (7, "none", "none", "How many objects is Mary carrying?", False),  # `none` holds `one`
        (7, "one", "one", "How many objects is Mary carrying?", True),
        (6, "I do not know", "no", "Is Mary in the garden?", True),  # `no` is in `not` and `know`
        (6, "Yes, Mary is not in the kitchen", "yes", "Is Mary in the garden?", False),
        (8, "milk, apple", "apple,milk", "What is Mary carrying?", True),
        (8, "apple", "apple,milk", "What is Mary carrying?", False),
        (8, "apple,milk,football", "apple,milk", "What is Mary carrying?", False),
        (19, "s, w", "s,w", "How do you go from the garden to the office?", False),
        (19, "s,w", "s,w", "How do you go from the garden to the office?", True),
        (1, "1. garden", "garden", "Where is Mary?", False),
        (1, "Let me see. The answer is garden", "garden", "Where is Mary?", False),
        (1, "garden or kitchen", "garden", "Where is Mary?", False),
        (3, "Before the kitchen it was in the garden", "garden", "Where was the apple before the kitchen? ", True),
        (15, "mice", "mouse", "What is emily afraid of?", False),
        (15, "cats", "cat", "What is emily afraid of?", True),
        (5, "Fred gave it", "Fred", "Who gave the milk?", True),
    ],
)
def test_its_faults(task: int, reply: str, target: str, question: str, counts: bool) -> None:
    assert load_task(task).paper_scores(reply, Question(question, target, (), 0.0)) == {"paper": counts}


PLACES = frozenset({"bathroom", "bedroom", "garden", "hallway", "kitchen", "office"})
LABELS = {
    **dict.fromkeys((1, 2, 3, 4, 11, 12, 13), PLACES),
    **dict.fromkeys((6, 9, 17, 18), frozenset({"yes", "no"})),
    5: frozenset({"bill", "fred", "jeff", "mary", "apple", "football", "milk"}),
    7: frozenset({"none", "one", "two", "three"}),
    8: frozenset({"apple", "football", "milk", "nothing"}),
    10: frozenset({"yes", "no", "maybe"}),
    14: frozenset({"bedroom", "cinema", "kitchen", "office", "park", "school"}),
    15: frozenset({"cat", "mouse", "sheep", "wolf"}),
    16: frozenset({"gray", "green", "white", "yellow"}),
    19: frozenset(f"{a},{b}" for a in "nsew" for b in "nsew" if {a, b} not in ({"n", "s"}, {"e", "w"})),
    20: frozenset({"bedroom", "garden", "kitchen", "bored", "hungry", "thirsty", "tired"}),
}
"""Those that the published metric looks for."""


@pytest.mark.parametrize("task", LABELS)
def test_the_official_words_make_the_published_labels(task: int) -> None:
    assert load_task(task).official_labels == LABELS[task]
