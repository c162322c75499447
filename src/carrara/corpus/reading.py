"""Reading a corpus aloud: sentences in natural order from a keyed random start, as filler for the weaver.

A document is drawn, then a sentence in it (as BABILong does with books); reading goes on from there to the document's
end, then through other documents in a drawn order, and at last through what stood before the start. So no sentence is
read twice, all can be, and nothing wraps around in silence: who wants a text to repeat says so.
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from carrara.corpus.screen import Screen
from carrara.corpus.store import Corpus
from carrara.errors import UsageError
from carrara.keys import Dice, Split
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
        self._turn(1)
        return self._read(self._at + 1)

    def upto(self, tokens: int) -> Unit:
        """The next sentences that cost at most so many tokens together, as one piece.

        There may be fewer than would fit, because a document ends or a screened sentence follows: ask again for the
        rest. Nothing is given only when the next sentence does not fit. Raises where too little text is left.
        """
        if tokens <= 0:
            return ()
        self._turn(tokens)
        end = self.corpus.run(self._at, min(tokens, CHUNK), self.tokenizer, self._stop)
        if end == self._at and int(self._sums[end + 1] - self._sums[end]) <= tokens:
            end += 1  # a sentence longer than a chunk
        return self._read(end) if end > self._at else ()

    def _read(self, end: int) -> Unit:
        start, self._at = self._at, end
        cost = int(self._sums[end] - self._sums[start])
        self.used += cost
        return (Piece(self.corpus.text(start, end), tokens=cost),)

    def _turn(self, tokens: int) -> None:
        """Go on to the next stretch where this one has ended."""
        if not self.repeat and self.used + tokens > self.available:
            raise too_small(self, self.used + tokens)
        if self._at == self._stop:
            self._at, self._stop = next(self._stretches)

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


@lru_cache(maxsize=256)
def available(corpus: Corpus, tokenizer: str, split: Split | None, screen: Screen | None) -> int:
    """Tokens that a split may read of a corpus, without what a screen keeps out."""
    documents, sums = corpus.documents_of(split), corpus.counts(tokenizer)
    first, last = corpus.firsts[documents], corpus.firsts[documents + 1]
    total = int((sums[last] - sums[first]).sum())
    if screen:
        blocked = screen.blocked
        before = np.concatenate([np.zeros(1, np.uint64), np.cumsum(sums[blocked + np.uint64(1)] - sums[blocked])])
        kept_out = before[np.searchsorted(blocked, last)] - before[np.searchsorted(blocked, first)]
        total -= int(kept_out.sum())
    return total


def too_small(reading: Reading, asked: int) -> UsageError:
    corpus, split = reading.corpus, reading.split
    whose = f" of the {split} split" if split else ""
    screen = f" without {len(reading.screen.words)} screened words" if reading.screen else ""
    wanted = f"{asked:,} were asked for" if asked else "that is nothing to read"
    more = "use the documents of all splits, " if split else ""
    return UsageError(
        f"the corpus {corpus.name} has {reading.available:,} tokens{whose}{screen} by {reading.tokenizer}, "
        f"and {wanted}: add text to it, {more}or let it repeat"
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
