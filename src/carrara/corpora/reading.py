"""Reading a corpus: sentences in natural order from a keyed random start, as a stream of filler.

A document is drawn, then a sentence in it, as BABILong does with books. Reading continues to the end of the document,
then through other documents in a drawn order, and finally through the text before the start. So no sentence is read
twice, and all can be read. A text is repeated only on request.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, tee

import numpy as np
import numpy.typing as npt

from carrara.corpora.blocklist import Blocklist, contains, failing
from carrara.corpora.store import Corpus, Numbers, indices
from carrara.rng import Rng, Split
from carrara.types import Segment, SegmentGroup, SentenceFilter
from carrara.util.errors import ExhaustedError

CHUNK = 1 << 14
"""The tokens of the longest segment, some 70 kB: it fits the processor's cache, and no string has 50M tokens."""
_FIRST, _MOST = 1 << 7, 1 << 12
"""The least and greatest number of sentences that are looked up together. Large batches are cheaper for each sentence,
small ones suit short reads."""


class CorpusStream:
    """A filler stream: each call returns the next sentence, and `upto` as many as fit, in one slice of the text."""

    def __init__(
        self, corpus: Corpus, rng: Rng, tokenizer: str, split: Split | None, blocklist: Blocklist | None, repeat: bool
    ) -> None:
        self.corpus, self.tokenizer = corpus, tokenizer
        self.split, self.blocklist, self.repeat = split, blocklist, repeat
        self.available = available(corpus, tokenizer, split, blocklist)
        """The tokens that can be read once."""
        self.used = 0
        self._sums = corpus.counts(tokenizer)
        self._batches = self._draw(rng)
        # The batch that is being read: its runs (the one at `_next` may have been begun), the tokens of the
        # batch at the end of each run, and the tokens read of it so far.
        self._runs: list[tuple[int, int]] = []
        self._ends: list[int] = []
        self._next = self._read = 0

    def __call__(self, gap: int = 0) -> SegmentGroup:
        """Return the next sentence."""
        self._require(1)
        self._open_next_batch()
        (start, stop), before = self._runs[self._next], self._read
        return self._segment([self._read_up_to(start + 1, stop)], self._read - before)

    def several(self, groups: int) -> list[SegmentGroup]:
        """Return the next sentences, one segment each, read in few slices.

        There may be fewer than requested, but at least one.
        """
        groups_read: list[SegmentGroup] = []
        while len(groups_read) < groups and (not groups_read or self.repeat or self.used < self.available):
            self._require(1)
            self._open_next_batch()
            start, stop = self._runs[self._next]
            end = min(stop, start + groups - len(groups_read))
            self._read_up_to(end, stop)
            costs = np.diff(self._sums[start : end + 1]).tolist()
            self.used += sum(costs)
            texts = self.corpus.each(start, end)
            groups_read += [(Segment(text, tokens=cost),) for text, cost in zip(texts, costs, strict=True)]
        return groups_read

    def upto(self, tokens: int) -> SegmentGroup:
        """Return the next sentences that have at most this many tokens together, as one segment of at most a chunk.

        The result is empty only if the next sentence does not fit. Raise if too little text is left.
        """
        if tokens <= 0:
            return ()
        self._require(tokens)
        runs: list[tuple[int, int]] = []
        left = most = min(tokens, CHUNK)
        while left > 0:
            self._open_next_batch()
            fits = bisect_right(self._ends, self._read + left, self._next)
            if fits > self._next:
                runs += self._runs[self._next : fits]
                left -= self._ends[fits - 1] - self._read
                self._next, self._read = fits, self._ends[fits - 1]
            if fits == len(self._runs):
                continue
            start, stop = self._runs[fits]
            end = self.corpus.run(start, left, self.tokenizer, stop)
            if end == start and not runs and int(self._sums[end + 1] - self._sums[end]) <= tokens:
                end += 1  # a sentence longer than a chunk
            if end > start:
                left += self._read
                runs.append(self._read_up_to(end, stop))
                left -= self._read
            break
        return self._segment(runs, most - left) if runs else ()

    def gaps(self, tokens: int) -> Numbers:
        """Return the tokens before each gap between the next sentences, ascending from 0.

        This only looks ahead: it does not change what is read afterwards.
        """
        self._require(tokens)
        ahead, self._batches = tee(self._batches)
        begun = np.array(self._runs[self._next :], np.uint64).reshape(-1, 2)
        bounds, read = [np.zeros(1, np.uint64)], 0
        for runs in chain([begun], ahead):
            sentences = indices(runs[:, 0], runs[:, 1])
            ends = np.cumsum(self._sums[sentences + 1] - self._sums[sentences], dtype=np.uint64) + np.uint64(read)
            bounds.append(ends)
            read = int(ends[-1]) if ends.size else read
            if read >= tokens:
                break
        gaps = np.concatenate(bounds)
        return gaps[: np.searchsorted(gaps, np.uint64(tokens), "right")]

    def _segment(self, runs: Sequence[tuple[int, int]], cost: int) -> SegmentGroup:
        self.used += cost
        return (Segment(self.corpus.join(runs), tokens=cost),)

    def _read_up_to(self, end: int, stop: int) -> tuple[int, int]:
        """Read the next run up to a sentence, and return its bounds."""
        start = self._runs[self._next][0]
        self._read += int(self._sums[end]) - int(self._sums[start])
        self._runs[self._next] = end, stop
        self._next += end == stop
        return start, end

    def _open_next_batch(self) -> None:
        """Go to the next batch if this one has ended."""
        while self._next == len(self._runs):
            runs = next(self._batches)
            costs = self._sums[runs[:, 1]] - self._sums[runs[:, 0]]
            self._ends = np.cumsum(costs).tolist()
            self._runs = list(map(tuple, runs.tolist()))
            self._next = self._read = 0

    def _require(self, tokens: int) -> None:
        if not self.repeat and self.used + tokens > self.available:
            raise too_small_error(self, self.used + tokens)

    def _draw(self, rng: Rng) -> Iterator[Numbers]:
        """Yield batches of runs: sentences within one document in order, without blocked ones."""
        documents = self.corpus.documents_of(self.split)
        while True:
            for spans in _batches(self._spans(rng, documents)):
                yield self.blocklist.without_blocked(spans) if self.blocklist else spans

    def _spans(self, rng: Rng, documents: npt.NDArray[np.intp]) -> Iterator[tuple[int, int]]:
        """Yield all documents once, from a drawn sentence on."""
        order = _shuffle(rng, len(documents))
        first, last = self.corpus.document(int(documents[next(order)]))
        start = first + rng.below(last - first)
        yield start, last
        for number in order:
            yield self.corpus.document(int(documents[number]))
        yield first, start


