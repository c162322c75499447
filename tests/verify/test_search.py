"""The search for shortcuts: it finds those that are put into tests, and says what the package's own tests have."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from statistics import fmean
from types import SimpleNamespace

import pytest
from benchmarks.idk_shortcuts import question_before

from carrara.answers import OneOf, YesNo
from carrara.cli.main import main
from carrara.generators import vocabulary
from carrara.items import registry
from carrara.items.item import contexts
from carrara.items.item_id import ItemId
from carrara.task import Instance, Rng
from carrara.task.suite import SuiteTask
from carrara.task.sweeps import count_cells
from carrara.tasks.michelangelo import idk
from carrara.tasks.minerva.sequence_search import SequenceSearch
from carrara.tasks.minerva.snapshot import Snapshot
from carrara.types import Segment
from carrara.util.errors import PluginError
from carrara.verify.audit import audit, search_shortcuts
from carrara.verify.shortcuts import lines, search
from carrara.verify.shortcuts.findings import Findings, ShortcutScore, read_findings

NAMES = ("Ada", "Ben", "Cleo", "Dan")


def first(name: str, length: int = 0) -> ItemId:
    return ItemId(name, registry.load(name).version, "", "test", 0, 0, 0, length, "chat", "", "gpt2")


class Guard(SuiteTask):
    """Who stands guard at last. The last name that is said is always right, whatever it is said of."""

    version, title, capability = 1, "Guard", "nothing"
    answer, ask = OneOf(), "Who stands guard at last?"

    def generate(self, rng: Rng) -> Instance:
        order = [name for _ in range(3) for name in rng.shuffled(NAMES)]
        return Instance([f"Now {name} stands guard." for name in order], order[-1], evidence=(), options=NAMES)

    def filler(self, rng: Rng) -> str:
        return f"It is {rng.between(1, 12)} o'clock."

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        return [word for word in context.split() if word in NAMES][-1]


class Lookout(Guard):
    """Who stands guard. One is said to stand guard, and three are said to sleep, so that nothing has to be read."""

    version = 2

    def generate(self, rng: Rng) -> Instance:
        gold, *others = rng.shuffled(NAMES)
        dream = "dreams of a long walk by the sea with an old friend who has not come home for years"
        facts = [f"{gold} stands guard and {dream}.", *(f"{name} sleeps at home and {dream}." for name in others)]
        return Instance(rng.shuffled(facts), gold, evidence=(), options=NAMES)

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        return next((name for name in NAMES if f"{name} stands" in context), "")


class Found(SuiteTask):
    """Whether a coin was found: the longer one looks, the likelier it was, which nobody has to understand."""

    version, title, capability = 1, "Found", "nothing"
    answer, ask = YesNo(), "Was a coin found?"

    def generate(self, rng: Rng) -> Instance:
        gold = rng.choice(("yes", "no"))
        looked = rng.between(5, 8) if gold == "yes" else rng.between(1, 4)
        last = "He found a coin." if gold == "yes" else "He found no coin."
        looks = [f"He looked under stone {rng.between(10, 99)}." for _ in range(looked)]
        return Instance([*looks, last], gold, evidence=(), options=("yes", "no"))

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        return "no" if "no coin" in context else "yes"


def of_one(made: type[SuiteTask], monkeypatch: pytest.MonkeyPatch) -> ItemId:
    own, load = made(), registry.load
    monkeypatch.setattr(registry, "load", lambda name: own if name == "own/made" else load(name))
    return ItemId("own/made", 1, "", "test", 0, 0, 0, 0, "chat", "", "gpt2")


def test_a_name_that_is_always_the_last_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    found = search_shortcuts(of_one(Guard, monkeypatch), 60)
    by_kind = {one.kind: one for one in found.shortcuts}
    assert by_kind["strings"].score == by_kind["learned"].score == 1.0
    assert "said last" in by_kind["strings"].name or "first mention is last" in by_kind["strings"].name
    assert by_kind["strings"].breaches
    assert by_kind["blind"].score < 0.5
    assert found.reach["its last tenth"] == 1.0
    assert found.reach["its first tenth"] < 0.5


def test_what_was_learned_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    item_id = replace(of_one(Lookout, monkeypatch), version=2)  # items of the other version are kept in a cache
    monkeypatch.setattr(search, "READERS", {})
    monkeypatch.setattr(lines, "learn", lambda examples, form: ())
    by_kind = {one.kind: one for one in search_shortcuts(item_id, 60).shortcuts}
    learned = by_kind.pop("learned")
    assert learned.breaches
    assert learned.goes_by.startswith("words of the question near a mention")
    assert {one.goes_by for one in by_kind.values()} <= {""}
    breaches = [breach.found for breach in audit(item_id, 60).breaches if breach.check == "cheap"]
    assert [found.startswith(f"what was learned ({learned.goes_by}): ") for found in breaches] == [True]


@pytest.mark.slow
def test_what_is_declared_breaches_nothing_and_the_next_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    item_id = of_one(Guard, monkeypatch)
    names = [one.name for one in search_shortcuts(item_id, 60).shortcuts if one.kind == "strings"]
    for _ in range(6):  # several readers come to the same
        monkeypatch.setattr(Guard, "known_shortcuts", dict.fromkeys(names, "It is so."))
        names = [one.name for one in search_shortcuts(item_id, 60).shortcuts if one.kind == "strings"]
    shortcuts = search_shortcuts(item_id, 60).shortcuts
    assert [one.breaches for one in shortcuts if one.declared] == [False] * len(names[:-1])
    assert not [one for one in shortcuts if one.kind == "strings" and not one.declared and one.breaches]


@pytest.mark.parametrize(
    ("name", "remedy"), [("its frist tenth", "did you mean its first tenth"), ("quizzical", "blind, strings, part")]
)
def test_a_misspelt_known_shortcut_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, remedy: str) -> None:
    monkeypatch.setattr(Guard, "known_shortcuts", {"strings": "It is so.", name: "It is so."})
    with pytest.raises(PluginError, match=f"own/made .*'{name}'.*{remedy}"):
        search_shortcuts(of_one(Guard, monkeypatch), 30)


def test_a_known_shortcut_may_be_a_heuristic_of_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Guard, "known_shortcuts", {"the first name": "It is so."})
    monkeypatch.setattr(Guard, "heuristics", lambda self, instance, question: {"the first name": NAMES[0]})
    search_shortcuts(of_one(Guard, monkeypatch), 30)


@pytest.mark.parametrize("name", [name for name in registry.names() if registry.is_official(name)])
def test_known_shortcuts_of_an_official_task_are_names_of_heuristics(name: str) -> None:
    count = max(5, count_cells(registry.load(name)))
    search.check_known_shortcuts([item for context in contexts(first(name), count) for item in context.items])


def test_a_sum_that_no_reader_knows_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """How much is said tells the answer; so do its words, which stand in the text."""
    found = search_shortcuts(of_one(Found, monkeypatch), 100)
    assert next(one for one in found.shortcuts if one.kind == "learned").score > 0.9


OWN_SEED = 90_210
"""A seed of which no other test has instances in the cache."""


def generate_before(self: SequenceSearch, rng: Rng) -> Instance:
    """Return an instance as it once was: a sequence that is not there has a word that is nowhere."""
    start, last, other, *sequence = drawn = vocabulary.some(
        vocabulary.supply(self.words, rng.stream("words")), 3 + self.size
    )
    asked = list(sequence)
    if self.gold == "no":
        asked[rng.stream("changed").below(self.size)] = other
    return Instance(
        opening=start,
        facts=[tuple(Segment(word, fact=0) for word in sequence)],
        ending=self.separator + last,
        filler=vocabulary.filler(self.words, drawn),
        gold=self.gold,
        names={"sequence": ", ".join(asked)},
        evidence=(0,) if self.gold == "yes" else (),
    )


@pytest.mark.slow
def test_the_old_sequence_search_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """All its words are there, or else the answer is no."""
    monkeypatch.setattr(SequenceSearch, "generate", generate_before)
    breaches = audit(replace(first("minerva/sequence_search"), seed=OWN_SEED), 60).breaches
    assert {breach.check for breach in breaches} >= {"cheap"}


@pytest.mark.slow
def test_choices_that_no_story_names_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The task as it once was."""
    monkeypatch.setattr(idk, "pose_question", question_before)
    breaches = audit(replace(first("michelangelo/idk"), seed=OWN_SEED), 80).breaches
    assert any("choice" in breach.found and "1.000" in breach.found for breach in breaches if breach.check == "cheap")


