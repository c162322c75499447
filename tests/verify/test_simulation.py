"""The chance level that a task declares is what its guesser scores, whoever wrote the task."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from carrara import params as parameters
from carrara.answers import Number
from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import PosedInstance, questions_of
from carrara.items.item_id import ItemId
from carrara.tasks.minerva.positions import Positions
from carrara.tokenizers import DEFAULT
from carrara.util.errors import LengthError
from carrara.verify.audit import audit
from carrara.verify.chance_levels import chance_level_of
from carrara.verify.simulation import FEW, Simulation, SimulationResult

TASKS = registry.names()
SETTINGS = [
    ("babilong/qa7", "sound=true"),
    ("babilong/qa8", "vocab=fresh"),
    ("babilong/qa9", "sound=true"),
    ("babilong/qa10", "vocab=fresh"),
    ("babilong/qa18", "sound=true"),
    ("babilong/qa18", "vocab=fresh"),
    ("babilong/qa19", "sound=true"),
    ("babilong/qa20", "sound=true"),
    ("babilong/qa20", "vocab=fresh"),
    ("classic/cwe", "words=4"),
    ("classic/niah", "variant=multivalue"),
    ("classic/vt", "chains=1"),
    ("classic/vt", "chains=2;hops=1"),
    ("michelangelo/idk", "about=both"),
    ("michelangelo/idk", "about=known"),
    ("michelangelo/idk", "about=unknown"),
    ("michelangelo/latent_list", "complexity=1"),
    ("michelangelo/latent_list", "complexity=5;view=len"),
    ("michelangelo/mrcr", "needles=4"),
    ("minerva/count", "times=3,7"),
    ("minerva/membership", "lists=32"),
    ("minerva/odd_group", "lists=9"),
    ("minerva/quantity", "steps=2"),
    ("sync/graph", "sinks=0.5;unreachable=0"),
    ("sync/graph", "sinks=0.02;unreachable=0.02"),
    ("sync/graph", "sinks=1;unreachable=1"),
]
PLUGIN = """
from carrara.task import Instance, Task, UndecidableError
from carrara.answers import Number

class Bell(Task):
    version, title, capability = 1, "Bell", "hearing"
    answer, ask = Number(guess=(1, 8)), "How often does the bell ring?"

    def generate(self, rng):
        rings = rng.{drawn}
        return Instance([f"In the year {{rng.between(1000, 9999)}} the bell rings {{rings}} times."], rings)

    def filler(self, rng):
        return rng.choice(("It rains.", "The fog comes in.", "Nothing happens."))

    def solve(self, context, names):
        if "rings " not in context:
            raise UndecidableError("no bell rings")
        return int(context.partition("rings ")[2].split()[0])
