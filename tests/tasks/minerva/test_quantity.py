"""Quantity: how its answers are read."""

from tests.helpers.minerva import items, replied


def test_minus_signs_count() -> None:
    item = next(i for i in items("minerva/quantity", 40) if i.question.gold < 0)
    assert replied(item, f"FINAL ANSWER: {-item.question.gold}")[0] == 0.0
    assert replied(item, f"So it is\n**FINAL ANSWER: −{-item.question.gold}.**")[0] == 1.0
