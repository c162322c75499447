"""Frequent words: the power law, and replies with a tally."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from carrara.items import registry
from carrara.items.item import make, questions_of
from carrara.rng import Rng
from tests.helpers.classic import item_id, question_of, text_of
from tests.helpers.graded_answer import answered
from tests.helpers.labels import check_readings


@pytest.mark.parametrize("alpha", ["1.5", "2.0", "3.5"])
def test_no_choice_of_units_makes_a_rank_rarer_than_the_next(alpha: str) -> None:
    given = "" if alpha == "2.0" else f"alpha={alpha}"
    instance = questions_of(item_id("fwe", given)).instance
    assert instance.filler is not None
    tap = instance.filler(Rng("units"), "gpt2")
    groups = [tap(0) for _ in range(20_000)]
    taken = Counter(segment.text for group in groups for segment in group)
    own = Counter(segment.text for [segment] in instance.chunks)
    ranked = sorted(own, key=lambda word: -taken[word])
    assert ranked[0] == "..."
    assert sorted(ranked[1:4]) == list(instance.gold)
    assert [own[word] for word in ranked] == sorted(own.values(), reverse=True)
    chooser = random.Random(0)
    for share in (0.001, 0.1, 0.5, 1):
        counts = Counter(segment.text for group in groups if chooser.random() <= share for segment in group)
        ranks = [counts[word] for word in ranked]
        assert ranks == sorted(ranks, reverse=True)
        others = [count for word, count in counts.items() if word not in own]
        assert max(others, default=1) == 1


def test_frequencies_follow_the_power_law() -> None:
    item = make("classic/fwe", length=65536)
    counts = Counter(text_of(item).split())
    dots, *ranked = (count for _, count in counts.most_common(5))
    for rank, count in enumerate(ranked, 2):
        assert count / dots == pytest.approx(rank**-2, rel=0.15)
    assert len(counts) > 500
    assert set(item.question.gold) == {word for word, _ in counts.most_common(4)} - {"..."}


@pytest.mark.parametrize("length", [0, 4096])
def test_the_first_and_the_last_words_are_no_more_of_the_answer_than_others(length: int) -> None:
    """One of three is right in RULER's own samples."""
    shares = dict.fromkeys(("first", "last", "odd"), 0.0)
    for index in range(60):
        item = make("classic/fwe", index=index, length=length)
        counts = Counter(word for word in text_of(item).split() if word != "...")
        odd = [word for word, count in counts.items() if count % 2]
        last = [*dict.fromkeys(word for word in text_of(item).split()[::-1] if word != "...")]
        for name, words in (("first", [*counts][:3]), ("last", last[:3]), ("odd", odd)):
            shares[name] += len({*words} & {*item.question.gold}) / max(3, len(words)) / 60
    assert all(share < 0.25 for share in shares.values()), shares


FWE = registry.load("classic/fwe")

WORDS = replace(question_of("fwe"), gold=("tkrdwg", "vhpskb", "wgpskh"))

TALLY = "vhpskb: 17\nwgpskh: 9\ntkrdwg: 6\nbdqmjs: 4\njdnvkw: 3"


WORD_LISTS = [
    "Counting: vhpskb 17, wgpskh 9, tkrdwg 6, bdqmjs 4, jdnvkw 3.\n\nvhpskb, wgpskh, tkrdwg",
    "So: vhpskb, wgpskh, tkrdwg. (The fourth is bdqmjs.)",
    "vhpskb, wgpskh, tkrdwg (followed by bdqmjs, jdnvkw)",
    f"{TALLY}\n\nThe most frequent ones:\n1. vhpskb (17)\n2. wgpskh (9)\n3. tkrdwg (6)",
    f"{TALLY}\n\nSo vhpskb, wgpskh and tkrdwg occur most often.",
    f"{TALLY}\n\n**Answer: vhpskb, wgpskh, tkrdwg**",
    "vhpskb = 17, wgpskh = 9, tkrdwg = 6",
    "vhpskb - 1,700 times\nwgpskh - 900 times\ntkrdwg - 600 times",
]
"""Replies that name the three words, perhaps among others that are not meant."""


def test_the_most_frequent_are_told_from_the_tally() -> None:
    check_readings([(answered(FWE, reply, WORDS), WORDS.gold) for reply in WORD_LISTS], 60)
