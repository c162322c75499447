"""An indexed corpus: its text by sentence numbers, and the token cost of each stretch.

    corpus = open("novels")
    j = corpus.run(1000, 4096, "gpt2")        # the sentences 1000 … j-1 cost at most 4,096 tokens
    corpus.text(1000, j)                      # one slice of the file

Numbers are memory-mapped and text is read on access, so a corpus of any size needs little memory, and processes share
it. The costs of the sentences by a tokenizer are stored beside the text, as prefix sums.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy as np
import numpy.typing as npt

from carrara import tokenizers
from carrara.corpora.index import U64, About, LeftOut
from carrara.rng import SPLITS, Split
from carrara.tokenizers.base import Tokenizer
from carrara.types import Language
from carrara.util.cache import cache_file

Numbers = npt.NDArray[np.uint64]
Bytes = bytes  # `Corpus.bytes` is a number
_MOST_READ = 1 << 30
_BLOCK = 1 << 20
_NEAR = 1 << 12
"""The bytes between two runs that are read along with them, which is faster than two reads."""


def map_numbers(path: Path) -> Numbers:
    """Return a file of numbers as a memory-mapped array."""
    return np.asarray(np.memmap(path, U64, "r"))


def indices(starts: npt.NDArray[np.integer[Any]], stops: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.intp]:
    """Return the numbers of several ranges, one after the other.

    >>> indices(np.array([5, 1]), np.array([7, 4])).tolist()
    [5, 6, 1, 2, 3]
    """
    sizes = stops.astype(np.intp) - starts.astype(np.intp)
    return np.arange(sizes.sum()) + np.repeat(stops.astype(np.intp) - np.cumsum(sizes), sizes)


@dataclass(frozen=True)
class Corpus:
    """Sentences in their natural order. Numbers of sentences and documents begin with 0; ends are excluded."""

    name: str
    """The name by which it was opened: a name, a path or a hash."""
    folder: Path
    about: About
    left_out: LeftOut
    language: Language = "en"
    """The language that was named when the text was added."""

    @property
    def hash(self) -> str:
        return self.about.hash

    @property
    def sentences(self) -> int:
        return self.about.sentences

    @property
    def documents(self) -> int:
        return self.about.documents

    @property
    def bytes(self) -> int:
        return self.about.bytes

    def tokens(self, tokenizer: str) -> int:
        """Return the tokens of all sentences together, joined by single spaces."""
        return int(self.counts(tokenizer)[-1])

    def text(self, i: int, j: int) -> str:
        """Return the sentences i … j-1, joined by single spaces."""
        return self.raw(i, j).decode()

    def each(self, i: int, j: int) -> list[str]:
        """Return the same sentences one by one."""
        raw, starts = self.raw(i, j), (self.starts[i : j + 1] - self.starts[i]).tolist()
        return [raw[a : b - 1].decode() for a, b in pairwise(starts)]

    def join(self, runs: Sequence[tuple[int, int]]) -> str:
        """Return several runs of sentences, joined by single spaces too."""
        if len(runs) == 1:
            return self.text(*runs[0])
        reads: list[list[tuple[int, int]]] = []
        for start, end in self.starts[np.array(runs, np.intp)].tolist():
            if reads and 0 <= start - reads[-1][-1][1] <= _NEAR:
                reads[-1].append((start, end - 1))
            else:
                reads.append([(start, end - 1)])
        texts: list[memoryview] = []
        for read in reads:
            first = read[0][0]
            raw = memoryview(os.pread(self._file, read[-1][1] - first, first))
            texts += [raw[start - first : end - first] for start, end in read]
        return b" ".join(texts).decode()

    def raw(self, i: int, j: int) -> "Bytes":
        """Return the UTF-8 of several runs."""
        if not 0 <= i <= j <= self.sentences:
            raise IndexError(f"no sentences {i} … {j} in {self.name}, which has {self.sentences}")
        start, end = int(self.starts[i]), int(self.starts[j]) - 1
        blocks = []
        while start < end:  # the system reads no more than 2 GiB at once
            blocks.append(os.pread(self._file, min(end - start, _MOST_READ), start))
            start += len(blocks[-1])
        return b"".join(blocks)

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Yield the sentences in stretches of about a megabyte, for passes over the whole corpus."""
        i = 0
        while i < self.sentences:
            reach = self.starts[i] + np.uint64(_BLOCK)
            j = max(i + 1, int(np.searchsorted(self.starts, reach, "right")) - 1)
            yield i, j
            i = j

    def counts(self, tokenizer: str) -> Numbers:
        """Return the tokens of all sentences before each one, and, last, those of all. They are counted only once."""
        if tokenizer not in self._counts:
            self._counts[tokenizer] = load_counts(self, tokenizers.get(tokenizer))
        return self._counts[tokenizer]

    def run(self, i: int, tokens: int, tokenizer: str, stop: int | None = None) -> int:
        """Return the largest j up to `stop` for which the sentences i … j-1 have at most this many tokens."""
        sums = self.counts(tokenizer)
        limit = np.uint64(int(sums[i]) + max(0, tokens))
        j = int(np.searchsorted(sums, limit, "right")) - 1
        return min(j, self.sentences if stop is None else stop)

    def document(self, d: int) -> tuple[int, int]:
        """Return the first sentence of a document and the first of the next."""
        return int(self.firsts[d]), int(self.firsts[d + 1])

    def documents_of(self, split: Split | None) -> npt.NDArray[np.intp]:
        """Return the documents that a split owns, by their text. None: all of them."""
        if split not in self._owned:
            owners = np.fromfile(self.folder / "owners.u8", np.uint8)
            self._owned[split] = np.flatnonzero(owners == SPLITS.index(split)) if split else np.arange(len(owners))
        return self._owned[split]

    @cached_property
    def starts(self) -> Numbers:
        """The byte at which each sentence begins, and, last, the end of the text."""
        return map_numbers(self.folder / "sentences.u64")

    @cached_property
    def firsts(self) -> Numbers:
        """The sentence with which each document begins, and, last, the number of sentences."""
        return map_numbers(self.folder / "documents.u64")

    @cached_property
    def _owned(self) -> dict[Split | None, npt.NDArray[np.intp]]:
        return {}

    @cached_property
    def _counts(self) -> dict[str, Numbers]:
        return {}

    @cached_property
    def _file(self) -> int:
        # Read at given positions, not mapped: mapped pages would count as this process's memory.
        file = os.open(self.folder / "text.txt", os.O_RDONLY)
        finalize(self, os.close, file)
        return file


