"""The search for shortcuts finds those that were there: what was mended, put back, breaches the audit."""

import pytest
from benchmarks.idk_shortcuts import question_before

from carrara.core.recipe import Recipe
from carrara.prompt import items
from carrara.proof.audit import audit
from carrara.registry import load
from carrara.tasks.michelangelo import idk


def breaches(task: str, instances: int) -> list[str]:
    first = Recipe(task, load(task).version, "", "test", 7, 0, 0, 0, "chat", "", "gpt2")
    return [breach.found for breach in audit(first, instances).breaches if breach.check == "cheap"]


@pytest.mark.slow
def test_choices_that_no_story_names_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items, "_posed", items.pose)
    assert breaches("michelangelo/idk", 80) == []
    monkeypatch.setattr(idk, "_question", question_before)
    found = breaches("michelangelo/idk", 80)
    assert any("choice" in one and "1.000" in one for one in found), found
