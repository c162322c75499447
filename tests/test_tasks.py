"""The contract that every test keeps, checked over all of them at once: the audit, small."""

import pytest

from carrara import params, suites
from carrara.audit import audit
from carrara.grading.grade import grade
from carrara.items import contexts, make, questions_of
from carrara.keys import SPLITS, Split
from carrara.recipe import Recipe

TASKS = suites.names()
WORLDS = 15


def first(task: str, *, length: int = 0, split: Split = "test", seed: int = 0, given: str = "") -> Recipe:
    return Recipe(task, suites.load(task).version, given, split, seed, 0, 0, length, "chat", "", "o200k")


@pytest.mark.parametrize("length", [0, 2048, 8192])
@pytest.mark.parametrize("task", TASKS)
def test_audit_finds_nothing(task: str, length: int) -> None:
    report = audit(first(task, length=length), WORLDS)
    assert report.items >= WORLDS
    assert report.breaches == []


@pytest.mark.parametrize("task", TASKS)
def test_splits_and_seeds_share_no_item(task: str) -> None:
    seen: dict[str, tuple[str, int]] = {}
    for split in SPLITS:
        for seed in (0, 1):
            for context in contexts(first(task, split=split, seed=seed), WORLDS):
                for item in context.items:
                    assert seen.setdefault(item.survey.sha256, (split, seed)) == (split, seed)


@pytest.mark.parametrize("task", TASKS)
def test_worlds_are_the_same_at_every_length(task: str) -> None:
    golds = [[make(task, length=length, index=i).gold for i in range(6)] for length in (0, 1536, 4096)]
    assert golds[0] == golds[1] == golds[2]


@pytest.mark.parametrize("task", TASKS)
def test_blind_guesses_score_the_floor(task: str) -> None:
    """The floor that items declare is what the chance model gets, within three standard errors."""
    scores, floors = [], []
    for index in range(150):
        posed = questions_of(Recipe(task, suites.load(task).version, "", "test", 3, index, 0, 0, "chat", "", ""))
        dice = posed.key.dice("test of the floor")
        for question in posed.questions:
            floors.append(question.floor)
            for _ in range(4):
                reply = posed.task.write(posed.task.guess(dice, posed.world, question))
                scores.append(grade(posed.task, question, reply).score)
    mean, floor = sum(scores) / len(scores), sum(floors) / len(floors)
    error = (sum((s - mean) ** 2 for s in scores) / len(scores) / len(floors)) ** 0.5
    assert abs(mean - floor) <= 3 * error + 0.005


@pytest.mark.parametrize("task", TASKS)
def test_parameters_have_defaults_that_read_back(task: str) -> None:
    loaded = suites.load(task)
    written = params.defaults(loaded)
    assert params.build(loaded, task, written) == loaded.parameters()
    assert params.canonical(loaded, loaded.parameters()) == ""


ATTACKS = {
    "nothing": "",
    "spaces": " \n\t ",
    "thinking only": "<think>It must be 4, or [4].",
    "a refusal": "I'm sorry, but I can't help with that.",
    "markup": "<b></b><script>alert('x')</script>",
    "a million characters": "word " * 200_000,
    "a million digits": "7" * 1_000_000,
    "a million brackets": "[" * 1_000_000,
    "a million lines": "\n" * 1_000_000,
    "an expression": "__import__('os').getcwd()",
    "other digits": "٣٤",
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("task", TASKS)
def test_hostile_replies_score_nothing(task: str, attack: str) -> None:
    posed = questions_of(first(task))
    for question in posed.questions:
        graded = grade(posed.task, question, ATTACKS[attack])
        assert graded.score == 0.0
        assert graded.status in ("unparsed", "refused")