# --- what each sentence costs by a tokenizer ---

# A sentence's cost is the number of tokens that it adds after another one, single space included. For byte-level BPE
# that is the count of the sentence with a space before it; for SentencePiece, which adds that space itself, of the
# sentence alone. A sample shows which of the two is right, by the definition. If neither is, the definition is used
# throughout.

LEAD = "A."
"""A sentence that stands for those before and after another."""
_SAMPLE = 256
_GUARD = 16
"""The number of sentences that are counted again when sums are loaded, because a file or server may have changed."""

Costs = Callable[[Tokenizer, Sequence[str]], list[int]]


def by_definition(tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    around = tokenizer.count(f"{LEAD} {LEAD}")
    return [count - around for count in tokenizer.count_many([f"{LEAD} {text} {LEAD}" for text in texts])]


def behind_a_space(tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    return tokenizer.count_many([f" {text}" for text in texts])


def count_each(tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    return tokenizer.count_many(texts)


def load_counts(corpus: Corpus, tokenizer: Tokenizer) -> Numbers:
    """Return prefix sums of the costs, one more than there are sentences, from the cache or counted now."""
    path = counts_file(corpus.folder, tokenizer.name)
    if not path.exists() or not _counts_match(corpus, tokenizer, map_numbers(path)):
        _count(corpus, tokenizer, path)
    return map_numbers(path)


def counted_by(folder: Path) -> list[str]:
    """Return the tokenizers that a corpus has been counted with."""
    files = sorted((folder / "counts").glob("*.json"))
    return [json.loads(path.read_text("utf-8"))["tokenizer"] for path in files]


def counts_file(folder: Path, tokenizer: str) -> Path:
    plain = re.sub(r"[^\w.-]+", "-", tokenizer, flags=re.ASCII)[-40:]
    return folder / "counts" / f"{plain}-{blake2b(tokenizer.encode(), digest_size=4).hexdigest()}.u64"


def _sample(corpus: Corpus, size: int) -> list[int]:
    return sorted({k * corpus.sentences // size for k in range(size)})


def _counts_match(corpus: Corpus, tokenizer: Tokenizer, sums: Numbers) -> bool:
    if len(sums) != corpus.sentences + 1:
        return False
    sample = _sample(corpus, _GUARD)
    stored = [int(sums[i + 1] - sums[i]) for i in sample]
    return stored == by_definition(tokenizer, [corpus.text(i, i + 1) for i in sample])


def _count(corpus: Corpus, tokenizer: Tokenizer, path: Path) -> None:
    costs = _way(corpus, tokenizer)
    total = 0
    with cache_file(path) as file:
        file.write(bytes(8))
        for i, j in corpus.blocks():
            raw, starts = corpus.raw(i, j), (corpus.starts[i : j + 1] - corpus.starts[i]).tolist()
            texts = [raw[a : b - 1].decode() for a, b in pairwise(starts)]
            each = np.array(costs(tokenizer, texts), U64)
            file.write((np.cumsum(each) + np.uint64(total)).astype(U64).tobytes())
            total += int(each.sum())
        with cache_file(path.with_suffix(".json")) as about:
            about.write(json.dumps({"tokenizer": tokenizer.name, "tokens": total}).encode())


def _way(corpus: Corpus, tokenizer: Tokenizer) -> Costs:
    """Return the fastest way of counting that is right on a sample."""
    texts = [corpus.text(i, i + 1) for i in _sample(corpus, _SAMPLE)]
    right = by_definition(tokenizer, texts)
    return next((way for way in (behind_a_space, count_each) if way(tokenizer, texts) == right), by_definition)
