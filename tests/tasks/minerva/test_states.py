"""The tasks on states that change step by step."""

from collections import Counter
from dataclasses import replace
from types import ModuleType

import pytest

from carrara.item_id import ItemId
from carrara.items.item import instance_key, make, pose
from carrara.tasks.minerva import set_state, theory_of_mind
from tests.helpers.minerva import context_of, items


@pytest.mark.parametrize("task", ["quantity", "set_state", "theory_of_mind"])
def test_several_numbers_of_steps_are_taken_in_turn(task: str) -> None:
    made = items(f"minerva/{task}", steps="10,20")
    assert Counter(item.question.labels["steps"] for item in made) == {"10": 12, "20": 12}
    for item in made:
        before = {"quantity": 1, "set_state": 0}.get(task) or int(item.question.labels.get("agents", 0))
        assert len(context_of(item).splitlines()) == before + int(item.question.labels["steps"])
    assert "steps" not in items(f"minerva/{task}", n=1, steps="10")[0].question.labels


@pytest.mark.parametrize("task", [set_state, theory_of_mind])
def test_steps_that_were_drawn_for_another_length_change_nothing(task: ModuleType) -> None:
    short = make(f"minerva/{task.__name__.rpartition('.')[2]}", length=3001).item_id
    task._script.cache_clear()
    alone = facts(short)
    facts(replace(short, length=9000))
    assert facts(short) == alone


def facts(item_id: ItemId) -> list[object]:
    """Those of an instance that is built anew."""
    return list(pose(*instance_key(item_id, None)).instance.facts)
