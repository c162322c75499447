"""Typography: what a reader that knows no word finds of facts, in texts that have a leak and in the official tasks."""

from collections.abc import Callable, Sequence
from itertools import count
from statistics import fmean
from string import ascii_lowercase
from typing import ClassVar

import pytest

from carrara.answers import Number
from carrara.cli.main import main
from carrara.items import registry
from carrara.items.item import contexts
from carrara.items.item_id import ItemId
from carrara.task import Instance, Rng
from carrara.task.suite import SuiteTask
from carrara.verify.audit import search_shortcuts
from carrara.verify.shortcuts import findings, typography
from carrara.verify.shortcuts.findings import Findings, ShortcutScore
from carrara.verify.shortcuts.search import Shortcut
from carrara.verify.shortcuts.typography import Accuracy, SentenceTable, find_rules

SEEDS = count(1)
"""No two searches have the same instances, which are kept in a cache."""
SOUND = 0.10
"""The F1 above that of picking every sentence which a sound task may have."""


class Boats(SuiteTask):
    """Boats that came in. Facts differ from filler by their words alone, and `leak` writes them otherwise."""

    version, title, capability = 1, "Boats", "nothing"
    answer, ask = Number(guess=(1, 9)), "How many boats came in?"
    leak: ClassVar[Callable[[str], str]] = str

    def generate(self, rng: Rng) -> Instance:
        counts = [rng.between(1, 9) for _ in range(3)]
        return Instance([type(self).leak(f"{n} boats with oars came in.") for n in counts], gold=sum(counts))

    def filler(self, rng: Rng) -> str:
        first, second, third = ("".join(rng.choice(ascii_lowercase) for _ in range(size)) for size in (5, 4, 4))
        return f"{rng.between(1, 9)} {first} with {second} {third} in."

    def solve(self, context: str, names: object) -> int:
        return 0


def search(made: type[SuiteTask], monkeypatch: pytest.MonkeyPatch) -> list[Shortcut]:
    task, load = made(), registry.load
    monkeypatch.setattr(registry, "load", lambda name: task if name == "own/boats" else load(name))
    found = search_shortcuts(ItemId("own/boats", 1, "", "test", next(SEEDS), 0, 0, 1024, "chat", "", "gpt2"), 40)
    return [shortcut for shortcut in found.shortcuts if shortcut.kind == "typography"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("leak", "rule"),
    [
        (lambda fact: f"\n\n{fact}", "a blank line before it"),
        (lambda fact: f" {fact} ", "several spaces before it"),
        (lambda fact: fact.replace("with", "“in”"), "2 quotation marks"),
        (lambda fact: fact.replace(" with oars", ""), "16 characters"),
        (lambda fact: fact.replace("boats", "BOATS"), "5 capitals"),
        (lambda fact: fact.replace(" with", ", wit"), "1 comma"),
    ],
)
def test_a_leak_is_found_and_named(leak: Callable[[str], str], rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Boats, "leak", leak)
    [found] = search(Boats, monkeypatch)
    assert found.score > 0.95
    assert found.breaches
    assert found.name.startswith("facts: ")
    assert rule in found.name


def test_words_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    [found] = search(Boats, monkeypatch)
    assert found.score == pytest.approx(found.chance_level)
    assert not found.breaches


@pytest.mark.slow
def test_a_declared_task_may_not_tell_its_facts_by_white_space(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Boats, "known_shortcuts", {"typography": "Facts are what they are."})
    monkeypatch.setattr(Boats, "leak", lambda fact: f"\n\n{fact.replace('boats', 'BOATS')}")
    declared, white_space = search(Boats, monkeypatch)
    assert declared.declared
    assert not declared.breaches
    assert "by white space: " in white_space.name
    assert white_space.breaches
    monkeypatch.setattr(Boats, "known_shortcuts", dict.fromkeys(("typography", "white space"), "It is so."))
    assert [found.breaches for found in search(Boats, monkeypatch)] == [False, False]


