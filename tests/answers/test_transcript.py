"""Transcripts: whatever replies say, they are found again as they were."""

import random

import pytest

from carrara.answers import join_replies, split_replies

REPLIES = [
    ["12", "19"],
    ["", "19", ""],
    ["first\nsecond\n\nlast", "[1] 7\n[2] 8\n[3] 9", "[4]"],
    ["    indented\n        more", "a\r\nb", "\u2028[2] 3"],
    ["[2] 5"],
    ["\n[2] 12\n[3] 13", "x"],
]


@pytest.mark.parametrize("replies", REPLIES)
def test_replies_are_found_again(replies: list[str]) -> None:
    assert split_replies(join_replies(replies)) == [reply.strip() for reply in replies]


def test_any_replies_are_found_again() -> None:
    rng = random.Random(1)
    parts = ["[1]", "[2] ", "\n", " ", "    ", "12", "[3]\n", "\r", "x"]
    for _ in range(500):
        replies = ["".join(rng.choices(parts, k=rng.randint(0, 8))) for _ in range(rng.randint(1, 5))]
        assert split_replies(join_replies(replies)) == [reply.strip() for reply in replies]


def test_a_text_without_numbers_is_one_reply() -> None:
    assert split_replies("12") == ["12"]
    assert split_replies("") == [""]
    assert split_replies("so:\n[1] 12\n[2] 13") == ["so:\n[1] 12\n[2] 13"]


def test_a_number_that_is_not_the_next_belongs_to_its_reply() -> None:
    assert split_replies("[1] 12\n[3] 14\n[2] 13\n[2] 15") == ["12\n[3] 14", "13\n[2] 15"]


@pytest.mark.parametrize("part", ["[1] ", "\n[1]", "\n[2] x", "    \n", "["])
def test_hostile_repetition_ends(part: str) -> None:
    text = part * (1_000_000 // len(part))
    assert sum(map(len, split_replies(text))) <= len(text)
