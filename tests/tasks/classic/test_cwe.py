"""Common words: how often words occur, and replies with names."""

from collections import Counter
from dataclasses import replace

import pytest

from carrara.items import registry
from carrara.items.item import make, questions_of
from carrara.rng import Rng
from tests.helpers.classic import item_id, question_of, text_of
from tests.helpers.graded_answer import answered
from tests.helpers.labels import check_readings


@pytest.mark.parametrize("length", [2048, 16384])
def test_common_words_are_common_and_no_other_word_is(length: int) -> None:
    for index in range(6):
        item = make("classic/cwe", length=length, index=index)
        counts = Counter(text_of(item).split())
        assert {counts[word] for word in item.question.gold} == {30}
        assert max(count for word, count in counts.items() if word not in item.question.gold) <= 3


@pytest.mark.slow
def test_rare_words_stay_rare_however_many_are_taken() -> None:
    instance = questions_of(item_id("cwe")).instance
    assert instance.filler is not None
    for seed in range(3):
        tap = instance.filler(Rng("rare", seed), "gpt2")
        counts = Counter(segment.text for _ in range(80_000) for segment in tap(0))
        assert max(counts.values()) <= 3
        assert counts.keys().isdisjoint(instance.facts)


CWE = registry.load("classic/cwe")

NAMES = replace(question_of("cwe"), gold=("frozen-bay", "hollow-cup", "old-house"))


NAME_LISTS = [
    "hollow_cup, old_house, frozen_bay",
    "hollow\\_cup, old\\_house, frozen\\_bay",
    "hollow\u2011cup, old\u2011house, frozen\u2011bay",
    "Hollow\u2010Cup, Old\u2010House, Frozen\u2010Bay",
    "red-barn 3, old-house 30, hollow-cup 30, frozen-bay 30.\n\nhollow-cup, old-house, frozen-bay",
    "hollow-cup — 30\nold-house — 30\nfrozen-bay — 30",
]
"""Replies that name the three words."""


def test_names_with_any_hyphen() -> None:
    check_readings([(answered(CWE, reply, NAMES), NAMES.gold) for reply in NAME_LISTS], 80)
