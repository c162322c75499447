"""Screens: the sentences that say any of some words, to be skipped.

A word is found whole and in either case: `mary` in `_Mary’s_` and `MARY`, not in `Maryland`. One pass over the text
finds them, and what it found is kept beside the text for the next time.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from carrara.corpus.cache import whole_file
from carrara.corpus.index import U64
from carrara.corpus.sentences import says_something
from carrara.corpus.store import Corpus
from carrara.errors import UsageError


@dataclass(frozen=True, eq=False)
class Screen:
    """What to skip in one corpus."""

    words: tuple[str, ...]
    blocked: npt.NDArray[np.uint64]
    """The numbers of the sentences with any of the words, ascending."""

    def stretches(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """What is left of the sentences start … stop-1: runs without any of the words."""
        first, last = np.searchsorted(self.blocked, np.array([start, stop], U64))
        for blocked in self.blocked[first:last].tolist():
            if start < blocked:
                yield start, blocked
            start = blocked + 1
        if start < stop:
            yield start, stop


def screened(corpus: Corpus, words: Iterable[str]) -> Screen:
    """The screen that keeps out all sentences of a corpus that say one of the words (or phrases)."""
    wanted = tuple(sorted({" ".join(word.lower().split()) for word in words}))
    if not wanted or not all(map(says_something, wanted)):
        raise UsageError(f"cannot screen for {', '.join(map(repr, wanted)) or 'no words'}: give words to be kept out")
    return _screen(corpus, wanted)


@lru_cache(maxsize=64)
def _screen(corpus: Corpus, words: tuple[str, ...]) -> Screen:
    mark = blake2b("\n".join(words).encode(), digest_size=8).hexdigest()
    path = corpus.folder / "screens" / f"{mark}.u64"
    if not path.exists():
        with whole_file(path) as file:
            for numbers in _found(corpus, words):
                file.write(numbers.astype(U64).tobytes())
    return Screen(words, np.fromfile(path, U64))


def _found(corpus: Corpus, words: Iterable[str]) -> Iterator[npt.NDArray[np.intp]]:
    # Not \b: Project Gutenberg's italics, _Mary_, have no word boundary.
    pattern = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, words))})(?![^\W_])", re.IGNORECASE)
    for i, j in corpus.blocks():
        text = corpus.text(i, j)
        at = [match.start() for match in pattern.finditer(text)]
        places = np.array(at if text.isascii() else _bytes_before(text, at), U64) + corpus.starts[i]
        yield np.unique(np.searchsorted(corpus.starts, places, "right")) - 1


def _bytes_before(text: str, places: Iterable[int]) -> list[int]:
    """The places in the text's UTF-8."""
    found, last, size = [], 0, 0
    for place in places:
        size += len(text[last:place].encode())
        last = place
        found.append(size)
    return found
