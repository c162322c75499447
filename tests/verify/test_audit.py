"""The contract that every test keeps, checked over all of them at once: the audit, small."""

from collections import Counter
from typing import Any

import pytest

from carrara import params
from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import PosedInstance, contexts, make, questions_of
from carrara.items.item_id import ItemId
from carrara.rng import SPLITS, Split
from carrara.types import ANSWER, Question
from carrara.verify.audit import audit
from carrara.verify.reference import majority
from tests.helpers.graded_answer import answered

TASKS = registry.names()
LIGHT = [pytest.param(task, marks=pytest.mark.slow) if task == "sync/translation" else task for task in TASKS]
"""The quick tier leaves out the one whose instances take a tenth of a second each."""
INSTANCES = 15
FEW = 6
"""Instances of a key, where many keys are compared."""


def first(task: str, *, length: int = 0, split: Split = "test", seed: int = 0, given: str = "") -> ItemId:
    return ItemId(task, registry.load(task).version, given, split, seed, 0, 0, length, "chat", "", "o200k")


@pytest.mark.parametrize(("length", "instances"), [(0, INSTANCES), (2048, FEW), (8192, 4)])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(6)
def test_audit_finds_nothing(task: str, length: int, instances: int) -> None:
    report = audit(first(task, length=length), instances)
    assert report.items >= instances or (report.items and report.left_out)
    assert report.breaches == []


@pytest.mark.parametrize("task", LIGHT)
@pytest.mark.sampled(4)
def test_splits_share_no_puzzle(task: str) -> None:
    seen: dict[str, str] = {}
    for split in SPLITS:
        for seed in (0, 1):
            for context in contexts(first(task, split=split, seed=seed), FEW):
                for item in context.items:
                    assert seen.setdefault(item.survey.sha256, split) == split


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(21)
def test_an_item_of_any_index_is_made(task: str) -> None:
    """An item that depends on all that come before it would never come to an end here."""
    item = make(task, length=6000, index=(1 << 31) + 7, split="train", tokenizer="gpt2")
    assert 5500 < item.survey.tokens <= 6000  # questions that share a context differ in length


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(4)
def test_seeds_share_no_item(task: str) -> None:
    """In filler: where few instances are possible, a bare puzzle comes up again (`repeated` in an audit)."""
    seen: dict[str, int] = {}
    for seed in (0, 1, 2):
        for context in contexts(first(task, seed=seed, length=4096), FEW):
            for item in context.items:
                assert seen.setdefault(item.survey.sha256, seed) == seed


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(20)
def test_worlds_are_the_same_at_every_length(task: str) -> None:
    if registry.load(task).is_sized:
        pytest.skip("its context is its structure: tests/tasks/minerva says what stays the same")
    golds = [[make(task, length=length, index=i).gold for i in range(6)] for length in (0, 4096, 6000)]
    assert golds[0] == golds[1] == golds[2]


@pytest.mark.parametrize("task", LIGHT)
@pytest.mark.sampled(3)
def test_no_blind_answer_beats_the_chance_level(task: str) -> None:
    """Neither the blind guesser nor the commonest answer scores more than declared, beyond sampling error."""
    guessed: dict[str, list[float]] = {}
    chance_levels: dict[str, list[float]] = {}
    posed = [
        questions_of(ItemId(task, registry.load(task).version, "", "test", 3, i, 0, 0, "chat", "", ""))
        for i in range(150)
    ]
    asked = [(one, question) for one in posed for question in one.questions]
    if len({question.chance_level for _, question in asked}) == 1:  # declared for all together, whatever their labels
        kinds = {"": asked}
    else:
        kinds = {kind: [pair for pair in asked if kind_of(pair) == kind] for kind in map(kind_of, asked)}
    for kind, pairs in kinds.items():
        if len(pairs) < 2:
            continue  # one half has no other to learn from
        answers = Counter(one.task.write(question.gold) for one, question in pairs[::2])
        common = answers.most_common(1)[0][0]
        chance_levels[kind] = [question.chance_level for _, question in pairs]
        guessed[kind] = []
        for one, question in pairs:
            reply = one.task.write(one.task.guess(one.key.rng("test of the chance level"), one.instance, question))
            guessed[kind].append(grade(one.task, question, reply).score)
        constant = [grade(one.task, question, common).score for one, question in pairs[1::2]]
        for scores in (guessed[kind], constant):
            chance_level = sum(chance_levels[kind]) / len(chance_levels[kind])
            error = (max(chance_level * (1 - chance_level), 0.02) / len(scores)) ** 0.5
            assert sum(scores) / len(scores) <= chance_level + 4 * error, kind


def kind_of(pair: tuple[PosedInstance, Question[Any]]) -> str:
    return str(sorted((name, value) for name, value in pair[1].labels.items() if name != ANSWER))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(3)
def test_the_commonest_answer_is_one_that_is_possible(task: str) -> None:
    for context in contexts(first(task), INSTANCES):
        for item in context.items:
            if item.question.options:
                assert grade(item.task, item.question, majority(item, [])).status == "ok"


@pytest.mark.parametrize("task", TASKS)
def test_parameters_have_defaults_that_read_back(task: str) -> None:
    loaded = registry.load(task)
    assert params.build(loaded, task, params.defaults(loaded)) == loaded
    assert params.canonical(loaded) == ""


ATTACKS = {
    "nothing": "",
    "spaces": " \n\t ",
    "thinking only": "<think>It must be 4, or [4].",
    "a refusal": "I'm sorry, but I can't help with that.",
    "markup": "<b></b><script>alert('x')</script>",
    "an expression": "__import__('os').getcwd()",
    "other digits": "٣٤",
}
LONG_ATTACKS = {
    "characters": "word " * 200_000,
    "digits": "7" * 1_000_000,
    "brackets": "[" * 1_000_000,
    "lines": "\n" * 1_000_000,
}
SILENT = ("nothing", "spaces", "thinking only", "a refusal", "brackets", "lines")


READERS = list({type(registry.load(task).answer): task for task in TASKS}.values())
"""One task for each answer type."""


def score_nothing(task: str, attack: str, reply: str) -> None:
    posed = questions_of(first(task))
    for question in posed.questions:
        graded = grade(posed.task, question, reply)
        assert graded.score == 0.0
        if attack in SILENT or answered(posed.task, "quixotry", question) is None:  # any word may be the answer in some
            assert graded.status in ("unparsed", "empty", "refused")


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("task", TASKS)
def test_hostile_replies_score_nothing(task: str, attack: str) -> None:
    score_nothing(task, attack, ATTACKS[attack])


@pytest.mark.parametrize("attack", LONG_ATTACKS)
@pytest.mark.parametrize("task", READERS)
@pytest.mark.sampled(0, 52)
def test_replies_of_a_million_characters_score_nothing(task: str, attack: str) -> None:
    score_nothing(task, attack, LONG_ATTACKS[attack])
