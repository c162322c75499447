"""Passages show nothing of where facts stand: they are those of the text alone."""

from collections.abc import Iterator

import pytest

from carrara.corpora.chunks import TextSplitter, by_sentences
from carrara.items.item import make
from carrara.readers.context import ReaderContext
from carrara.rng import Rng
from carrara.tokenizers import get

CONTEXTS, TOKENS = 60, 512
TASKS = ("babilong/qa1", "babilong/qa2", "classic/niah", "sync/graph")


def contexts_of(task: str) -> Iterator[ReaderContext]:
    for index in range(CONTEXTS):
        yield ReaderContext(make(task, length=4096, index=index, tokenizer="gpt2"))


@pytest.mark.parametrize("task", [*TASKS, "michelangelo/mrcr", "michelangelo/latent_list", "minerva/key_value"])
def test_passages_are_those_of_the_text_alone(task: str) -> None:
    context = ReaderContext(make(task, length=4096, tokenizer="o200k"))
    splitter = TextSplitter(context.text, get("o200k"))
    assert [(one.start, one.end) for one in context.passages(TOKENS)] == splitter.passages(TOKENS)
    for start in range(0, len(context.text), 1999):
        page = context.from_position(start, TOKENS)
        assert (page.start, page.end) == splitter.passage(start, TOKENS)
        assert context.count(page) <= TOKENS


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(1)
def test_a_needed_fact_ends_a_page_no_more_often_than_other_sentences(task: str) -> None:
    """It ended four of five pages of `read` in qa1: the sentence at the end of a short page was one."""
    rng, ends, pages, sentences, facts = Rng("pages", task), 0, 0, 0, 0
    for context in contexts_of(task):
        text, end = context.text, rng.below(len(context.text) // 4)
        fact_ends = {fact.end for fact in context.needed}
        sentences += len(by_sentences(text))
        facts += len(fact_ends)
        while (page := context.from_position(end, TOKENS)).end < len(text):
            ends += page.end in fact_ends
            pages += 1
            end = page.end
    expected = pages * facts / sentences
    assert ends <= expected + 4 * expected**0.5 + 1
