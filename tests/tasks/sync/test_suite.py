"""What SYNC's two tasks have in common: several questions on one context, refused parameters, greedy choices."""

import pytest

from carrara.items.grading import grade
from carrara.items.item import Item, make
from carrara.tasks.sync.graph import LABELS
from carrara.util.errors import UsageError
from tests.helpers.sync import COVERAGE, LONGEST, posed


@pytest.mark.parametrize("task", ["graph", "translation"])
@pytest.mark.parametrize("length", [0, 8192])
def test_three_questions_share_a_context_to_the_byte(task: str, length: int) -> None:
    texts = [make(f"sync/{task}", index=5, length=length, question=q, tokenizer="mistral-v7") for q in range(3)]
    contexts = {item.text.rpartition("Question: ")[0] for item in texts}
    assert len(contexts) == 1
    assert len({item.item_id.context_id for item in texts}) == 1
    assert max(item.prompt.tokens for item in texts) == length or not length


@pytest.mark.parametrize("task", ["graph", "translation"])
@pytest.mark.parametrize("question", range(3))
@pytest.mark.parametrize(
    "piece", ["Node 1, ", "a ", "Shortest Path: Node 1\n", "Translation: abc\n", "(", "<", "[1, ", "-> "]
)
@pytest.mark.sampled(1)
def test_endless_replies_are_read_in_time(task: str, question: int, piece: str) -> None:
    item = posed(task, 0, question)
    assert grade(item.task, item.question, piece * (1_000_000 // len(piece))).score == 0.0
    assert grade(item.task, item.question, f"{LABELS['shortest']}: {piece * 10_000}").score == 0.0


@pytest.mark.parametrize(
    ("task", "given", "told"),
    [
        ("graph", {"density": "0"}, "more than 0"),
        ("graph", {"nodes": "2"}, "3 to 200"),
        ("graph", {"longest": "10"}, "2 to 9"),
        ("graph", {"unreachable": "2"}, "shares"),
        ("graph", {"about": "longest,longest"}, "once"),
        ("graph", {"density": "1"}, "ask for other nodes"),
        ("translation", {"languages": "101"}, "LL99"),
        ("translation", {"entries": "300"}, "vocabulary"),
        ("translation", {"letters": "1,2"}, "words of so few letters"),
        ("translation", {"phrase": "9"}, "chained"),
        ("translation", {"languages": "3", "entries": "4", "chained": "4", "phrase": "2"}, "random guess"),
    ],
)
@pytest.mark.sampled(4)
def test_what_cannot_be_is_refused(task: str, given: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        make(f"sync/{task}", params=given)


@pytest.mark.parametrize("task", ["graph", "translation"])
def test_a_length_below_the_puzzle_is_refused(task: str) -> None:
    with pytest.raises(UsageError, match="without any filler"):
        make(f"sync/{task}", index=2, length=300)


def test_instances_are_the_same_whatever_is_asked() -> None:
    part = posed("graph", 4, 0, about="longest")
    assert part.question.gold == posed("graph", 4, LONGEST).question.gold


@pytest.mark.slow
def test_greed_is_wrong_in_all_but_a_share() -> None:
    assert sum(grade_of(posed("graph", index, LONGEST)) for index in range(60)) <= 0.05 * 60 + 1
    assert sum(grade_of(posed("graph", index, LONGEST, greedy="1")) for index in range(60)) > 20
    languages = {"languages": "5"}
    assert sum(grade_of(posed("translation", index, COVERAGE, **languages)) for index in range(12)) <= 1
    assert sum(grade_of(posed("translation", index, COVERAGE, greedy="1", **languages)) for index in range(12)) > 6


def grade_of(item: Item) -> float:
    """Return the score of the best greedy choice."""
    said = item.task.heuristics(item.context.instance, item.question).values()
    return max(grade(item.task, item.question, one).score for one in said)


@pytest.mark.parametrize("task", ["graph", "translation"])
@pytest.mark.parametrize("share", ["-0.1", "nan"])
def test_a_share_of_greed_is_a_share(task: str, share: str) -> None:
    with pytest.raises(UsageError, match="share"):
        posed(task, 0, 0, greedy=share)
