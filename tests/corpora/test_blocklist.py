"""Blocklists: words found once, sentence filters applied once, readings that skip blocked sentences."""

import re
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import pytest

from carrara import corpora
from carrara.rng import SPLITS, Rng, Split
from carrara.types import SentenceFilter
from carrara.util.errors import ExhaustedError, UsageError

WORDS = [
    "Mary",
    "box",
    "box of chocolates",
    "chocolates",
    "wine bar",
    "bar",
    "no. 7",
    "château",
    "Straße",
    "x-ray",
    "up",
]
TEXT = [
    "_Mary_ left.",
    "“MARY’S gone!”",
    "Maryland is far; Rosemary and Marié are near.",
    "The box of chocolates stood by another box.",
    "Boxes of chocolates were bought.",
    "The BOX, of chocolates, fell.",
    "A wine bar is a bar.",
    "Wine barrels, see No. 7.",
    "See no. 77 in the CHÂTEAU in the STRASSE.",
    "An X-ray, x ray, x-rays.",
    "Nothing is said here of Mary",
    "Up.",
]
DOCUMENTS = 30


pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def texts(tmp_path: Path) -> corpora.Corpus:
    """Documents of the sentences above, each with a number of its own and some at random."""
    rng = Rng("texts")
    folder = tmp_path / "texts"
    folder.mkdir()
    for n in range(DOCUMENTS):
        lines = [f"Document {n}.", *(rng.choice(TEXT) for _ in range(40))] if n else TEXT
        (folder / f"{n:02}.txt").write_text("\n\n".join(lines), "utf-8")
    return corpora.open(str(folder))


def sentences_of(opened: corpora.Corpus) -> list[str]:
    return [opened.text(i, i + 1) for i in range(opened.sentences)]


def saying(sentences: Sequence[str], words: Sequence[str]) -> set[int]:
    """By the definition: a word is said where no letter or digit stands before or behind it."""
    found = re.compile(rf"(?<![^\W_])(?:{'|'.join(re.escape(word.casefold()) for word in words)})(?![^\W_])")
    return {i for i, text in enumerate(sentences) if found.search(text.casefold())}


ENDS = SentenceFilter("complete", 1, lambda sentence: sentence[-1] in ".!?”")


def test_each_word_of_a_vocabulary_is_found_where_it_is_said(texts: corpora.Corpus) -> None:
    assert sentences_of(texts)[: len(TEXT)] == TEXT
    for word in WORDS:
        found = corpora.blocklist_of(texts, [word], vocabulary=WORDS).blocked.tolist()
        assert set(found) == saying(sentences_of(texts), [word])
        assert found == corpora.blocklist_of(texts, [word.upper()]).blocked.tolist() == sorted(found)
    box = corpora.blocklist_of(texts, ["box"], vocabulary=WORDS).blocked.tolist()
    assert [i for i in box if i < len(TEXT)] == [3, 5]
    assert corpora.blocklist_of(texts, ["zebra"]).blocked.tolist() == []


def test_a_few_words_are_a_union_and_need_no_pass(texts: corpora.Corpus) -> None:
    corpora.blocklist_of(texts, WORDS[:1], vocabulary=WORDS)
    corpora.blocklist_of(texts, sentence_filter=ENDS)
    rng = Rng("unions")
    files = list((texts.folder / "screens").iterdir())
    sentences = sentences_of(texts)
    open_ended = {i for i, text in enumerate(sentences) if not ENDS.passes(text)}
    for _ in range(50):
        words = rng.sample(WORDS, rng.between(1, len(WORDS)))
        found = corpora.blocklist_of(texts, words, vocabulary=WORDS, sentence_filter=ENDS)
        assert found.blocked.tolist() == sorted(saying(sentences, words) | open_ended)
        assert set(found.failed.tolist()) == open_ended
        assert not open_ended & set(found.named.tolist())
    assert list((texts.folder / "screens").iterdir()) == files


def test_a_sieve_is_known_by_name_and_version(texts: corpora.Corpus) -> None:
    def short(limit: int, version: int = 1) -> SentenceFilter:
        return SentenceFilter(f"below {limit}", version, lambda sentence: len(sentence) < limit)

    for limit in (12, 20, 10_000):
        wanted = [i for i, text in enumerate(sentences_of(texts)) if len(text) >= limit]
        assert corpora.blocklist_of(texts, sentence_filter=short(limit)).blocked.tolist() == wanted
    changed = SentenceFilter("below 12", 2, lambda sentence: sentence != "Up.")
    wanted = [i for i, text in enumerate(sentences_of(texts)) if text == "Up."]
    assert corpora.blocklist_of(texts, sentence_filter=changed).blocked.tolist() == wanted


