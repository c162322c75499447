"""Passages of a text: whole sentences or lines, at most so many tokens, and nothing lost."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrara import tokenizers
from carrara.corpora.chunks import MARGIN, TextSplitter, typical_size
from carrara.items.item import make

TOKENIZERS = ("gpt2", "o200k", "qwen3", "mistral-v7", "words")
PIECES = (
    "It rains. ",
    "Mr. Stone paid $3.14 to J. R. Hale.\n",
    "他来了。",
    "“好！”她说，",
    "x = [1, 2]\n",
)


def texts(text: str, tokens: int, tokenizer: str = "gpt2") -> list[str]:
    return [text[start:end] for start, end in TextSplitter(text, tokenizers.get(tokenizer)).passages(tokens)]


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@given(
    text=st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=40).map("".join),
    tokens=st.sampled_from((1, 3, 8, 20, 100)),
    start=st.integers(0, 300),
)
@settings(max_examples=40, deadline=None)
@pytest.mark.sampled(2)
def test_passages_have_the_whole_text_and_at_most_so_many_tokens(
    tokenizer: str, text: str, tokens: int, start: int
) -> None:
    counter = tokenizers.get(tokenizer)
    splitter = TextSplitter(text, counter)
    passages = splitter.passages(tokens)
    between = [(0, 0), *passages, (len(text), len(text))]
    assert all(not text[before[1] : after[0]].strip() for before, after in pairwise(between))
    for first, end in [*passages, *([splitter.passage(start, tokens)] if text[start:].strip() else [])]:
        assert text[first:end].strip() == text[first:end] != ""
        assert counter.count(text[first:end]) <= tokens or end - first == 1


@pytest.mark.parametrize("task", ["babilong/qa1", "carrara/sessions", "michelangelo/latent_list", "minerva/batch"])
@pytest.mark.parametrize("tokenizer", TOKENIZERS[:-1])
@pytest.mark.sampled(6)
def test_passages_of_contexts_are_nearly_full(task: str, tokenizer: str) -> None:
    text = make(task, length=8192, tokenizer=tokenizer).text
    sizes = [tokenizers.get(tokenizer).count(passage) for passage in texts(text, 1024, tokenizer)]
    assert max(sizes) <= 1024
    assert abs(sum(sizes[:-1]) / len(sizes[:-1]) - typical_size(1024)) < MARGIN / 2
    assert min(sizes[:-1]) > 1024 - 3 * MARGIN


def test_passages_end_where_sentences_or_lines_end() -> None:
    text = make("babilong/qa1", length=8192, tokenizer="gpt2").text
    assert all(re.search(r"[.!?:;][\"”’)]*$", passage) for passage in texts(text, 512)[:-1])
    code = "\n".join(f"a.append({number})" for number in range(400))
    assert all(re.fullmatch(r"a\.append\(\d+\)", passage.splitlines()[-1]) for passage in texts(code, 64))
    chinese = "玛丽走进了花园。约翰去了厨房，拿起了牛奶。" * 40
    assert {passage[-1] for passage in texts(chinese, 64)} == {"。"}


def test_numbers_and_abbreviations_are_no_ends() -> None:
    text = "Mr. J. R. Stone paid 3.14 at 9 p.m. on Sunday, e.g. to Dr. Hale. " * 30
    assert all(passage.startswith("Mr. J.") and passage.endswith("Dr. Hale.") for passage in texts(text, 80))


def test_a_sentence_that_is_longer_than_a_passage_is_divided_between_clauses_or_words() -> None:
    entries = ", ".join(f'"key{number}": "value {number}"' for number in range(200))
    passages = texts(f"Here it is. {{{entries}}}", 100)
    assert all(passage.endswith(('",', '"}')) for passage in passages)
    assert len(passages[0]) > 200  # the long sentence does not leave the one before it alone
    assert texts("one two three four five", 2) == ["one two", "three four", "five"]
    assert "".join(texts("x" * 400, 20)) == "x" * 400
