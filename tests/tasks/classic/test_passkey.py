"""Passkey: replies with a number of five digits."""

from dataclasses import replace

from carrara.items import registry
from carrara.items.item import questions_of
from tests.helpers.classic import item_id
from tests.helpers.graded_answer import answered


def test_pass_keys() -> None:
    task, question = (
        registry.load("classic/passkey"),
        replace(questions_of(item_id("passkey")).questions[0], gold="71432"),
    )
    for reply in (
        "71432",
        "71,432",
        "The pass key is 71432.",
        "<think>12345</think>\n71432",
        "Today's pass key is **71432**.",
    ):
        assert answered(task, reply, question) == "71432"
    for reply in (
        "714321",
        "7143",
        "a71432",
        "71432,12345",
        "71432 or 12345",
        " ".join(map(str, range(10_000, 99_999))),
    ):
        assert answered(task, reply, question) is None
