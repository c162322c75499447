"""Reading one of a closed list of answers out of replies as models write them."""

import pytest

from carrara.answers.choices import Choices

PLACES = Choices({place: place for place in ("garden", "kitchen", "office", "bathroom", "hallway", "bedroom")})
YES_NO = Choices({"yes": "yes", "no": "no"})
NUMBERS = Choices({"none": "none", "zero": "none", "0": "none", "one": "one", "1": "one", "two": "two", "2": "two"})


@pytest.mark.parametrize(
    "reply",
    [
        "garden",
        "Garden.",
        "the garden",
        "**garden**",
        "In the garden.",
        "Mary is in the garden.",
        "The most recent location of ’Mary’ is ’garden’.",
        "Answer: garden",
        "Answer: The most recent location of Mary is garden.",
        "<think>kitchen? office?</think>The answer is garden.",
        "First Mary went to the kitchen. Then she went to the garden.",
        "Mary went from the kitchen to the garden.",
        "Mary went to the garden because the kitchen was empty.",
        "Well, she went to the garden.\nReason: the kitchen was left before that.",
        "garden\nMary had been in the kitchen, but later moved.",
        "Let me see. The answer is garden",
        "1. garden",
        "She was in the kitchen, then the hallway.\n\nFinal answer: **garden**",
        "\\boxed{garden}",
        "`garden`",
        "The answer is garden, not kitchen.",
        "Not the kitchen: the garden.",
        "Output: garden, because the kitchen and the office are empty.",
        "The answer is kitchen. Wait, the answer is garden.",
        "Mary went to the kitchen.\n\nSo Mary is in the **garden**.",
        '{"answer":"garden"}',
        "[THINK]kitchen[/THINK]garden",
        "The answer is kitchen at first. Final answer: she is in the garden.",
        "kitchen... no, garden",
        "Kitchen. Scratch that: garden.",
        "Kitchen. She moved. Garden.",
        "The kitchen? No, the garden.",
        "It was the kitchen first. So: the garden",
        "Neither the kitchen nor the office, but the garden.",
        "garden. garden.",
    ],
)
def test_garden(reply: str) -> None:
    assert PLACES.read(reply) == "garden"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I do not know.",
        "The gardener knows.",
        "garden or kitchen",
        "The garden, the kitchen, the office, the bathroom, the hallway, the bedroom.",
        "It could be in the garden or in the kitchen.",
        "garden/kitchen",
        "Answer: garden or kitchen",
        "<think>garden",
        "rose-garden-party",
        "Mary is not in the garden.",
        "Answer: either garden or kitchen",
        "**garden** or **kitchen**",
        "garden kitchen office",
        "garden\nkitchen\noffice",
        "1. garden\n2. kitchen",
        "1. garden 2. kitchen",
        "a) garden\nb) kitchen",
        "garden. kitchen.",
        "garden\nor\nkitchen",
        "garden - kitchen",
        "The answer is garden. The answer is kitchen.",
        "\\boxed{garden} and \\boxed{kitchen}",
        "Neither kitchen nor garden",
        "Garden. Scratch that.",
    ],
)
def test_nothing_said(reply: str) -> None:
    assert PLACES.read(reply) is None


@pytest.mark.parametrize(("reply", "answer"), [("Yes.", "yes"), ("No, she is not.", "no"), ("I do not know", None)])
def test_yes_and_no(reply: str, answer: str | None) -> None:
    assert YES_NO.read(reply) == answer


@pytest.mark.parametrize(("reply", "answer"), [("none", "none"), ("0", "none"), ("She carries one object.", "one")])
def test_none_is_not_one(reply: str, answer: str) -> None:
    assert NUMBERS.read(reply) == answer


@pytest.mark.parametrize(
    "reply", ["garden " * 200_000, "(" * 1_000_000, "garden, " * 100_000, "x" * 1_000_000, "garden or " * 99_999]
)
@pytest.mark.sampled(2)
def test_long_replies_end(reply: str) -> None:
    assert PLACES.read(reply) in (None, "garden")