@pytest.mark.slow
def test_repeating_the_prompt_is_tried_on_the_first_items_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its score is the mean over these items."""
    monkeypatch.setattr(search, "ECHOES", 12 * 512)
    monkeypatch.setattr(Snapshot, "read", lambda self, reply, question: SimpleNamespace(answer=reply))
    monkeypatch.setattr(Snapshot, "score", lambda self, answer, question: float("Instruction:" in str(answer)))
    found = {one.name: one for one in search_shortcuts(first("minerva/snapshot", 512), 40).shortcuts}
    assert found[search.ECHO].n == 12
    assert found[search.ECHO].score == 1
    assert all(one.n > 30 for name, one in found.items() if name != search.ECHO)


@pytest.mark.slow
def test_a_needle_is_in_a_tenth_of_ten() -> None:
    reach = search_shortcuts(first("classic/passkey", 2048), 100).reach
    assert all(score < 0.25 for score in reach.values())
    assert sum(reach.values()) > 0.1


def test_every_test_says_what_its_shortcuts_score() -> None:
    """`make shortcuts` writes them anew."""
    official = [name for name in registry.names() if registry.is_official(name)]
    assert set(read_findings()) == {f"{name}@{registry.load(name).version}" for name in official}
    for one in read_findings().values():
        assert 0 <= one.reach <= 1
        for cheap in one.shortcuts:
            assert cheap.declared or cheap.score <= cheap.chance_level + 0.16, (
                one.task
            )  # 200 instances: two standard errors


@pytest.mark.slow
@pytest.mark.parametrize("name", ["babilong/qa1", "michelangelo/latent_list"])
def test_what_is_kept_is_what_is_found(name: str) -> None:
    from carrara.verify.shortcuts.findings import findings_of, search_task

    assert search_task(name) == findings_of(name)


def test_the_audit_says_it_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "minerva/count", "-n", "30", "--lengths", "0", "--json"]) == 0
    [report] = json.loads(capsys.readouterr().out)
    shortcuts: Sequence[dict[str, object]] = report["shortcuts"]
    assert {"name", "score", "chance_level", "declared"} <= set(shortcuts[0])
    assert [one["kind"] for one in shortcuts][-1] == "learned"


def test_the_best_declared_shortcut_may_be_one_that_is_not_always_right() -> None:
    scores = [
        ShortcutScore("strings", name, score, 0.4, declared)
        for name, score, declared in (("count", 1.0, "It is so."), ("first", 0.6, "It is so."), ("words", 0.45, ""))
    ]
    findings = Findings("own/made@1", tuple(scores), 0.5, None)
    assert [findings.best_declared(below) for below in (inf, 0.99, 0.5)] == [*scores[:2], None]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("task", "params", "name", "least"),
    [
        ("minerva/set_state", "paper=true", "words added more often than removed", 0.95),
        ("minerva/theory_of_mind", "paper=true", "words that are never removed", 0.2),
        ("minerva/functional", "change=add 3,subtract 1,multiply 2", "all numbers, changed as is done most often", 0.3),
        ("michelangelo/mrcr", "examples=0", "the numbered line like the question", 0.95),
        ("michelangelo/mrcr", "examples=0", "the last line like the question", 0.5),
    ],
)
def test_the_search_finds_the_shortcuts_of_published_forms(task: str, params: str, name: str, least: float) -> None:
    """None of them has a heuristic of its own that would say so."""
    item_id = replace(first(task), params=params)
    items = [item for context in contexts(replace(item_id, split="train"), 30) for item in context.items]
    measured = search.Search(items).train
    assert fmean(taken.scores["strings"].get(name, 0.0) for taken in measured) > least
