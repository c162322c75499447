"""Exact lengths, whatever the tokenizer: also one whose counts do not add up."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest

from carrara import measure, tokens
from carrara.items import Item, make
from carrara.measure import count
from carrara.types import Style
from carrara.weave import Unreachable

NAME = "michelangelo/latent_list"


class Crooked:
    """Joins tokens across lines by their content, so that no sum of parts is the count of the whole."""

    name = "crooked"
    chat = None
    opening = 0

    def count(self, text: str) -> int:
        return len(text) // 4 + text.count("1\n")

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]


@pytest.fixture
def crooked(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    known = tokens.get
    monkeypatch.setattr(tokens, "get", lambda name: Crooked() if name == "crooked" else known(name))
    yield "crooked"
    measure._PROBED.clear()
    measure._COSTS.clear()


def recounted(item: Item) -> int:
    return count(item.prompt.measure.tokenizer, item.recipe.style, item.messages())


@pytest.mark.parametrize("style", ["chat", "base"])
@pytest.mark.parametrize("tokenizer", ["gpt2", "o200k", "cl100k", "llama3", "qwen3", "mistral-v7", "tekken", "smollm2"])
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
        except Unreachable:
            assert length < puzzle + 60
    assert reached > 90


def test_a_length_below_the_puzzle_is_refused() -> None:
    with pytest.raises(Unreachable, match="tokens without any filler"):
        make(NAME, length=100)


def test_counts_that_do_not_add_up_are_repaired(crooked: str) -> None:
    for index in range(5):
        item = make(NAME, length=4096, index=index, tokenizer=crooked)
        assert not item.prompt.measure.additive(NAME, [], [])
        assert recounted(item) == item.survey.tokens == 4096


@pytest.mark.parametrize("tokenizer", ["gpt2", "smollm2", "o200k", "mistral-v7"])
@pytest.mark.parametrize("style", ["chat", "base"])
def test_token_offsets_are_counts_of_what_comes_before(tokenizer: str, style: Style) -> None:
    item = make(NAME, length=3000, index=5, tokenizer=tokenizer, style=style)
    counter = item.prompt.measure.tokenizer
    content = item.messages()[0].content
    whole = count(counter, style, item.messages())
    for span in item.survey.spans:
        behind = counter.count("\n" + content[span.start :]) - counter.count("\n")
        closing = item.survey.tokens - whole
        assert closing == 0
        before = counter.count(content[: span.start])
        assert span.token_start - before == item.survey.spans[0].token_start - counter.count(
            content[: item.survey.spans[0].start]
        )
        assert abs(span.token_start + behind - whole) <= 8  # what the chat format puts behind the content
    for one, other in pairwise(item.survey.spans):
        assert one.token_start < one.token_end <= other.token_start


def test_updates_keep_their_depth_at_every_length() -> None:
    """The same share of the filler stands before an update at 4k and at 64k, to within a few lines."""
    for index in range(4):
        depths = []
        for length in (4096, 65536):
            item = make(NAME, length=length, index=index, params={"complexity": "20"})
            before = item.prompt.measure.before
            depths.append([(span.token_start - before) / (length - before) for span in item.survey.spans])
        assert all(abs(a - b) < 0.1 for a, b in zip(*depths, strict=True))


def test_depths_are_uniform() -> None:
    shares = []
    for index in range(60):
        item = make(NAME, length=8192, index=index, params={"complexity": "5"})
        first = item.prompt.measure.before
        shares += [(span.token_start - first) / (item.survey.tokens - first) for span in item.survey.spans]
    quarters = [sum(q / 4 <= share < (q + 1) / 4 for share in shares) / len(shares) for q in range(4)]
    assert all(0.17 < quarter < 0.33 for quarter in quarters)
