"""JSON KV: the object, and replies with values of it."""

import json
import re
from dataclasses import replace

import pytest

from carrara.items.item import make
from tests.helpers.graded_answer import answered


def test_the_object_is_json_and_holds_the_pair() -> None:
    for index in range(5):
        item = make("classic/json_kv", length=4096, index=index)
        found = json.loads(item.text[item.text.index("{") : item.text.rindex("}") + 1])
        asked = re.findall(r'the key "(.*?)"', item.text)[-1]
        assert found[asked] == item.gold
        assert 55 < len(found) < 95
        assert list(found)[-1] != asked
        assert len({*found, *found.values()}) == 2 * len(found)


def test_two_values_of_an_object_are_none() -> None:
    item = make("classic/json_kv", length=2048)
    values = re.findall(r': "([^"]+)"', item.text)
    task, question = item.task, item.question
    assert answered(task, "\n".join(values), question) is None
    assert answered(task, f"{values[0]} or {values[1]}", question) is None
    assert task.paper_scores("\n".join(values), question) == {"helmet": 1.0}


@pytest.mark.parametrize(
    ("reply", "gold", "score"),
    [
        ("Corresponding value: 0A-1b.", "0a-1B", 1.0),
        ("The value is a b.", "the b", 1.0),
        ("no", "yes", 0.0),
        ("", "yes", 0.0),
    ],
)
def test_published_scores(reply: str, gold: str, score: float) -> None:
    item = make("classic/json_kv")
    assert item.task.paper_scores(reply, replace(item.question, gold=gold)) == {"helmet": score}
