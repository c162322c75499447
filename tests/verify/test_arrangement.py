"""The audit of arranged items, and what it finds where an arrangement is not kept."""

from dataclasses import replace

import pytest

from carrara.cli.main import main
from carrara.items import registry
from carrara.items.arrangement import Arrangement
from carrara.items.item import make
from carrara.items.packing import Packing
from carrara.types import Arrange
from carrara.verify.audit import AuditResult, audit

BOTH: tuple[Arrange, ...] = ("riffle", "block")


def audited(task: str, kind: Arrange, length: int = 4096, instances: int = 8) -> AuditResult:
    return audit(replace(make(task, length=length).item_id, arrange=kind), instances)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("task", ["babilong/qa3", "classic/vt", "classic/hops", "sync/graph", "michelangelo/mrcr"])
def test_arranged_items_are_right(task: str, kind: Arrange) -> None:
    report = audited(task, kind)
    assert report.items >= 3
    assert report.arrange == kind
    assert report.breaches == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("task", registry.names())
def test_every_task_is_arranged_or_left_out(task: str, kind: Arrange) -> None:
    loaded = registry.load(task)
    first = replace(make(task, length=8192).item_id, arrange=kind, seed=1)
    report = audit(first, 10)
    assert report.items or report.left_out
    assert not (loaded.is_sized and report.items)
    assert report.breaches == []


def breaches(task: str, kind: Arrange, length: int = 4096) -> set[str]:
    return {breach.found for breach in audited(task, kind, length).breaches if breach.check == "arranged"}


def test_facts_that_are_not_arranged_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Arrangement, "shares", lambda self, drawn, share: drawn)
    monkeypatch.setattr(Arrangement, "closed_gaps", lambda self, order: range(0))
    assert breaches("classic/vt", "block") == {"filler stands between needed facts"}


@pytest.mark.slow
def test_other_facts_in_a_block_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The audit of a block fails if other facts stand in it, where the order has no meaning."""
    monkeypatch.setattr(Arrangement, "order", lambda self, shares: range(len(shares)))
    monkeypatch.setattr(Arrangement, "shares", lambda self, drawn, share: (0.5,) * len(drawn))
    assert breaches("babilong/qa19", "block") == {"other facts stand between needed facts"}


@pytest.mark.slow
def test_facts_that_stand_together_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Arrangement, "shares", lambda self, drawn, share: (0.5,) * len(drawn))
    assert breaches("classic/vt", "riffle", 16384) == {"needed facts stand together"}


def test_facts_that_are_elsewhere_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Packing, "tolerance", -1)
    found = breaches("classic/vt", "riffle")
    assert found
    assert all("tokens from its position" in breach for breach in found)


def test_the_command_names_arrangements(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "vt", "-n", "3", "--lengths", "2k", "--arrange", "riffle,block"]) == 0
    text = capsys.readouterr().out
    assert "2k+riffle" in text
    assert "2k+block" in text
