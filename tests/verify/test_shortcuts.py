"""The search for shortcuts finds those that were there: what was mended, put back, breaches the audit."""

import pytest
from benchmarks.idk_shortcuts import question_before

from carrara.items import item as item_module
from carrara.items.item_id import ItemId
from carrara.items.registry import load
from carrara.tasks.michelangelo import idk
from carrara.verify.audit import audit


def breaches(task: str, instances: int) -> list[str]:
    first = ItemId(task, load(task).version, "", "test", 7, 0, 0, 0, "chat", "", "gpt2")
    return [breach.found for breach in audit(first, instances).breaches if breach.check == "cheap"]


@pytest.mark.slow
def test_choices_that_no_story_names_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_module, "_posed", item_module.pose)
    assert breaches("michelangelo/idk", 80) == []
    monkeypatch.setattr(idk, "_question", question_before)
    found = breaches("michelangelo/idk", 80)
    assert any("choice" in one and "1.000" in one for one in found), found
