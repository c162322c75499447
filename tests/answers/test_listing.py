"""Lists of words and what each of several agents has, as replies state them, and what they score."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrara.answers import AnswerType, Copy, FinalHands, Hands, Listing, Rows, Set, Words
from carrara.answers.cues import NOT_AN_ANSWER
from carrara.types import Question

SET = Words(("oak", "elm"), ordered=False)
HELD = Hands((("Agent A", ("oak", "ash")), ("Agent B", ("elm", "yew"))))
ALL = ("oak", "ash", "elm", "yew")
FRUIT = ("apple", "pear", "plum")
GOLD = Question("Which words are they?", Words(FRUIT), (), 0.0)
HANDS = Question("Who has what?", Hands((("Agent A", FRUIT), ("Agent B", ("fig", "date")))), (), 0.0)


def answer(kind: AnswerType[Any], reply: str, question: Question[Any] = GOLD) -> Any:
    found = kind.read(reply, question)
    return found and found.answer


@pytest.mark.parametrize(
    "reply",
    [
        "apple, pear, plum",
        "apple, pear, and plum",
        "apple; pear; plum",
        "apple\npear\nplum",
        "- apple\n- pear\n- plum",
        "1. **apple**\n2. **pear**\n3. **plum**",
        "“apple”, “pear”, and “plum”.",
        "`apple, pear, plum`",
        '["apple", "pear", "plum"]',
        "{apple, pear, plum}",
        '```json\n[\n  "apple",\n  "pear",\n  "plum"\n]\n```',
        '{"answer": ["apple", "pear", "plum"]}',
        "Answer:\n\n- apple\n- pear\n- plum",
        "**FINAL ANSWER**\n\napple, pear, plum",
        "FINAL ANSWER:\n1. apple\n2. pear\n3. plum\n\nI hope this helps!",
        "FINAL ANSWER: apple pear plum",
        "$\\boxed{\\text{apple, pear, plum}}$",
        "<answer>apple, pear, plum</answer>",
        "Here is the list:\n\napple, pear, plum",
        "fig: apple, date: pear, lime: plum",
        "<think>apple, fig? No.</think>\n\napple, pear, plum",
        "First, list 1: fig, date, apple.\nThen list 2: lime, kiwi, pear.\n\nFINAL ANSWER: apple, pear, plum",
        "Answer: fig, date\n\nWait, that is not right. The words are: apple, pear, plum",
        "apple, pear, plum\n\nContext:\nfig, date\n\nAnswer: fig, date",
    ],
)
def test_lists(reply: str) -> None:
    assert {answer(kind, reply) for kind in (Listing(), Rows(), Copy(), Set())} == {Words(FRUIT)}


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        ("FINAL ANSWER: none", ()),
        ("FINAL ANSWER: []", ()),
        ("The answer is: nothing.", ()),
        ("apple, apple, pear, apple", ("apple", "apple", "pear", "apple")),
        ("well-known, o’clock, café, 5th", ("well-known", "o'clock", "café", "5th")),
        ("FINAL ANSWER: 3, -5, 12", ("3", "-5", "12")),
        ("and, or, the", ("and", "or", "the")),
        ("", None),
        ("I could not find it.", None),
        ("I'm sorry, but I can't help with that.", None),
        ("<think>apple, pear, plum", None),
        ("apple, pear\n\nplum, fig", None),
        ("apple, pear\n\nor\n\nplum, fig", None),
        ("Answer: apple, pear\nAnswer: plum, fig", None),
        ("The words are apple, pear or plum.", None),
        ("Words only in the first list: apple, pear\n\nWords only in the second list: plum, fig", None),
    ],
)
def test_other_lists_and_none(reply: str, items: tuple[str, ...] | None) -> None:
    assert answer(Listing(), reply) == (None if items is None else Words(items))


WORDS = tuple(f"{first}{n}" for n in range(1000) for first in ("oak", "elm", "ash"))


@pytest.mark.parametrize(
    "reply",
    [
        ", ".join(WORDS),
        "\n".join(WORDS),
        "\n".join(f"{n}. {word}" for n, word in enumerate(WORDS, 1)),
        json.dumps(WORDS, indent=2),
        f"Here is the context with every third word replaced:\n\n{', '.join(WORDS)}",
        f"FINAL ANSWER: {', '.join(WORDS)}",
        f"FINAL ANSWER:\n{', '.join(WORDS[:1500])},\n{', '.join(WORDS[1500:])}\n\nThat is all of it.",
    ],
    ids=range(7),
)
def test_copies_of_a_long_context(reply: str) -> None:
    assert answer(Copy(), reply) == Words(WORDS)


@given(st.lists(st.from_regex(r"[a-z]{1,8}([-'][a-z]{1,5})?", fullmatch=True), min_size=2, max_size=20))
def test_a_written_list_is_read(items: list[str]) -> None:
    expected = Words(tuple(items))
    assert answer(Listing(), f"FINAL ANSWER: {', '.join(items)}") == expected
    assert answer(Listing(), f"FINAL ANSWER: {json.dumps(items)}") == expected
    if NOT_AN_ANSWER.isdisjoint(items):
        assert answer(Listing(), f"FINAL ANSWER: {' '.join(items)}.") == expected


@pytest.mark.parametrize(
    "reply",
    [
        "Agent A: apple, pear, plum\nAgent B: fig, date",
        "A: apple, pear, plum\nB: fig, date",
        "**Agent A:** apple, pear, plum\n**Agent B:** fig, date",
        "Agent A: [apple, pear, plum]\nAgent B: [fig, date]",
        '{"Agent A": ["apple", "pear", "plum"], "Agent B": ["fig", "date"]}',
        "FINAL ANSWER:\nAgent A: apple, pear, plum\nAgent B: fig, date",
        "Agent A: lime\nAgent B: kiwi\n\nFINAL ANSWER:\nAgent A: apple, pear, plum\nAgent B: fig, date\n\nDone.",
        "<think>Agent A: fig</think>Agent A: apple, pear, plum\nAgent B: fig, date",
    ],
)
def test_what_each_agent_has(reply: str) -> None:
    assert answer(FinalHands(), reply, HANDS) == HANDS.gold


@pytest.mark.parametrize(
    ("reply", "hands"),
    [
        ("Agent A: apple, pear", (("Agent A", ("apple", "pear")),)),
        ("FINAL ANSWER:\nAgent A: none\nAgent B: fig", (("Agent A", ()), ("Agent B", ("fig",)))),
        ("I could not work it out.", None),
        ("apple, pear", None),
        ("Agent A draws apple. Agent B discards fig.", None),
        ("Agent A: apple\nAgent B: fig\n\nAgent A: pear\nAgent B: date", None),
    ],
)
def test_other_hands(reply: str, hands: tuple[tuple[str, tuple[str, ...]], ...] | None) -> None:
    assert answer(FinalHands(), reply, HANDS) == (None if hands is None else Hands(hands))


# --- scores ---


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ("oak elm", 1.0),
        ("elm oak", 1.0),
        ("oak oak oak oak oak", 0.5),
        ("oak elm ash", 2 / 3),
        ("oak elm ash yew fir", 0.0),
        ("oak", 0.5),
    ],
)
def test_sets_are_no_lists(said: str, score: float) -> None:
    assert Set().score(Words(tuple(said.split())), SET) == pytest.approx(score)


@pytest.mark.parametrize(
    ("a", "b", "score"),
    [
        ("oak ash", "elm yew", 1.0),
        ("oak ash oak ash", "elm yew elm yew", 1.0),
        ("oak ash oak ash", "elm yew elm yew fir", 5 / 6),
        ("oak ash", "", 0.5),
        ("oak ash", "oak ash", 0.0),
        ("oak ash elm", "elm yew", (2 / 3 + 1 / 2) / 2),
    ],
)
def test_no_word_is_in_two_hands(a: str, b: str, score: float) -> None:
    said = Hands((("Agent A", tuple(a.split())), ("Agent B", tuple(b.split()))))
    assert FinalHands().score(said, HELD) == pytest.approx(score)
