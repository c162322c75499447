"""Reading a corpus aloud: sentences in natural order from a keyed random start, as filler for the weaver.

A document is drawn, then a sentence in it (as BABILong does with books); reading goes on from there to the document's
end, then through other documents in a drawn order, and at last through what stood before the start. So no sentence is
read twice, all can be, and nothing wraps around in silence: who wants a text to repeat says so.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import tee

import numpy as np

from carrara.corpus.screen import Screen, sieved, within
from carrara.corpus.store import Corpus, Numbers
from carrara.errors import Dry
from carrara.keys import Dice, Split
from carrara.sieve import Sieve
from carrara.types import Piece, Unit

CHUNK = 1 << 14
"""Tokens of the longest piece, some 70 kB: it stays in the processor's cache, and 50M tokens are never one string."""


class Reading:
    """A `Tap`: each call gives the next sentence. `upto` gives as many as fit at once, in one slice of the text."""

    def __init__(
        self, corpus: Corpus, dice: Dice, tokenizer: str, split: Split | None, screen: Screen | None, repeat: bool
    ) -> None:
        self.corpus, self.tokenizer = corpus, tokenizer
        self.split, self.screen, self.repeat = split, screen, repeat
        self.available = available(corpus, tokenizer, split, screen)
        """Tokens that there are to read once."""
        self.used = 0
        self._sums = corpus.counts(tokenizer)
        self._stretches = self._legs(dice)
        self._at = self._stop = 0

    def __call__(self, gap: int = 0) -> Unit:
        """The next sentence."""
        self._must_have(1)
        self._turn()
        self._at += 1
        return self._piece([(self._at - 1, self._at)])

    def upto(self, tokens: int) -> Unit:
        """The next sentences that cost at most so many tokens together, as one piece no longer than a chunk.

        Nothing is given only when the next sentence does not fit. Raises where too little text is left.
        """
        if tokens <= 0:
            return ()
        self._must_have(tokens)
        runs: list[tuple[int, int]] = []
        left = min(tokens, CHUNK)
        while left > 0:
            self._turn()
            start, end = self._at, self._stop
            cost = int(self._sums[end]) - int(self._sums[start])
            if cost > left:  # not so of most stretches between screened sentences
                end = self.corpus.run(start, left, self.tokenizer, end)
                if end == start and not runs and int(self._sums[end + 1] - self._sums[end]) <= tokens:
                    end += 1  # a sentence longer than a chunk
                if end == start:
                    break
                cost = int(self._sums[end]) - int(self._sums[start])
            runs.append((start, end))
            self._at = end
            left -= cost
        return self._piece(runs) if runs else ()

    def gaps(self, tokens: int) -> Numbers:
        """The tokens that are read before each gap between sentences, of the next so many: ascending from 0.

        Looks ahead: what is read afterwards is the same.
        """
        self._must_have(tokens)
        ahead, self._stretches = tee(self._stretches)
        legs = [(self._at, self._stop)]
        left = tokens - int(self._sums[self._stop] - self._sums[self._at])
        while left > 0 and (leg := next(ahead, None)):
            legs.append(leg)
            left -= int(self._sums[leg[1]] - self._sums[leg[0]])
        starts, stops = np.array(legs, np.int64).T
        sizes = stops - starts
        sentences = np.arange(sizes.sum()) + np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
        found = np.concatenate([np.zeros(1, np.uint64), np.cumsum(self._sums[sentences + 1] - self._sums[sentences])])
        return found[: np.searchsorted(found, np.uint64(tokens), "right")]

    def _piece(self, runs: Sequence[tuple[int, int]]) -> Unit:
        cost = sum(int(self._sums[end]) - int(self._sums[start]) for start, end in runs)
        self.used += cost
        return (Piece(self.corpus.joined(runs), tokens=cost),)

    def _turn(self) -> None:
        """Go on to the next stretch where this one has ended."""
        if self._at == self._stop:
            self._at, self._stop = next(self._stretches)

    def _must_have(self, tokens: int) -> None:
        if not self.repeat and self.used + tokens > self.available:
            raise too_small(self, self.used + tokens)

    def _legs(self, dice: Dice) -> Iterator[tuple[int, int]]:
        """What to read, in order: runs of sentences within one document, without screened ones."""
        documents = self.corpus.documents_of(self.split)
        while True:
            order = _drawn(dice, len(documents))
            first, last = self.corpus.document(int(documents[next(order)]))
            start = first + dice.below(last - first)
            yield from self._unscreened(start, last)
            for number in order:
                yield from self._unscreened(*self.corpus.document(int(documents[number])))
            yield from self._unscreened(first, start)

    def _unscreened(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        if self.screen:
            yield from self.screen.stretches(start, stop)
        elif start < stop:
            yield start, stop


def reading(
    corpus: Corpus,
    dice: Dice,
    tokenizer: str,
    *,
    split: Split | None = None,
    screen: Screen | None = None,
    repeat: bool = False,
    room: int = 0,
) -> Reading:
    """Open a corpus to read from.

    With a split, only from the documents that it owns. With a room it is told at once whether there is as much text.
    """
    opened = Reading(corpus, dice, tokenizer, split, screen, repeat)
    if opened.available == 0 or (room > opened.available and not repeat):
        raise too_small(opened, room)
    return opened


def available(corpus: Corpus, tokenizer: str, split: Split | None, screen: Screen | None) -> int:
    """Tokens that a split may read of a corpus, without what a screen keeps out."""
    if screen is None:
        return _passed(corpus, tokenizer, split, None)
    return _passed(corpus, tokenizer, split, screen.sieve) - _cost(corpus, tokenizer, split, screen.named)


@lru_cache(maxsize=256)
def _passed(corpus: Corpus, tokenizer: str, split: Split | None, sieve: Sieve | None) -> int:
    """Kept apart from the words of a screen, of which each item may have others: these are few sentences."""
    documents, sums = corpus.documents_of(split), corpus.counts(tokenizer)
    first, last = corpus.firsts[documents], corpus.firsts[documents + 1]
    total = int((sums[last] - sums[first]).sum())
    return total - (_cost(corpus, tokenizer, split, sieved(corpus, sieve)) if sieve else 0)


def _cost(corpus: Corpus, tokenizer: str, split: Split | None, sentences: Numbers) -> int:
    """Tokens of those of some sentences that are a split's."""
    sums = corpus.counts(tokenizer)
    if split:
        documents = np.searchsorted(corpus.firsts, sentences, "right") - 1
        sentences = sentences[within(documents, corpus.documents_of(split))]
    return int((sums[sentences + np.uint64(1)] - sums[sentences]).sum())


def too_small(reading: Reading, asked: int) -> Dry:
    corpus, split, screen = reading.corpus, reading.split, reading.screen
    whose = f" of the {split} split" if split else ""
    out = [f"{len(screen.words)} screened words"] if screen and screen.words else []
    out += [f"what is not {screen.sieve.name}"] if screen and screen.sieve else []
    wanted = f"{asked:,} were asked for" if asked else "that is nothing to read"
    mends = ["read the documents of all splits (-p background=all)"] if split else []
    mends += ["let it repeat (-p repeat=true)"] if reading.available else []
    return Dry(
        f"the corpus {corpus.name} has {reading.available:,} tokens{whose}{' without ' if out else ''}"
        f"{' and '.join(out)} by {reading.tokenizer}, and {wanted}: {', '.join((*mends, 'add text to it'))} "
        "or take another"
    )


def _drawn(dice: Dice, n: int) -> Iterator[int]:
    """0 … n-1 in random order, drawn one at a time: Wikipedia has six million documents, an item needs a few."""
    moved: dict[int, int] = {}
    for i in range(n):
        j = dice.between(i, n - 1)
        here = moved.pop(i, i)
        if i == j:
            yield here
        else:
            yield moved.get(j, j)
            moved[j] = here