"""


def posed(task: str, given: str, instances: int, seed: int = 11) -> Iterator[PosedInstance]:
    loaded = registry.load(task)
    written = dict(one.split("=") for one in given.split(";") if one)
    params = parameters.canonical(parameters.build(loaded, task, written))
    length, tokenizer = (2048, DEFAULT) if loaded.is_sized and not params else (0, "")
    first = ItemId(task, loaded.version, params, "test", seed, 0, 0, length, "chat", "", tokenizer)
    for index in range(instances):
        try:
            yield questions_of(replace(first, index=index))
        except LengthError:
            continue


def simulated(task: str, params: str, instances: int) -> list[SimulationResult]:
    simulation = Simulation()
    for one in posed(task, params, instances):
        for n, question in enumerate(one.questions):
            simulation.take(one.task, one.instance, question, one.key.rng("guess", n), str(one.key.index))
    return simulation.comparisons()


def check(task: str, params: str, instances: int) -> None:
    found = simulated(task, params, instances)
    assert found
    assert [str(one) for one in found if one.differs] == []


@pytest.mark.parametrize("task", TASKS[::3])
@pytest.mark.sampled(5)
def test_the_guesser_scores_the_chance_level(task: str) -> None:
    check(task, "", 20 if task == "sync/translation" else 60)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.slow
def test_the_guesser_scores_the_chance_level_over_many_worlds(task: str) -> None:
    check(task, "", 60 if task == "sync/translation" else 600)


@pytest.mark.parametrize(("task", "params"), SETTINGS)
@pytest.mark.sampled(3)
def test_the_guesser_scores_the_chance_level_with_other_parameters(task: str, params: str) -> None:
    check(task, params, 150)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(14)
def test_a_written_guess_scores_what_the_guess_does(task: str) -> None:
    for one in posed(task, "", 3):
        for n, question in enumerate(one.questions):
            guess = one.task.guess(one.key.rng("guess", n), one.instance, question)
            graded = grade(one.task, question, one.task.write(guess))
            assert graded.score == pytest.approx(one.task.score(guess, question))


def test_the_listed_chance_level_is_of_the_length_that_shortcuts_are_listed_for() -> None:
    """With three or four lists a guess scores 0.25; at 4k tokens there are some seventeen."""
    assert chance_level_of("minerva/odd_group") < 0.1


def test_a_question_that_tells_its_answer_has_a_chance_level_of_1() -> None:
    asked = {
        question.ask: question.chance_level for one in posed("babilong/qa20", "", 200) for question in one.questions
    }
    assert {level for ask, level in asked.items() if ask.startswith("Why did") and "garden" in ask} == {1.0}
    assert {level for ask, level in asked.items() if ask.startswith("Where will")} == {0.5}


# --- plugins ---


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    monkeypatch.setenv("CARRARA_TASKS", str(folder))
    return folder


def test_a_plugins_chance_level_follows_from_its_guesses(plugin: Path) -> None:
    (plugin / "bell.py").write_text(PLUGIN.format(drawn="between(1, 8)"), "utf-8")
    assert chance_level_of("mine/bell") == 0.125
    assert audited("mine/bell") == []


def test_a_plugin_whose_answer_is_commoner_than_its_guesses_is_told(plugin: Path) -> None:
    (plugin / "dull.py").write_text(PLUGIN.format(drawn="choice((2, 2, 2, 3))"), "utf-8")
    [said, *_] = audited("mine/dull")
    assert "without the context, more than the chance level of 0.125" in said


@pytest.mark.parametrize(
    ("gold", "options", "level"), [(3, (), 0.125), (9, (), 0.0), (4, ("4", "6"), 0.5), (10**6, (), 0.0)]
)
def test_the_chance_level_of_a_number(gold: int, options: tuple[str, ...], level: float) -> None:
    assert Number(guess=(1, 8)).chance_level(gold, options) == level
    assert Number(guess=(0, 10**9)).chance_level(gold) == pytest.approx(1e-9)


# --- what the audit says of a wrong declaration ---


def audited(task: str, instances: int = 60, seed: int = 0) -> list[str]:
    first = ItemId(task, registry.load(task).version, "", "test", seed, 0, 0, 0, "chat", "", "gpt2")
    return [breach.found for breach in audit(first, instances).breaches if breach.check == "chance"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("declared", "way"), [(0.0, "too low"), (0.9, "too high")])
def test_a_wrong_chance_level_is_told_in_both_directions(
    declared: float, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert audited("minerva/positions") == []
    monkeypatch.setattr(Positions.answer, "chance_level", lambda gold, options: declared)
    seed = 90_210 + (way == "too low")  # each with other instances than those in the cache
    [said, *_] = audited("minerva/positions", seed=seed)
    assert way in said


def test_few_worlds_prove_nothing() -> None:
    one = SimulationResult("", FEW - 1, 0.9, 0.1, 0.01)
    assert not one.differs
    assert replace(one, instances=FEW).differs


def test_guesses_that_are_all_alike_are_one_guess_each() -> None:
    """That five instances of a hundred are right where ten are declared is no proof: repeating a guess adds nothing."""
    task = registry.load("minerva/membership")
    simulation, instances = Simulation(), [*posed("minerva/membership", "items=12;lists=4", 60)]
    for one in instances:
        [question] = one.questions
        simulation.take(task, one.instance, replace(question, chance_level=0.25), one.key.rng("g"), str(one.key.index))
    assert not any(found.differs for found in simulation.comparisons())
