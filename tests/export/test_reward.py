"""Rewards of replies in any form: texts, messages, and what is neither."""

from typing import Any

import pytest

import carrara
from carrara.export import rewards
from carrara.export.verl_reward import compute_score
from carrara.util.errors import UsageError

ITEM = carrara.item("qa1", split="train")
FORMS: list[Any] = [
    ITEM.gold,
    [{"role": "assistant", "content": ITEM.gold}],
    [{"role": "assistant", "content": "I like turtles"}, {"role": "assistant", "content": ITEM.gold}],
    [{"role": "assistant", "content": [{"type": "image"}, {"type": "text", "text": ITEM.gold}]}],
]
EMPTY: list[Any] = [
    *("", None, float("nan"), 3, True, b"x", {}, {"content": ITEM.gold}),
    *([], [None], [{}], [3], [ITEM.gold], [{"content": None}], [{"content": 3}]),
    [{"content": [3, None, {"text": None}, {"text": 5}]}],
]


def test_messages_earn_what_their_last_text_earns() -> None:
    assert rewards(FORMS, id=[ITEM.id] * len(FORMS)) == [1] * len(FORMS)


@pytest.mark.parametrize("reply", EMPTY, ids=repr)
def test_a_reply_without_a_text_is_empty_and_earns_nothing(reply: Any) -> None:
    assert rewards([reply], id=[ITEM.id]) == [0]
    assert compute_score("", reply, None, {"id": ITEM.id}) == compute_score("", "", "", {"id": ITEM.id})


@pytest.mark.parametrize("id", [None, 3, float("nan"), "", "qa1", [ITEM.id], ITEM.id.replace("@", "@9")])
def test_what_names_no_item_is_an_error(id: Any) -> None:
    with pytest.raises(UsageError, match=r"not an item's id|an id of version"):
        rewards(["x"], id=[id])


def test_each_reply_needs_an_id() -> None:
    with pytest.raises(UsageError, match="there are 1 replies and 2 ids"):
        rewards(["x"], id=[ITEM.id] * 2)
    with pytest.raises(UsageError, match="rewards go by the ids of items"):
        rewards(["x"])
