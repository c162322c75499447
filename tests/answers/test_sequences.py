"""Longest common subsequences: a plain table's to the last item, and soon."""

from collections.abc import Callable, Sequence
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from carrara.answers import sequences
from carrara.answers.sequences import Overlap, common, overlap
from tests.helpers.growth import grows_in_proportion

few = st.lists(st.integers(0, 3), max_size=60)
many = st.lists(st.text(alphabet="abcdef", max_size=2), max_size=60)


def by_table(one: Sequence[object], other: Sequence[object]) -> int:
    above = [0] * (len(other) + 1)
    for item in one:
        row = [0]
        for place, its in enumerate(other):
            row.append(above[place] + 1 if item == its else max(above[place + 1], row[place]))
        above = row
    return above[-1]


@settings(max_examples=3 * settings().max_examples)
@given(st.one_of(st.tuples(few, few), st.tuples(many, many)))
@example(([], []))
@example(([1, 2, 3], [1, 2, 3]))
@example(([1, 2, 1], [1, 1]))
def test_it_is_the_tables(pair: tuple[list[object], list[object]]) -> None:
    one, other = pair
    assert common(one, other) == common(other, one) == by_table(one, other)


@pytest.mark.parametrize("block", [1, 2, 7, 30, 31])
@pytest.mark.sampled(3)
def test_it_does_not_depend_on_the_blocks(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequences, "BLOCK", block)
    random = Random(block)
    for kinds in (2, 3, 10, 100):
        for _ in range(40):
            one, other = ([random.randrange(kinds) for _ in range(random.randrange(120))] for _ in range(2))
            assert common(one, other) == by_table(one, other)


def test_many_blocks() -> None:
    words = [str(n) for n in range(50_000)]
    assert common(words, [word for n, word in enumerate(words) if n % 10]) == 45_000
    assert common(words, words[25_000:] + words[:25_000]) == 25_000
    assert common(words, words[::-1]) == 1
    bits = Random(1).choices([0, 1], k=40_000)
    assert common([item for bit in bits for item in (bit, 2, 1 - bit)], bits) == 40_000


def test_shares_of_both() -> None:
    gold = ["oak", "ash", "elm", "yew"]
    assert overlap(gold, gold) == Overlap(1.0, 1.0, 1.0) == overlap([], [])
    assert overlap([], gold) == Overlap(0.0, 0.0, 0.0) == overlap(gold, [])
    assert overlap(["fir", "ash", "yew", "oak", "elm"], gold) == Overlap(0.4, 0.5, 4 / 9)
    assert overlap(gold + ["fir"] * 12, gold) == Overlap(0.25, 1.0, 0.4)
    # the gold answer is past what is compared, and counts in the answer's length
    assert overlap(["fir"] * 16 + gold, gold) == Overlap(0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "answer",
    [
        lambda gold, random: ["so", "on"] * 500_000,
        lambda gold, random: gold[:20] * 50_000,
        lambda gold, random: (gold * 4)[:1_000_000],
        lambda gold, random: random.choices(gold, k=500_000),
        lambda gold, random: [word for n, word in enumerate(gold) if n % 10],
    ],
    ids=["nothing", "a loop", "over and over", "any order", "some left out"],
)
@pytest.mark.sampled(2)
def test_hundreds_of_thousands_of_words_take_linear_time(answer: Callable[[list[str], Random], list[str]]) -> None:
    def compare(size: int) -> None:
        gold = [str(n) for n in range(size)]
        overlap(answer(gold, Random(1)), gold)

    assert grows_in_proportion(compare, 300_000)


def test_time_grows_with_the_answer() -> None:
    """Numbers that all come again and again: no item can be left out."""
    random = Random(1)
    gold = [random.randrange(1000) for _ in range(1333)]
    replies = [random.randrange(1000) for _ in range(1_000_000)]
    assert common(replies, gold) > 1000
    assert grows_in_proportion(lambda size: common(replies[:size], gold), len(replies))
