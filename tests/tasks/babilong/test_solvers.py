"""The solvers on the official bAbI files, among sentences of a novel, and where a text decides nothing."""

import pytest

from carrara.tasks.babilong._facts import Fits
from carrara.tasks.babilong._grammar import read
from carrara.tasks.babilong._story import StoryQuestion
from carrara.tasks.babilong._task import TASKS, load_task
from carrara.tasks.babilong.qa18 import chains
from carrara.types import UndecidableError
from tests.helpers.babi import official, parts_of

UNDECIDED = {5: 1}
"""Questions of the given files that the text does not decide: two things went the same way a moment ago."""

NOVEL = (
    "It was a dark night.",
    "He went to the window.",
    "The old man is afraid of nothing.",
    "Then, without a word, she left the room.",
    "The house is south of the river, as everybody knows.",
    "Nobody is hungry.",
    "“Mary went to the garden,” he said.",
    "Mr. Pickwick got the giggles!",
    "A" * 50_000 + " went to the garden",
    "word " * 20_000 + ".",
    "Why?",
    "",
)


@pytest.mark.parametrize("task", TASKS)
def test_official_file(task: int) -> None:
    """Every answer, and every set of supporting facts in its order, of every question that the text decides."""
    questions = wrong = undecided = 0
    for told in official(task):
        for question in told.questions:
            questions += 1
            facts = told.facts[: question.after]
            try:
                solved = load_task(task).solution(facts, question.text)
            except UndecidableError:
                undecided += 1
                continue
            right = solved.support == question.support
            if task == 18 and not right:
                # Which of several chains is the support was left to chance: the same question has one and another.
                right = _is_chain(facts, question)
            wrong += solved.answer != question.answer or not right
    assert (questions, wrong, undecided) == (1000, 0, UNDECIDED.get(task, 0))


def _is_chain(facts: tuple[str, ...], question: StoryQuestion) -> bool:
    fits = [(i, fact) for i, fact in enumerate(map(read, facts)) if isinstance(fact, Fits)]
    up = question.support if question.answer == "no" else question.support[::-1]
    low, high = (dict(fits)[i] for i in up)
    return up in chains(fits, low.small, high.large)


def test_chains_are_mostly_the_first() -> None:
    """How often the official support of task 18 is the chain that the solver names: where there is but one, always."""
    first = sum(
        load_task(18).solution(told.facts[: q.after], q.text).support == q.support
        for told in official(18)
        for q in told.questions
    )
    assert first == 902


@pytest.mark.parametrize("task", TASKS)
def test_official_labels(task: int) -> None:
    """Every official answer is one of the task's labels, and every sentence is read."""
    task_name = load_task(task)
    allowed = task_name.answer.labels(task_name.cast)
    for told in official(task):
        assert all(read(sentence) for sentence in told.facts)
        for question in told.questions:
            assert parts_of(task, question.answer) <= set(allowed)


@pytest.mark.parametrize("task", TASKS)
def test_novel_between_facts(task: int) -> None:
    """Sentences that are no facts change nothing but the numbers of the facts."""
    told = official(task)[0]
    for question in told.questions:
        mixed: list[str] = []
        where: list[int] = []
        for i, fact in enumerate(told.facts[: question.after]):
            mixed.append(NOVEL[i % len(NOVEL)])
            where.append(len(mixed))
            mixed.append(fact)
        solved = load_task(task).solution(mixed + list(NOVEL), question.text)
        assert solved == (question.answer, tuple(where[i] for i in question.support))


@pytest.mark.parametrize("sentence", NOVEL)
def test_no_fact(sentence: str) -> None:
    assert read(sentence) is None


@pytest.mark.parametrize("task", TASKS)
def test_nothing_told(task: int) -> None:
    """Without its facts, no question is answered."""
    for question in official(task)[0].questions:
        for facts in ((), NOVEL):
            with pytest.raises(UndecidableError):
                load_task(task).solution(facts, question.text)


@pytest.mark.parametrize(
    ("task", "facts", "question"),
    [
        (1, ["Mary went to the garden."], "Where is John?"),
        (1, ["Mary went to the garden."], "How is Mary?"),
        (2, ["Mary got the milk there."], "Where is the milk?"),
        (2, ["Mary went to the garden."], "Where is Mary?"),
        (3, ["Mary got the milk there.", "Mary went to the garden."], "Where was the milk before the garden?"),
        (4, ["The garden is north of the office."], "What is east of the garden?"),
        (
            5,
            ["Bill gave the milk to Fred.", "Bill gave the apple to Fred."],
            "What did Bill give to Fred?",
        ),
        (8, ["Mary left the room."], "What is Mary carrying?"),
        (9, ["Mary is not in the garden."], "Is Mary in the office?"),
        (11, ["Then she went to the garden."], "Where is Mary?"),
        (12, ["Mary went to the garden.", "Then they went to the office."], "Where is John?"),
        (14, ["Yesterday Bill went to the park.", "Bill went to the school this evening."],
         "Where was Bill before the school?"),
        (15, ["Gertrude is a mouse.", "Cats are afraid of wolves."], "What is gertrude afraid of?"),
        (16, ["Lily is a frog.", "Greg is a swan.", "Greg is white."], "What color is Lily?"),
        (18, ["The box is bigger than the chest."], "Is the box bigger than the suitcase?"),
        (19, ["The garden is north of the office."], "How do you go from the garden to the kitchen?"),
        (20, ["Sumit is blue."], "Where will sumit go?"),
    ],
)  # fmt: skip
def test_undecided(task: int, facts: list[str], question: str) -> None:
    with pytest.raises(UndecidableError):
        load_task(task).solution(facts, question)


def test_other_words() -> None:
    """Names, places and things are whatever stands in the slots."""
    facts = ["Aunt Ottilie went to the boiler room.", "Aunt Ottilie took the magnifying glass there."]
    solved = load_task(2).solution([*facts, "Aunt Ottilie went to the attic."], "Where is the magnifying glass? ")
    assert solved == ("attic", (1, 2))
