"""What each sentence of a corpus costs by one tokenizer, as sums that are kept beside the text.

A sentence's cost is what it adds behind another one, single space included. For byte-level BPE that is the count of the
sentence with a space before it; for SentencePiece, which puts that space itself, of the sentence alone. Which of the
two is found out on a sample, by the definition, and where neither is right the definition is used throughout.
"""

import json
import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from carrara.core.disk_cache import whole_file
from carrara.text.corpus.index import U64
from carrara.tokens.base import Tokenizer

if TYPE_CHECKING:
    from carrara.text.corpus.store import Corpus

LEAD = "A."
"""A sentence such as stands before and after another."""
_SAMPLE = 256
_GUARD = 16
"""Sentences that are counted again when sums are loaded: a file or server of the same name may be another by now."""

Sums = npt.NDArray[np.uint64]
Costs = Callable[[Tokenizer, Sequence[str]], list[int]]


def by_definition(tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    around = tokenizer.count(f"{LEAD} {LEAD}")
    return [count - around for count in tokenizer.count_many([f"{LEAD} {text} {LEAD}" for text in texts])]


def behind_a_space(tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    return tokenizer.count_many([f" {text}" for text in texts])


def alone(tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    return tokenizer.count_many(texts)


def load_counts(corpus: "Corpus", tokenizer: Tokenizer) -> Sums:
    """Prefix sums of the costs, one more than there are sentences: as they were kept, or counted now and kept."""
    path = counts_file(corpus.folder, tokenizer.name)
    if not path.exists() or not _right(corpus, tokenizer, _kept(path)):
        _count(corpus, tokenizer, path)
    return _kept(path)


def counted_by(folder: Path) -> list[str]:
    """The tokenizers that a corpus has been counted by."""
    kept = sorted((folder / "counts").glob("*.json"))
    return [json.loads(path.read_text("utf-8"))["tokenizer"] for path in kept]


def counts_file(folder: Path, tokenizer: str) -> Path:
    plain = re.sub(r"[^\w.-]+", "-", tokenizer, flags=re.ASCII)[-40:]
    return folder / "counts" / f"{plain}-{blake2b(tokenizer.encode(), digest_size=4).hexdigest()}.u64"


def _kept(path: Path) -> Sums:
    return np.asarray(np.memmap(path, U64, "r"))


def _sample(corpus: "Corpus", size: int) -> list[int]:
    return sorted({k * corpus.sentences // size for k in range(size)})


def _right(corpus: "Corpus", tokenizer: Tokenizer, sums: Sums) -> bool:
    if len(sums) != corpus.sentences + 1:
        return False
    sample = _sample(corpus, _GUARD)
    kept = [int(sums[i + 1] - sums[i]) for i in sample]
    return kept == by_definition(tokenizer, [corpus.text(i, i + 1) for i in sample])


def _count(corpus: "Corpus", tokenizer: Tokenizer, path: Path) -> None:
    costs = _way(corpus, tokenizer)
    total = 0
    with whole_file(path) as file:
        file.write(bytes(8))
        for i, j in corpus.blocks():
            raw, starts = corpus.raw(i, j), (corpus.starts[i : j + 1] - corpus.starts[i]).tolist()
            texts = [raw[a : b - 1].decode() for a, b in pairwise(starts)]
            each = np.array(costs(tokenizer, texts), U64)
            file.write((np.cumsum(each) + np.uint64(total)).astype(U64).tobytes())
            total += int(each.sum())
        with whole_file(path.with_suffix(".json")) as about:
            about.write(json.dumps({"tokenizer": tokenizer.name, "tokens": total}).encode())


def _way(corpus: "Corpus", tokenizer: Tokenizer) -> Costs:
    """The quickest way to count that is right on a sample."""
    texts = [corpus.text(i, i + 1) for i in _sample(corpus, _SAMPLE)]
    right = by_definition(tokenizer, texts)
    return next((way for way in (behind_a_space, alone) if way(tokenizer, texts) == right), by_definition)