def _batches(spans: Iterable[tuple[int, int]]) -> Iterator[Numbers]:
    """Yield groups of spans of sentences. Long spans are divided, because a document may be a whole library."""
    spans_held: list[tuple[int, int]] = []
    size, most = 0, _FIRST
    for start, stop in spans:
        while start < stop:
            end = min(stop, start + most - size)
            spans_held.append((start, end))
            size += end - start
            start = end
            if size == most:
                yield np.array(spans_held, np.uint64)
                spans_held, size, most = [], 0, min(2 * most, _MOST)
    if spans_held:
        yield np.array(spans_held, np.uint64)


def reading(
    corpus: Corpus,
    rng: Rng,
    tokenizer: str,
    *,
    split: Split | None = None,
    blocklist: Blocklist | None = None,
    repeat: bool = False,
) -> CorpusStream:
    """Open a corpus for reading. With a split, only the documents that it owns are read."""
    opened = CorpusStream(corpus, rng, tokenizer, split, blocklist, repeat)
    if opened.available == 0:
        raise too_small_error(opened, 0)
    return opened


@lru_cache(maxsize=256)
def available(corpus: Corpus, tokenizer: str, split: Split | None, blocklist: Blocklist | None) -> int:
    """Return the tokens that a split may read of a corpus, without blocked sentences."""
    if blocklist is None:
        return _passing_tokens(corpus, tokenizer, split, None)
    return _passing_tokens(corpus, tokenizer, split, blocklist.sentence_filter) - _cost(
        corpus, tokenizer, split, blocklist.named
    )


@lru_cache(maxsize=256)
def _passing_tokens(corpus: Corpus, tokenizer: str, split: Split | None, sentence_filter: SentenceFilter | None) -> int:
    """Return the tokens of a split without sentences that fail the filter.

    The words of a blocklist are not considered.
    """
    documents, sums = corpus.documents_of(split), corpus.counts(tokenizer)
    first, last = corpus.firsts[documents], corpus.firsts[documents + 1]
    total = int((sums[last] - sums[first]).sum())
    return total - (_cost(corpus, tokenizer, split, failing(corpus, sentence_filter)) if sentence_filter else 0)


def _cost(corpus: Corpus, tokenizer: str, split: Split | None, sentences: Numbers) -> int:
    """Return the tokens of those of several sentences that belong to a split."""
    sums = corpus.counts(tokenizer)
    if split:
        documents = np.searchsorted(corpus.firsts, sentences, "right") - 1
        sentences = sentences[contains(documents, corpus.documents_of(split))]
    return int((sums[sentences + np.uint64(1)] - sums[sentences]).sum())


def too_small_error(reading: CorpusStream, requested: int) -> ExhaustedError:
    corpus, split, blocklist = reading.corpus, reading.split, reading.blocklist
    whose = f" of the {split} split" if split else ""
    out = [f"{len(blocklist.words)} blocked words"] if blocklist and blocklist.words else []
    out += [f"what is not {blocklist.sentence_filter.name}"] if blocklist and blocklist.sentence_filter else []
    wanted = f"{requested:,} were asked for" if requested else "that is nothing to read"
    more = split and available(corpus, reading.tokenizer, None, blocklist) > reading.available
    remedies = ["read the documents of all splits (background=all)"] if more else []
    remedies += ["let it repeat (repeat=true)"] if reading.available else []
    return ExhaustedError(
        f"the corpus {corpus.name} has {reading.available:,} tokens{whose}{' without ' if out else ''}"
        f"{' and '.join(out)} by {reading.tokenizer}, and {wanted}: {', '.join((*remedies, 'add text to it'))} "
        "or take another"
    )


def _shuffle(rng: Rng, n: int) -> Iterator[int]:
    """Yield 0 … n-1 in random order, drawn one at a time.

    Wikipedia has six million documents, and an item needs a few.
    """
    moved: dict[int, int] = {}
    for i in range(n):
        j = rng.between(i, n - 1)
        number = moved.pop(i, i)
        if i == j:
            yield number
        else:
            yield moved.get(j, j)
            moved[j] = number
