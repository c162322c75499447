"""Blocklists: the sentences to be skipped, because they name any of some words or fail a filter.

A word is found whole and in either case: `mary` in `_Mary’s_` and `MARY`, not in `Maryland`. One pass over the text
finds every sentence that names any word of a vocabulary; another finds all that fail a `SentenceFilter`. Both findings
are stored beside the text. A blocklist of a few of the words is then made in less than a millisecond, so each item can
have its own.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from carrara.corpora.index import U64
from carrara.corpora.sentences import says_something
from carrara.corpora.store import Corpus, Numbers, indices, map_numbers
from carrara.types import SentenceFilter
from carrara.util.cache import cache_file
from carrara.util.errors import UsageError
from carrara.util.unicode import HAN, unicode14

_VERSION = 5
"""The version of the search for words and of the stored results."""
_WORD = re.compile(rf"[{HAN}]|[^\W_{HAN}]+")
"""Words. Project Gutenberg's italics, _Mary_, are not part of a word. A Chinese character is one, because no spaces
show where words end."""
_Integers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Blocklist:
    """The sentences of one corpus to skip, in two disjoint parts."""

    words: tuple[str, ...]
    sentence_filter: SentenceFilter | None
    failed: Numbers
    """The sentences that fail the filter, ascending."""
    named: Numbers
    """The other sentences with any of the words, ascending."""

    @cached_property
    def blocked(self) -> Numbers:
        """All skipped sentences, ascending."""
        return np.union1d(self.failed, self.named)

    def without_blocked(self, spans: Numbers) -> Numbers:
        """Return spans of sentences (start, stop) without blocked ones: runs, in the same order."""
        return _remove_blocked(self, spans.tobytes())


@lru_cache(maxsize=64)
def _remove_blocked(blocklist: Blocklist, spans_as_bytes: bytes) -> Numbers:
    """Return spans without blocked sentences. An item reads its filler twice, to find its gaps and to render."""
    spans = np.frombuffer(spans_as_bytes, np.uint64).reshape(-1, 2)
    blocked, owners = [], []
    for part in (blocklist.failed, blocklist.named):
        low, high = part.searchsorted(spans).T
        blocked.append(part[indices(low, high)])
        owners.append(np.repeat(np.arange(len(spans)), high - low))
    out, whose = np.concatenate(blocked), np.concatenate([np.arange(len(spans)), *owners])
    begins = np.concatenate([spans[:, 0], out + np.uint64(1)])
    ends = np.concatenate([spans[:, 1], out])
    runs = np.stack([begins[np.lexsort((begins, whose))], ends[np.lexsort((ends, whose))]], axis=1)
    return runs[runs[:, 0] < runs[:, 1]]


def blocklist_of(
    corpus: Corpus,
    words: Iterable[str] = (),
    *,
    vocabulary: Iterable[str] = (),
    sentence_filter: SentenceFilter | None = None,
) -> Blocklist:
    """Return the blocklist of all sentences that contain one of the words (or phrases) or fail the filter.

    The words may be part of a vocabulary. Its first use searches for all of it at once, and further words then need no
    pass over the text. Without a vocabulary, only these words are searched for.
    """
    wanted = _normalized(tuple(words))
    if not wanted and not sentence_filter:
        raise UsageError("a blocklist needs words: give those to be kept out")
    return _blocklist(corpus, wanted, tuple(vocabulary) or wanted, sentence_filter)


@lru_cache(maxsize=64)
def _blocklist(
    corpus: Corpus, words: tuple[str, ...], vocabulary: tuple[str, ...], sentence_filter: SentenceFilter | None
) -> Blocklist:
    failed = failing(corpus, sentence_filter) if sentence_filter else np.zeros(0, U64)
    named = _mentions(corpus, vocabulary).of(words) if words else np.zeros(0, U64)
    return Blocklist(words, sentence_filter, failed, named[~contains(named, failed)])


def contains(numbers: _Integers, among: _Integers) -> npt.NDArray[np.bool_]:
    """Return the numbers that are among others, which are ascending. This is fast if the others are many more."""
    if not len(among):
        return np.zeros(len(numbers), np.bool_)
    places = np.searchsorted(among, numbers)
    is_among: npt.NDArray[np.bool_] = among[np.minimum(places, len(among) - 1)] == numbers
    return is_among


@lru_cache(maxsize=64)
def failing(corpus: Corpus, sentence_filter: SentenceFilter) -> Numbers:
    """Return the sentences of a corpus that fail a filter, ascending. Each is tested only once."""
    path = _file(corpus, f"sieve {sentence_filter.version}", sentence_filter.name)
    if not path.exists():
        failed = array("Q")
        for first, texts in _sentences(corpus):
            failed.extend(i for i, text in enumerate(texts, first) if not sentence_filter.passes(unicode14(text)))
        with cache_file(path) as file:
            file.write(np.array(failed, U64).tobytes())
    return map_numbers(path) if path.stat().st_size else np.zeros(0, U64)


@dataclass(frozen=True, eq=False)
class _Mentions:
    """The sentences that contain each word."""

    places: dict[str, int]
    ends: Numbers
    """The positions at which the sentences of each word begin, and the end of the last ones."""
    sentences: Numbers

    def of(self, words: Sequence[str]) -> Numbers:
        if strange := [word for word in words if word not in self.places]:
            raise ValueError(f"the vocabulary lacks {', '.join(map(repr, strange))}")
        each = [self.sentences[self.ends[k] : self.ends[k + 1]] for k in map(self.places.__getitem__, words)]
        return np.unique(np.concatenate(each))


@lru_cache(maxsize=64)
def _mentions(corpus: Corpus, vocabulary: tuple[str, ...]) -> _Mentions:
    words = _normalized(vocabulary)
    path = _file(corpus, "words", *words)
    if not path.exists():
        ends, sentences = _find_phrases(corpus, words)
        with cache_file(path) as file:
            file.write(ends.astype(U64).tobytes())
            file.write(sentences.astype(U64).tobytes())
    numbers = map_numbers(path)
    places = {word: place for place, word in enumerate(words)}
    return _Mentions(places, numbers[: len(words) + 1], numbers[len(words) + 1 :])


def _find_phrases(corpus: Corpus, words: Sequence[str]) -> tuple[Numbers, Numbers]:
    """Return the sentences with a phrase.

    It is searched for where its first word occurs, because most sentences lack it.
    """
    by_first: dict[str, list[tuple[int, str]]] = {}
    for place, word in enumerate(words):
        by_first.setdefault(_WORD.findall(word)[0], []).append((place, word))
    firsts = frozenset(by_first)
    places_found, sentences_found = array("Q"), array("Q")
    for start, texts in _sentences(corpus):
        for i, text in enumerate(texts, start):
            text = text.casefold() if text.isascii() else normalize("NFKC", unicode14(text)).casefold()
            for first in firsts.intersection(_WORD.findall(text)):
                for place, word in by_first[first]:
                    if word == first or (word in text and _phrase(word).search(text)):
                        places_found.append(place)
                        sentences_found.append(i)
    places = np.array(places_found, U64)
    order = np.argsort(places, kind="stable")
    ends = np.searchsorted(places[order], np.arange(len(words) + 1, dtype=U64))
    return ends.astype(U64), np.array(sentences_found, U64)[order]


@lru_cache(maxsize=4096)
def _phrase(words: str) -> re.Pattern[str]:
    """Return a pattern of words that are no part of longer ones. Those of a vocabulary take seconds to compile."""
    return re.compile(rf"(?<![^\W_{HAN}]){re.escape(words)}(?![^\W_{HAN}])")


def _sentences(corpus: Corpus) -> Iterator[tuple[int, list[str]]]:
    """Yield all sentences in stretches, each with the number of its first."""
    for i, j in corpus.blocks():
        yield i, corpus.each(i, j)


@lru_cache(maxsize=256)
def _normalized(words: tuple[str, ...]) -> tuple[str, ...]:
    normalized = tuple(sorted({" ".join(unicode14(word).casefold().split()) for word in words}))
    if strange := [word for word in normalized if not says_something(word)]:
        raise UsageError(f"no blocklist can be made of {', '.join(map(repr, strange))}: give words to be kept out")
    return normalized


def _file(corpus: Corpus, *of: str) -> Path:
    mark = blake2b("\n".join((f"blocklist {_VERSION}", *of)).encode(), digest_size=8).hexdigest()
    return corpus.folder / "screens" / f"{mark}.u64"