def test_what_cannot_be_screened_for(texts: corpora.Corpus) -> None:
    with pytest.raises(UsageError, match="a blocklist needs words"):
        corpora.blocklist_of(texts)
    with pytest.raises(UsageError, match="no blocklist can be made of '—'"):
        corpora.blocklist_of(texts, ["Mary", "—"])
    with pytest.raises(ValueError, match="the vocabulary lacks 'zebra'"):
        corpora.blocklist_of(texts, ["Mary", "zebra"], vocabulary=WORDS)


@pytest.mark.parametrize("split", [None, *SPLITS])
@pytest.mark.sampled(2)
def test_what_is_left_is_all_that_is_read(texts: corpora.Corpus, split: Split | None) -> None:
    rng = Rng("left")
    sentences, sums = sentences_of(texts), texts.counts("gpt2").tolist()
    open_ended = {i for i, text in enumerate(sentences) if not ENDS.passes(text)}
    own = {i for d in texts.documents_of(split) for i in range(*texts.document(int(d)))}
    for n in range(20):
        words = rng.sample(WORDS, n % 4)
        blocklist = corpora.blocklist_of(texts, words, vocabulary=WORDS, sentence_filter=ENDS)
        out = open_ended | (saying(sentences, words) if words else set())
        left = [i for i in range(len(sentences)) if i not in out and i in own]
        if not left:
            with pytest.raises(ExhaustedError, match="that is nothing to read"):
                corpora.reading(texts, Rng(n), "gpt2", split=split, blocklist=blocklist)
            continue
        tap = corpora.reading(texts, Rng(n), "gpt2", split=split, blocklist=blocklist)
        assert tap.available == sum(sums[i + 1] - sums[i] for i in left)
        read = []
        while tap.used < tap.available:
            read.append(tap(0)[0].text)
        assert sorted(read) == sorted(sentences[i] for i in left)
        whose = f" of the {split} split" if split else ""
        what = rf"tokens{whose} without (?:{len(words)} blocked words and )?what is not complete by gpt2, and"
        with pytest.raises(ExhaustedError, match=what):
            tap(0)


def test_gaps_are_those_between_the_sentences_that_are_read(texts: corpora.Corpus) -> None:
    for n in range(30):
        blocklist = corpora.blocklist_of(texts, ["box"], sentence_filter=ENDS) if n % 2 else None
        slow, own = (corpora.reading(texts, Rng(n), "gpt2", blocklist=blocklist, repeat=n % 3 == 0) for _ in range(2))
        costs: list[int] = []
        while sum(costs) + 60 < slow.available or (slow.repeat and sum(costs) < 2 * slow.available):
            costs.append(slow(0)[0].tokens or 0)
        wanted = [0, *accumulate(costs)]
        for tokens in (0, 1, wanted[7], wanted[7] + 1, wanted[-1] // 2, wanted[-1]):
            gaps = own.gaps(tokens)
            assert gaps.tolist() == [total for total in wanted if total <= tokens]
            assert gaps.dtype.name == "uint64"
        again = corpora.reading(texts, Rng(n), "gpt2", blocklist=blocklist, repeat=n % 3 == 0)
        for k, cost in enumerate(costs):
            assert own(0) == again(0)
            assert own.used == wanted[k] + cost
            if k % 50 == 7:  # also of what is left
                rest = [total - own.used for total in wanted[k + 1 :]]
                assert own.gaps(min(100, rest[-1])).tolist() == [total for total in rest if total <= 100]


def test_gaps_of_more_than_there_is(texts: corpora.Corpus) -> None:
    tap = corpora.reading(texts, Rng("a"), "gpt2")
    assert tap.gaps(tap.available)[-1] == tap.available
    with pytest.raises(ExhaustedError, match=r"let it repeat \(repeat=true\), add text to it or take another"):
        tap.gaps(tap.available + 1)
    twice = corpora.reading(texts, Rng("a"), "gpt2", repeat=True)
    assert twice.gaps(2 * twice.available)[-1] == 2 * twice.available
