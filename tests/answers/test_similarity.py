"""Ratios of texts: the standard library's to the last bit, and our own."""

import runpy
import sys
from difflib import SequenceMatcher

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrara.answers import similarity
from carrara.answers.similarity import published_ratio, ratio
from carrara.generators.forms import FORMATS, DraftKey, topics, write
from carrara.rng import Rng

letters = st.text(alphabet="abcde \n", max_size=300)


@settings(max_examples=3 * settings().max_examples)
@given(letters, letters)
def test_ratios_are_difflibs(one: str, other: str) -> None:
    assert published_ratio(one, other) == SequenceMatcher(None, one, other).ratio()
    if len(one) <= 4 * len(other):
        assert ratio(one, other) == SequenceMatcher(None, one, other, autojunk=False).ratio()


def test_ratios_of_drafts_are_difflibs() -> None:
    for n in range(60):
        rng = Rng("ratios", n)
        key = DraftKey(rng.choice(FORMATS), rng.choice(topics()))
        one, other = write(key, rng), write(key, rng)
        assert published_ratio(one, other) == SequenceMatcher(None, one, other).ratio()


def test_ratios_are_the_same_without_cydifflib(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Python 3.14."""
    monkeypatch.setitem(sys.modules, "cydifflib", None)
    module = runpy.run_path(similarity.__file__)
    assert module["SequenceMatcher"] is SequenceMatcher
    one, other = write(DraftKey("essay", "bees"), Rng("one")), write(DraftKey("essay", "bees"), Rng("other"))
    assert module["published_ratio"](one, other) == published_ratio(one, other)
    assert module["ratio"](one, other) == ratio(one, other)


def test_what_goes_on_and_on_scores_less_and_ends_soon() -> None:
    gold = write(DraftKey("essay", "bees"), Rng("gold"))
    assert ratio(gold, gold) == 1.0
    assert ratio("", gold) == 0.0
    twice, often = ratio(gold + "\n\n" + gold, gold), ratio((gold + "\n\n") * 1000, gold)
    assert 0.6 < twice < 0.7
    assert 0.001 < often < 0.01
    assert ratio("ab " * 400_000, gold) < 0.01