def sentences_of(name: str, split: str, params: str, n: int, length: int) -> list[SentenceTable]:
    version = registry.load(name).version
    first = ItemId(name, version, params, split, 0, 0, 0, length, "chat", "", "gpt2")  # type: ignore[arg-type]
    made = contexts(first, n, None, lambda said: None)
    return [typography.read_sentences(item) for context in made for item in context.items]


def find(name: str, params: str = "", n: int = 30, length: int = 2048) -> tuple[str, list[Accuracy]]:
    """Return the best rule, and its accuracy in each item. Empty: there is nothing to find."""
    train, tested = (sentences_of(name, split, params, n, length) for split in ("train", "test"))
    return next(((rule, rows) for _, rule, rows in find_rules(train, tested)), ("", []))


def excess(rows: Sequence[Accuracy]) -> float:
    return fmean(row.f1 - row.chance_level for row in rows) if rows else 0.0


def test_short_facts_among_long_sentences_are_found() -> None:
    """In the published setting."""
    rule, rows = find("babilong/qa1")
    assert rule.startswith("facts: ")
    assert fmean(row.precision for row in rows) > 0.75
    assert fmean(row.recall for row in rows) > 0.9


@pytest.mark.sampled(0)
@pytest.mark.parametrize("task", ["babilong/qa1", "babilong/qa2", "babilong/qa3"])
def test_facts_among_others_are_not_found(task: str) -> None:
    _, rows = find(task, "haystack=others")
    assert excess(rows) < SOUND


@pytest.mark.parametrize("number", range(4, 21))
@pytest.mark.slow
def test_no_task_has_facts_that_stand_out_among_others(number: int) -> None:
    _, rows = find(f"babilong/qa{number}", "haystack=others")
    assert excess(rows) < SOUND + 0.08  # 30 items: a standard error


@pytest.mark.parametrize("name", [name for name in registry.names() if name.startswith("carrara/")])
@pytest.mark.sampled(1)
def test_tasks_of_our_own_are_sound(name: str) -> None:
    assert not registry.load(name).shortcuts().get("typography")
    _, rows = find(name)
    assert excess(rows) < SOUND


def test_the_listing_says_what_the_figure_means(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    task = registry.load("babilong/qa1")
    blind = ShortcutScore("blind", "the commonest answer", 0.18, 0.167, "")
    rule = ShortcutScore("typography", "facts: 1 capital", 0.87, 0.088, task.shortcuts()["typography"])
    found = Findings(f"babilong/qa1@{task.version}", (blind, rule), 0.35, 0.4)
    assert (found.best, found.best_declared(), found.typography) == (blind, None, rule)  # its F1 is no score of replies
    monkeypatch.setattr(findings, "read_findings", lambda: {found.task: found})
    assert main(["tasks", "qa1"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "0.350 0.870*" in told
    assert "“facts: 1 capital” has F1 0.870, every sentence 0.088." in told


def test_sentences_end_at_marks_and_at_lines() -> None:
    text = "He said: “Stop!” She did. A line\nOne more\n\nNow 3.5 km … or 4? 他来了。“走吧。”她说。"
    spans, gaps = typography.divide(text)
    assert [text[start:end] for start, end in spans] == [
        "He said: “Stop!”",
        "She did.",
        "A line",
        "One more",
        "Now 3.5 km …",
        "or 4?",
        "他来了。",
        "“走吧。”",
        "她说。",
    ]
    assert gaps == [" ", " ", "\n", "\n\n", " ", " ", "", ""]


def test_a_fact_of_several_sentences_and_several_in_one() -> None:
    table = SentenceTable.of({0: "A b. C d. E f.", 3: "G, h."}, [(0, 5, 14, False), (3, 0, 1, True), (3, 3, 4, False)])
    assert table.is_fact.tolist() == [False, True, True, True]
    assert table.is_needed.tolist() == [False, False, False, True]
