"""Whatever a reply is, its words and lists are read soon and without complaint."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrara.answers.asked import Asked
from carrara.answers.lists import read_list
from carrara.answers.named_lists import read_named_lists
from carrara.answers.words import read_word

PIECES = [
    *(
        "a",
        "apple",
        "हि",
        "é",
        "1",
        "12",
        "-",
        "1. ",
        "1,234",
        " ",
        "\t",
        "\n",
        "\n\n",
        "\r\n",
        ",",
        ", ",
        ";",
        ".",
        ". ",
        "!",
        "?",
    ),
    *(
        ":",
        ": ",
        "=",
        "->",
        "→",
        " - ",
        "—",
        "|",
        '"',
        "'",
        "`",
        "```\n",
        "*",
        "**",
        "_",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "#",
        "$",
    ),
    *(
        "<think>",
        "</think>",
        "<answer>",
        "\\boxed{",
        "\\n",
        "…",
        "is ",
        "are ",
        "or ",
        "and ",
        "the word ",
        "with ",
        "none",
        "~~",
    ),
    *(
        "Answer: ",
        "final answer",
        "Agent A",
        "A:",
        "Agent B: ",
        "Wait, ",
        "no words",
        "Sure",
        "List 1: ",
        "Explanation:",
        "Context:",
    ),
]
READERS: dict[str, Callable[[str], object]] = {
    "list": read_list,
    "word": lambda reply: read_word(reply, 'What follows "apple"?'),
    "partners": lambda reply: read_list(reply, asked=Asked(keys=frozenset(("a", "apple", "b")))),
    "of two lists": lambda reply: read_list(reply, asked=Asked(first=True)),
    "rows": lambda reply: read_list(reply, asked=Asked(adds_up=True)),
    "names": lambda reply: read_named_lists(reply, ["Agent A", "Agent B"]),
}

texts = st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@settings(max_examples=500, deadline=None)
@given(texts)
def test_any_text_is_read_without_complaint(text: str) -> None:
    for read in READERS.values():
        read(text)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "unit",
    [
        *PIECES,
        "a,",
        "a\n",
        "- a\n",
        "a: b\n",
        "b" * 50,
        '["',
        '{"a":',
        "a, b\nor\n",
        "a: n/a\n",
        "a - b c d e\n",
        "‘a’, ",
        "\\item a ",
        "(a, b), ",
        "Part 1: a\n\n",
        "List 1: a, ",
        "the a word is ",
        "is a, ",
    ],
)
@pytest.mark.sampled(80)
def test_long_replies_take_time_in_proportion(unit: str, reader: str) -> None:
    def seconds(size: int) -> float:
        reply = (unit * (size // len(unit) + 1))[:size] + "\\"
        start = time.process_time()
        READERS[reader](reply)
        return time.process_time() - start

    # Something else may take the processor meanwhile; what takes time in proportion does so in one of a few tries.
    assert any(seconds(40_000) < max(0.5, 8 * seconds(10_000)) for _ in range(4))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("unit", ["a,", "(", "\n", "*", "Answer: ", "1. ", "[", "a "])
@pytest.mark.sampled(3)
def test_a_million_characters_are_read_soon(unit: str, reader: str) -> None:
    start = time.process_time()
    READERS[reader](unit * (1_000_000 // len(unit)))
    assert time.process_time() - start < 20
