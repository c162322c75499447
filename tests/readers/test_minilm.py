"""The embedder that needs no server: near to what is published, and the same whatever it is given beside."""

import numpy as np
import pytest

from carrara import tokenizers
from carrara.corpora.chunks import by_tokens
from carrara.readers.retrieval.index import embedder
from carrara.rng import Rng
from tests.readers.test_retrieval import STORY, needs_minilm

LOVELY = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]


@needs_minilm
def test_minilm_has_the_similarities_that_are_published() -> None:
    """Of the model's own 32-bit weights, in the documentation of Sentence Transformers."""
    vectors = embedder("minilm").embed(LOVELY)
    published = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
    assert vectors.dtype == np.float32
    assert np.abs(vectors @ vectors.T - np.array(published)).max() < 0.01


@needs_minilm
@pytest.mark.slow
def test_a_vector_does_not_depend_on_its_company() -> None:
    rng = Rng("company")
    texts = [" ".join(rng.choice(STORY.split()) for _ in range(rng.between(1, 400))) for _ in range(40)]
    by = embedder("minilm")
    alone = np.concatenate([by.embed([text]) for text in texts[:12]])
    assert (by.embed(texts)[:12] == alone).all()
    assert (by.embed(texts[::-1])[::-1][:12] == alone).all()


def _of_one_length(words: int, count: int) -> list[str]:
    rng = Rng("one length", words)
    known = ["milk", "ship", "sea", "apple", "garden", "captain"]
    return [" ".join(rng.choice(known) for _ in range(words)) for _ in range(count)]


@needs_minilm
@pytest.mark.parametrize("words", [1, 2, 5, 14, 30, 31, 62, 254])
@pytest.mark.sampled(2)
def test_a_vector_does_not_depend_on_texts_of_its_own_length(words: int) -> None:
    by = embedder("minilm")
    texts = _of_one_length(words, 5)
    together = by.embed(texts)
    assert (np.concatenate([by.embed([text]) for text in texts]) == together).all()
    assert (np.concatenate([by.embed(texts[:2]), by.embed(texts[2:])]) == together).all()


@needs_minilm
def test_nothing_of_a_long_text_is_left_out() -> None:
    by = embedder("minilm")
    long = STORY * 7
    assert len(by_tokens(long, 256, tokenizers.get("gpt2"))) > 1
    plain, ended, whale = by.embed([long, long + " The whale dived. " * 20, "The whale dived."])
    assert plain @ ended < 0.99
    assert ended @ whale > plain @ whale + 0.05
