"""Exact lengths, whatever the tokenizer: also one whose counts do not add up."""

import pytest

from carrara.items.item import Item, make
from carrara.items.prompt import count
from carrara.types import Message, Style
from carrara.util.errors import LengthError

NAME = "michelangelo/latent_list"


def recounted(item: Item) -> int:
    return count(item.prompt.measure.tokenizer, item.item_id.style, item.messages())


@pytest.mark.parametrize("style", ["chat", "base"])
@pytest.mark.parametrize("tokenizer", ["gpt2", "o200k", "cl100k", "llama3", "qwen3", "mistral-v7", "tekken", "smollm2"])
@pytest.mark.sampled(4)
def test_prompts_are_exactly_as_long_as_asked(tokenizer: str, style: Style) -> None:
    for index in range(4):
        for length in (1536, 2048, 4096, 5001):
            item = make(NAME, length=length, index=index, tokenizer=tokenizer, style=style)
            assert recounted(item) == item.survey.tokens == length
        bare = make(NAME, length=0, index=index, tokenizer=tokenizer, style=style)
        assert recounted(bare) == bare.survey.tokens


def test_every_reachable_length_is_reached() -> None:
    puzzle = make(NAME, index=2).survey.tokens
    reached = 0
    for length in range(puzzle, puzzle + 120):
        try:
            assert recounted(make(NAME, index=2, length=length)) == length
            reached += 1
        except LengthError:
            assert length < puzzle + 60
    assert reached > 90


def test_a_length_below_the_puzzle_is_refused() -> None:
    with pytest.raises(LengthError, match="tokens without any filler"):
        make(NAME, length=100)


def test_counts_that_do_not_add_up_are_repaired(crooked: str) -> None:
    for index in range(5):
        item = make(NAME, length=4096, index=index, tokenizer=crooked)
        assert not item.prompt.measure.additive(NAME, list, [])
        assert recounted(item) == item.survey.tokens == 4096


@pytest.mark.parametrize("tokenizer", ["gpt2", "smollm2", "o200k", "mistral-v7", "llama3", "qwen3"])
@pytest.mark.parametrize("style", ["chat", "base"])
def test_token_spans_are_those_of_the_text(tokenizer: str, style: Style) -> None:
    for index in (5, 9):
        item = make(NAME, length=3000, index=index, tokenizer=tokenizer, style=style)
        counter = item.prompt.measure.tokenizer
        content = item.messages()[0].content
        # What the chat format puts before the content is the same for any content.
        ahead = count(counter, style, [Message("user", content)]) - counter.count(content)
        ahead -= count(counter, style, [Message("user", "A")]) - counter.count("A") - item.prompt.measure.opening()
        for span in item.survey.spans:
            assert span.token_start == ahead + counter.count(content[: span.start])
            assert span.token_end == ahead + counter.count(content[: span.end])


def shares(item: Item) -> list[float]:
    """The share of the filler before each fact."""
    packing = item.prompt.packing
    before = -sum(packing.cost((segment,)) for segment in item.context.instance.start)
    found = []
    for segment in packing:
        if segment.fact is None:
            before += packing.cost((segment,))
        else:
            found.append(before / packing.room)
    assert before == packing.room
    return found


@pytest.mark.parametrize(
    ("length", "complexity"), [(700, "1"), (1024, "1"), (1024, "20"), (2048, "5"), (4096, "20"), (32768, "20")]
)
@pytest.mark.sampled(3)
def test_updates_stand_where_they_were_drawn(length: int, complexity: str) -> None:
    """At every length the same share of the filler stands before a fact, to within a group or two."""
    for index in range(12):
        item = make(NAME, length=length, index=index, params={"complexity": complexity})
        packing = item.prompt.packing
        for share, drawn in zip(shares(item), packing.drawn, strict=True):
            assert abs(share - drawn) * packing.room < 64


@pytest.mark.slow
def test_depths_are_uniform() -> None:
    found = [share for i in range(80) for share in shares(make(NAME, length=1024, index=i, params={"complexity": "5"}))]
    tenths = [sum(int(10 * share) == tenth for share in found) / len(found) for tenth in range(10)]
    assert all(0.05 < tenth < 0.16 for tenth in tenths)


def test_what_was_woven_last_is_the_same_as_what_is_woven_anew() -> None:
    one, other = (make("sync/graph", index=index, length=8192) for index in range(2))
    anew = one.prompt.text  # the other has been packed since
    again = make("sync/graph", index=0, length=8192)
    assert [again.prompt.text for _ in range(2)] == [anew, anew]
    assert other.prompt.text != anew
